# SPDX-License-Identifier: Apache-2.0
"""pytest plugin of the simulated NPU, registered with the package.

The fixture ``npu`` is an open device. On the simulated NPU, a test fails if it leaks device
resources, and any test fails that breaks a rule of CANN's contract.

    def test_norm(npu):
        x = pyaclnn.to_device(np.ones((2, 8), np.float32), npu)
        y = pyaclnn.rms_norm(x, x[0]).y
        npu.synchronize()
        assert np.allclose(y.numpy(), 1, atol=1e-3)

Every pytest of an environment with pyaclnn loads this module. Therefore it imports nothing that a
suite without an NPU does not import anyway, and adds no fixture to the tests of such a suite.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import TracebackType

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

FORK_SERVER = "PYACLNN_MOCK_FORK_SERVER"
"""The process in whose lifetime device processes begin as forks."""

_MARKER = "pyaclnn"
_OWN_FILES = (f"{Path(__file__).parents[1]}/", "<pyaclnn.")
"""Prefixes of the file names of this package, of generated functions too."""
_PASSED = pytest.StashKey[bool]()
_OPENED = pytest.StashKey[bool]()
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
    """Register the marker ``pyaclnn``, and load the backend if it is not the default.

    Simulated NPUs of the tests, and of programs that they start, begin as forks from now on.

    Raises:
        pytest.UsageError: There is no such backend.
    """
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(soc=..., mode=..., contract=True, fresh=False): the chip of the fixture 'npu', "
        "e.g. 'Ascend310P3'; its execution mode: 'deferred', 'eager' or 'shuffled:SEED'; whether "
        "the test fails if it breaks a rule of CANN's contract; and whether its device has a new "
        "process",
    )
    if hasattr(config, "workerinput"):  # of pytest-xdist, whose workers start after all this
        return
    if FORK_SERVER not in os.environ:
        os.environ[FORK_SERVER] = str(os.getpid())
        config.add_cleanup(_forget_fork_server)
    backend = config.getoption("--npu-backend")
    if backend == "mock":
        return
    from pyaclnn.base.errors import BackendNotFoundError, InvalidArgumentError  # noqa: PLC0415
    from pyaclnn.cann.library import select_backend  # noqa: PLC0415

    try:
        select_backend(backend)
    except (BackendNotFoundError, InvalidArgumentError) as error:
        raise pytest.UsageError(f"--npu-backend={backend}: {error}") from None


def _forget_fork_server() -> None:
    os.environ.pop(FORK_SERVER, None)  # a test may have removed it


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Reject an invalid marker, and count the rules broken before the test."""
    markers = [*item.iter_markers(_MARKER)]
    contract = True
    if markers:
        from pyaclnn.pytest_plugin.marker_options import marker_options  # noqa: PLC0415

        contract = marker_options(markers).contract
    if contract:
        item.stash[_BROKEN_BEFORE] = _broken_rules() if _simulating() else 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Store which tests passed: the traceback of a failed test keeps its objects alive.

    A refused call is reported at the line of the test: frames of this package are hidden.
    """
    if call.excinfo is not None:
        _hide_own_frames(call.excinfo.tb)
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = report.passed
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Fail a test in which a rule of CANN's contract was broken on the simulated NPU.

    The marker ``pyaclnn(contract=False)`` exempts a test. A marker that had no effect is a warning.
    """
    yield
    if item.stash.get(_PASSED, False) and not item.stash.get(_OPENED, False):
        _warn_of_idle_marker(item)
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
    """Device 0, open for the duration of the test.

    The marker ``pyaclnn`` selects chip and mode of the simulated NPU. After the test the device is
    closed; on the simulated NPU, objects of the test that are still alive are an error.
    """
    from pyaclnn.pytest_plugin.marker_options import marker_options  # noqa: PLC0415
    from pyaclnn.pytest_plugin.occupancy import opened  # noqa: PLC0415

    node: pytest.Item = request.node
    options = marker_options(node.iter_markers(_MARKER))
    backend = request.config.getoption("--npu-backend")
    node.stash[_OPENED] = True
    with opened(backend, options, lambda: node.stash.get(_PASSED, False)) as device:
        yield device


@pytest.fixture
def npu_faults(npu: Device, request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Function that sets faults of the simulated NPU for the duration of the test.

    The grammar is that of :func:`pyaclnn.mock.faults`, e.g. ``npu_faults("aclrtMalloc:2=207001")``.
    A fault that never occurred is an error at the end of a test that passed. After the test, the
    faults of PYACLNN_MOCK_FAULTS apply again.
    """
    from pyaclnn.pytest_plugin.fault_injection import FaultInjection  # noqa: PLC0415

    if npu.closed or not _simulating():
        pytest.fail("npu_faults needs the simulated NPU (--npu-backend=mock)", pytrace=False)
    injection = FaultInjection()
    yield injection.replace
    injection.end()
    if request.node.stash.get(_PASSED, False):
        injection.require_effects()


def _warn_of_idle_marker(item: pytest.Item) -> None:
    """Warn of a test's own marker whose options apply to the fixture ``npu`` only."""
    if any(mark.name == _MARKER and [*mark.kwargs] != ["contract"] for mark in item.own_markers):
        message = "the marker pyaclnn has no effect: the test does not use the fixture 'npu'"
        item.warn(pytest.PytestWarning(message))


def _hide_own_frames(traceback: TracebackType | None) -> None:
    """Hide the frames of this package, for errors of its own family, unless ``--full-trace``."""
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_filename.startswith(_OWN_FILES):
            frame.f_globals.setdefault("__tracebackhide__", _is_own_error)
        traceback = traceback.tb_next


def _is_own_error(excinfo: pytest.ExceptionInfo[BaseException] | None) -> bool:
    from pyaclnn.base.errors import AclError  # noqa: PLC0415

    return excinfo is not None and isinstance(excinfo.value, AclError)


def _simulating() -> bool:
    """Return whether a simulated NPU is loaded; called twice for each test, so it is cheap."""
    if "ctypes" in sys.modules:
        from pyaclnn.mock.control.tools import loaded  # noqa: PLC0415

        return bool(loaded())
    # Without ctypes, only an extension module can have loaded the library.
    if len(sys.modules) != _Inspection.modules:
        _Inspection.modules = len(sys.modules)
        _Inspection.found = b"/libascendcl.so" in Path("/proc/self/maps").read_bytes()
    return _Inspection.found


class _Inspection:
    """Cached result of the last inspection of /proc/self/maps, with the number of modules."""

    modules = 0
    found = False


def _broken_rules() -> int:
    from pyaclnn.mock.control.report import violation_count  # noqa: PLC0415

    return violation_count()
