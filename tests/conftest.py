# SPDX-License-Identifier: Apache-2.0
"""Configuration of the whole suite: its backend, and the check for leaks."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import settings

import pyaclnn.bindgen

from .byte_code import compile_the_package, keep_byte_code, rewrite_the_tests
from .editable import use_light_loader
from .fork_server import serve_programs
from .holdings import holdings, mappings_of_devices, no_leaks, what_is_left
from .kept import keeper

if TYPE_CHECKING:
    from .kept import Keep

LeakCheck = Callable[[], AbstractContextManager[None]]

# Hundreds of processes start here, one beside the other. In each, the threads of NumPy's BLAS and
# of PyTorch would take as long to start as all the rest, and none has a use for more than one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

# What a terminal is shown follows the test, and not the terminal in which the tests run.
for variable in ("TERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(variable, None)

# The duration of an example depends on the machine's load, not on the tested code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

API = Path(__file__).parent / "api"

# In a virtual environment Python reads twice what puts the loader of an editable install here. The
# second, asked for each module that the first has not, would have the build look for work again.
sys.meta_path[:] = {repr(finder): finder for finder in reversed(sys.meta_path)}.values()
sys.meta_path.reverse()

# Build-time modules are not installed; they are tested in the source tree.
pyaclnn.bindgen.__path__.append(str(Path(__file__).parents[1] / "pyaclnn" / "bindgen"))

COUNTED = "counted"
"""The property in which a test records a text and a number, for the end of the run's output."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the backend of tests/api, and the extent of unbounded tests."""
    parser.addoption(
        "--backend",
        choices=["mock", "cann"],
        default="mock",
        help="what tests/api runs on; on a CANN what needs the simulated NPU is skipped",
    )
    parser.addoption(
        "--fuzz-seeds",
        default="100-109",
        metavar="FIRST-LAST",
        help="the seeds of the marked fuzz, of 20,000 calls each",
    )
    parser.addoption(
        "--type-rows",
        type=int,
        default=30,
        metavar="COUNT",
        help="how many joint dtypes of each operator the marked tables try, and eight times "
        "as many mixtures beside them",
    )
    parser.addoption(
        "--stress-calls",
        type=int,
        default=100,
        metavar="COUNT",
        help="how many calls each thread of the marked stress makes",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep byte code, and end at once where the CANN that is asked for is not there."""
    cache = getattr(config, "cache", None)
    if sys.dont_write_bytecode and cache is not None:
        keep_byte_code(cache.mkdir("bytecode"))
    use_light_loader(config)
    if hasattr(config, "workerinput"):
        return
    compile_the_package()
    if config.getoption("numprocesses", None):
        rewrite_the_tests(config)
    if config.getoption("--backend") != "cann":
        return
    from pyaclnn.base.errors import BackendNotFoundError  # noqa: PLC0415
    from pyaclnn.cann.library import select_backend  # noqa: PLC0415  # some rooms test without it

    try:
        select_backend("cann")
    except BackendNotFoundError as error:
        raise pytest.UsageError(f"--backend cann: {error}") from None


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Look for no garbage at the end of a process, where pytest and Python do several times."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while thousands of tests are made, all of which stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one worker more than there are processors: a quarter of a run waits for processes."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep together, on one worker, what loads PyTorch and what builds the same kernels."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415  # the hook says it is there

    def group(nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((what for what, files in together().items() if file in files), file)

    # Not the files with the most tests first: those with few, which wait for processes, would be
    # left to the end, and wait all at once.
    config.option.loadscopereorder = False
    scheduler: Any = LoadFileScheduling(config, log)
    scheduler._split_scope = group
    return scheduler


@functools.cache
def together() -> dict[str, frozenset[str]]:
    """The files of tests that pay once, on one worker, for what each of them needs."""
    room = API.parent
    files = [path for path in room.rglob("test_*.py") if "clients" not in path.parts]
    groups = {
        "kernels": [path for path in files if path.parent.name == "ascendc"],
        "trees": [path for path in files if path.parent.name == "architecture"],
        "PyTorch": [path for path in files if "torch: Any" in path.read_text(encoding="utf-8")],
    }
    return {
        what: frozenset(path.relative_to(room.parent).as_posix() for path in found)
        for what, found in groups.items()
    }


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that use PyTorch, begin with the long ones, and on a CANN skip others."""
    for item in items:
        if "torch" in getattr(item, "fixturenames", ()):
            item.add_marker("torch")
    # Files are handed out in the order of their first tests.
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    if config.getoption("--backend") != "cann":
        return
    from tests.simulation import NEEDS_IT, needs_simulation  # noqa: PLC0415  # a CANN alone wants it

    for item in items:
        if API not in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="--backend cann is for tests/api"))
        elif needs_simulation(item):
            item.add_marker(pytest.mark.skip(reason=NEEDS_IT))


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Leave most cases of a sampled table to the exhaustive stage, and make no test of those here.

    Half of all tests are exhaustive. The default run would make each of them only to deselect it.
    """
    yield
    calls: Any = metafunc._calls
    find = metafunc.definition.get_closest_marker
    table = [call for call in calls if not is_exhaustive(call)]
    sampled = find("sampled")
    if sampled is not None and find("exhaustive") is None:
        (kept,) = sampled.args
        chosen = {index * len(table) // kept for index in range(kept)}
        for index, call in enumerate(table):
            if index not in chosen:
                call.marks.append(pytest.mark.exhaustive.mark)
    expression = metafunc.config.getoption("markexpr")
    if "not exhaustive" in expression and " or " not in expression:
        left = [] if find("exhaustive") else [call for call in calls if not is_exhaustive(call)]
        calls[:] = left or calls[:1]  # without any, pytest would make a test without arguments


def is_exhaustive(call: Any) -> bool:
    """Return True if a case of a table has that mark of its own."""
    return any(mark.name == "exhaustive" for mark in call.marks)


@pytest.fixture
def own_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have hosts start their device processes themselves, so that these are their children."""
    monkeypatch.setenv("PYACLNN_MOCK_FORK_SERVER", "")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Let plugins report a failure, whatever what they load for that warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (yield)


