# SPDX-License-Identifier: Apache-2.0
"""The simulated NPU in other people's test suites: a pytest plugin, registered with the package.

``npu`` is an open device. On the simulated NPU, whatever a test leaves behind on it fails the test,
and so does every broken rule of CANN's contract in any test at all.

    def test_norm(npu):
        x = pyaclnn.to_device(np.ones((2, 8), np.float32), npu)
        y = pyaclnn.rms_norm(x, x[0]).y
        npu.synchronize()
        assert np.allclose(y.numpy(), 1, atol=1e-3)

Every pytest of an environment in which pyaclnn is installed loads this module, so it imports
nothing that a suite without an NPU would not have anyway, and no test of such a suite gets a
fixture from it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from pyaclnn.runtime.device import Device

__all__ = [
    "npu",
    "npu_faults",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
]

_MARKER = "pyaclnn"
_PASSED = pytest.StashKey[bool]()
_BROKEN_BEFORE = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--npu-backend``."""
    parser.getgroup("pyaclnn").addoption(
        "--npu-backend",
        default="mock",
        metavar="BACKEND",
        help="what the fixture 'npu' opens: 'mock' (the default), 'cann', or a folder of libraries",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker ``pyaclnn``."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(soc=..., mode=..., contract=True): the chip that the fixture 'npu' stands for, "
        "e.g. 'Ascend310P3'; when its work runs: 'deferred', 'eager' or 'shuffled:SEED'; and "
        "whether the test fails if it breaks a rule of CANN's contract",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a mistyped marker, and note which rules were broken before the test."""
    markers = [*item.iter_markers(_MARKER)]
    contract = True
    if markers:
        from pyaclnn.pytest_plugin.marker_options import wish_of  # noqa: PLC0415

        contract = wish_of(markers).contract
    if contract:
        item.stash[_BROKEN_BEFORE] = _broken_rules() if _simulating() else 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember which tests passed: what others hold is no leak of theirs."""
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = report.passed
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Fail a test in which a rule of CANN's contract was broken on the simulated NPU.

    The marker ``pyaclnn(contract=False)`` is for tests that break one on purpose.
    """
    yield
    before = item.stash.get(_BROKEN_BEFORE, None)
    if before is None or not _simulating() or _broken_rules() == before:
        return
    from pyaclnn import mock  # noqa: PLC0415

    broken = mock.violations()[before:]
    if broken:
        text = "\n\n".join(map(str, broken))
        pytest.fail(f"CANN's contract was broken {len(broken)} times:\n\n{text}", pytrace=False)


@pytest.fixture
def npu(request: pytest.FixtureRequest) -> Iterator[Device]:
    """Device 0, open for the length of the test.

    The marker ``pyaclnn`` chooses chip and mode of the simulated NPU. When the test is over the
    device is closed, and on the simulated NPU nothing of the test may be alive any more.
    """
    from pyaclnn.pytest_plugin.marker_options import wish_of  # noqa: PLC0415
    from pyaclnn.pytest_plugin.occupancy import opened  # noqa: PLC0415

    node: pytest.Item = request.node
    wish = wish_of(node.iter_markers(_MARKER))
    backend = request.config.getoption("--npu-backend")
    with opened(backend, wish, lambda: node.stash.get(_PASSED, False)) as device:
        yield device


@pytest.fixture
def npu_faults(npu: Device, request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Sets faults of the simulated NPU; they are gone when the test is over.

    The grammar is that of :func:`pyaclnn.mock.faults`, e.g. ``npu_faults("aclrtMalloc:2=207001")``.
    A fault that never came about is an error at the end of a test that passed. Afterwards the
    faults of PYACLNN_MOCK_FAULTS are in force again.
    """
    from pyaclnn.pytest_plugin.fault_injection import Infliction  # noqa: PLC0415

    if npu.closed or not _simulating():
        pytest.fail("npu_faults needs the simulated NPU (--npu-backend=mock)", pytrace=False)
    infliction = Infliction()
    yield infliction.replace
    infliction.end()
    if request.node.stash.get(_PASSED, False):
        infliction.require_effects()


def _simulating() -> bool:
    """Whether a simulated NPU is in this process; asked twice a test, so asked cheaply."""
    if "ctypes" in sys.modules:
        from pyaclnn.mock.tools import loaded  # noqa: PLC0415

        return bool(loaded())
    # Without ctypes a library comes with a module that was compiled against it.
    if len(sys.modules) != _Look.modules:
        _Look.modules = len(sys.modules)
        _Look.found = b"/libascendcl.so" in Path("/proc/self/maps").read_bytes()
    return _Look.found


class _Look:
    """What the last look at the libraries of this process saw, and how many modules there were."""

    modules = 0
    found = False


def _broken_rules() -> int:
    from pyaclnn.mock.report import violation_count  # noqa: PLC0415

    return violation_count()
