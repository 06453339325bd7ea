# SPDX-License-Identifier: Apache-2.0
"""The simulated NPU in other people's test suites: a pytest plugin, registered with the package.

``npu`` is an open device. On the simulated NPU, whatever a test leaves behind on it fails the test,
and so does every broken rule of CANN's contract in any test at all.

    def test_norm(npu):
        x = pyaclnn.to_device(np.ones((2, 8), np.float32), npu)
        y = pyaclnn.rms_norm(x, x[0]).y
        npu.synchronize()
        assert np.allclose(y.numpy(), 1, atol=1e-3)
"""

from __future__ import annotations

import gc
import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn import mock
from pyaclnn.mock.tools import loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from pyaclnn.runtime.device import Device

__all__ = [
    "npu",
    "npu_contract",
    "npu_faults",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_makereport",
]

_SOC = "PYACLNN_MOCK_SOC"
_FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--npu-backend``."""
    parser.getgroup("pyaclnn").addoption(
        "--npu-backend",
        default="mock",
        metavar="BACKEND",
        help="what the fixture 'npu' opens: 'mock' (the default), 'cann', or a folder of libraries",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker ``npu``."""
    config.addinivalue_line(
        "markers",
        "npu(soc=..., mode=..., contract=True): the chip that the simulated NPU stands for, e.g. "
        "'Ascend310P3'; when its work runs: 'deferred', 'eager' or 'shuffled:SEED'; and whether "
        "the test fails if it breaks a rule of CANN's contract",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember which tests failed: what they hold is no leak of theirs."""
    report = yield
    if call.when == "call" and report.failed:
        item.stash[_FAILED] = True
    return report


def _wanted(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return what the markers ``npu`` of a test, its class and its module ask for."""
    wanted: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers("npu"))):
        if marker.args or set(marker.kwargs) - {"soc", "mode", "contract"}:
            pytest.fail(
                f"the marker npu takes soc=, mode= and contract=, not "
                f"{marker.args or marker.kwargs}",
                pytrace=False,
            )
        wanted.update(marker.kwargs)
    return wanted


@pytest.fixture
def npu(request: pytest.FixtureRequest) -> Iterator[Device]:
    """Device 0, open for the length of the test.

    The marker ``npu`` chooses chip and mode of the simulated NPU. When the test is over the device
    is closed, and on the simulated NPU nothing of the test may be alive any more.
    """
    from pyaclnn.cann.library import select_backend  # noqa: PLC0415
    from pyaclnn.runtime.device import Device  # noqa: PLC0415  # importing it loads NumPy

    backend = select_backend(request.config.getoption("--npu-backend"))
    wanted = _wanted(request)
    if backend.name != "mock":
        with Device(0) as device:
            yield device
        return
    before = {living.handle for living in mock.alive()}
    previous_soc = os.environ.get(_SOC)
    if "soc" in wanted:
        os.environ[_SOC] = wanted["soc"]
    try:
        with mock.mode(wanted["mode"]) if "mode" in wanted else nullcontext(), Device(0) as device:
            yield device
    finally:
        if previous_soc is None:
            os.environ.pop(_SOC, None)
        else:
            os.environ[_SOC] = previous_soc
    if request.node.stash.get(_FAILED, False):
        return  # its traceback keeps its arrays alive
    gc.collect()
    left = [living for living in mock.alive() if living.handle not in before]
    if left:
        lines = "\n".join(f"  {living}" for living in left)
        pytest.fail(f"the test left this on the NPU ({len(left)}):\n{lines}", pytrace=False)


@pytest.fixture
def npu_faults(npu: Device) -> Iterator[Callable[[str], None]]:
    """Sets faults of the simulated NPU; they are gone when the test is over.

    The grammar is that of :func:`pyaclnn.mock.faults`, e.g. ``npu_faults("aclrtMalloc:2=207001")``.
    Afterwards those of PYACLNN_MOCK_FAULTS are in force again.
    """
    if npu.closed or not loaded():
        pytest.fail("npu_faults needs the simulated NPU (--npu-backend=mock)", pytrace=False)
    yield mock.set_faults
    mock.set_faults(os.environ.get("PYACLNN_MOCK_FAULTS", ""))


@pytest.fixture(autouse=True)
def npu_contract(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which a rule of CANN's contract was broken on the simulated NPU.

    The marker ``npu(contract=False)`` is for tests that break one on purpose.
    """
    if not _wanted(request).get("contract", True):
        yield
        return
    before = len(mock.violations())
    yield
    broken = mock.violations()[before:]
    if broken:
        text = "\n\n".join(map(str, broken))
        pytest.fail(f"CANN's contract was broken {len(broken)} times:\n\n{text}", pytrace=False)