# The last of all, so within that of pytest, which makes errors of warnings.
@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Print the sums of what tests have counted, and let plugins report failures here too."""
    sums: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == COUNTED:
                text, number = cast("tuple[str, int]", value)
                sums[text] += number
    for text, number in sums.items():
        terminalreporter.write_line(f"{number} {text}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (yield)


@pytest.fixture(scope="module", autouse=True)
def _collections_look_at_what_is_new() -> None:
    """Take what is there before a module for ever there, as what PyTorch alone has brought by now.

    Tests collect hundreds of times, and would look at a million objects each time.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def keep(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Keep:
    """Give a folder for what is built of something, which is kept for the runs to come."""
    return keeper(pytestconfig, tmp_path_factory)


@pytest.fixture
def torch(
    pytestconfig: pytest.Config, record_property: Callable[[str, tuple[str, int]], None]
) -> Any:
    """Return PyTorch, and count the test; where it is not installed, only `-m torch` fails."""
    if pytestconfig.getoption("markexpr") != "torch":
        pytest.importorskip("torch")
    module = importlib.import_module("torch")
    record_property(COUNTED, ("tests compared with PyTorch", 1))
    return module


@pytest.fixture(scope="session", autouse=True)
def _neutral_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run everything in an empty folder.

    Python puts the current folder first on its path when it runs ``-c`` or ``-m``. In the root of
    the project that would be the sources, in place of the package that was installed.
    """
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("neutral"))
    yield
    os.chdir(before)


@pytest.fixture(scope="session")
def leak_check() -> LeakCheck:
    """Return a context manager that fails if what runs inside leaves anything behind."""
    return no_leaks


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_of_the_suite() -> Iterator[None]:
    """At the very end, the default device closed, the process holds what it held before."""
    before, mapped = holdings(), mappings_of_devices()
    yield
    assert what_is_left(before, mapped) == {}


@pytest.fixture(scope="session", autouse=True)
def _programs_begin_as_forks(_nothing_is_left_of_the_suite: None) -> Iterator[None]:
    """Fork the programs of a worker, which are many; a run without workers starts each anew.

    So does one on aarch64, which is emulated where these tests run: forks were not tried there.
    """
    forks = "PYTEST_XDIST_WORKER" in os.environ and os.uname().machine == "x86_64"
    with serve_programs() if forks else contextlib.nullcontext():
        yield
