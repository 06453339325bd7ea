# SPDX-License-Identifier: Apache-2.0
"""The package itself: what is there after ``import pyaclnn``, and what if it was never built."""

from __future__ import annotations

import _thread
import ast
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pyaclnn

ROOT = Path(__file__).parents[2]
MODULES = {
    "accuracy": "facts.accuracy",
    "aclnn": "aclnn",
    "array_api": "calling.array_api",
    "capture": "capture",
    "doctor": "health.doctor",
    "fleet": "health.fleet",
    "mock": "mock",
    "ops": "ops",
    "raw": "cann.raw",
    "reference": "reference",
    "tiling": "ascendc.tiling",
}


def test_a_process_of_the_tests_imports_the_package_without_building_it(
    pytestconfig: pytest.Config,
) -> None:
    """The loader of an editable install starts ninja; see `tests.editable`."""
    if getattr(pytestconfig, "cache", None) is None:
        pytest.skip("without pytest's cache the loader of the install serves")
    code = "import sys, pyaclnn; print('subprocess' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def python(
    *arguments: str, cwd: Path | None = None, path: str = ""
) -> subprocess.CompletedProcess[str]:
    kept = {"PYTHONPYCACHEPREFIX"}  # where the suite keeps byte code
    variables = {k: v for k, v in os.environ.items() if k in kept or not k.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**variables, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


FORK = """
import os, sys, threading, time
import pyaclnn.base.lazy as lazy
sys.modules["slow"] = type(sys)("slow")
begun = threading.Event()

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "slow.home":
            import importlib.machinery as m
            return m.ModuleSpec(name, self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        begun.set()
        time.sleep(0.5)
        module.__all__, module.thing = ["thing"], 1

sys.modules["slow"].__path__ = []
sys.meta_path.insert(0, Finder())
load, _ = lazy.public_names("slow", {"thing"}, ["home"])
threading.Thread(target=load, args=("thing",)).start()
begun.wait()
child = os.fork()
if child == 0:
    load("thing")
    os._exit(7)
deadline = time.time() + 20
while time.time() < deadline:
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        print(os.waitstatus_to_exitcode(status))
        break
    time.sleep(0.01)
else:
    os.kill(child, 9)
    print("hangs")
"""


def test_a_fork_during_the_first_use_of_a_name_leaves_the_child_able_to_use_it() -> None:
    done = python("-c", FORK, path=os.pathsep.join(sys.path))
    assert done.stdout == "7\n", done.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", MODULES)
def test_modules_are_there_without_an_import_of_their_own(name: str) -> None:
    code = f"import pyaclnn; print(pyaclnn.{name}.__name__)"
    assert python("-c", code).stdout == f"pyaclnn.{MODULES[name]}\n"
    assert name in dir(pyaclnn)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", MODULES)
def test_a_public_module_is_imported_by_its_public_name_too(name: str) -> None:
    code = (
        f"import pyaclnn.{name} as a, pyaclnn.{MODULES[name]} as b; print(a is b, b.__spec__.name)"
    )
    assert python("-c", code).stdout == f"True pyaclnn.{MODULES[name]}\n"


def test_what_is_offered_for_completion_is_public_and_no_import_of_our_own() -> None:
    offered = {name for name in dir(pyaclnn) if not name.startswith("__")}
    assert offered == {*pyaclnn.__all__, *MODULES} - {"__version__"}


def test_modules_are_loaded_when_they_are_asked_for_and_not_before() -> None:
    code = "import pyaclnn, sys; print([m for m in sys.modules if m.startswith('pyaclnn.')])"
    assert python("-c", code).stdout == "['pyaclnn.base', 'pyaclnn.base.lazy']\n"


def test_a_function_loads_neither_explanations_nor_the_reader_of_libraries() -> None:
    slow = "['pyaclnn.facts.explanations', 'pyaclnn.base.elf', 'tomllib', 'tomli']"
    code = f"import pyaclnn, sys; pyaclnn.rms_norm; print([m for m in {slow} if m in sys.modules])"
    assert python("-c", code).stdout == "[]\n"


def test_a_call_reads_no_header_and_loads_no_masked_arrays() -> None:
    code = """
import os, sys
os.environ["PYACLNN_BACKEND"] = "mock"
opened = []
sys.addaudithook(lambda event, of: opened.append(str(of[0])) if event == "open" else None)
import numpy as np
from_the_start = "numpy.ma" in sys.modules
from pyaclnn import rms_norm
rms_norm(np.ones((2, 8), "f"), np.ones(8, "f"))
print([path.rpartition("/")[2] for path in opened if path.endswith(".h")])
print(from_the_start or "numpy.ma" not in sys.modules)
"""
    assert python("-c", code).stdout == "[]\nTrue\n"


TELL_MODULES = """
import atexit, os, sys
def tell():
    with open(f"{os.path.dirname(__file__)}/{os.getpid()}", "w") as file:
        print(*sys.modules, file=file)
atexit.register(tell)
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the modules that the first call loads, in the host's and the device's process."""
    folder = tmp_path_factory.mktemp("loaded")
    (folder / "sitecustomize.py").write_text(TELL_MODULES, encoding="utf-8")
    code = """
import os
os.environ["PYACLNN_BACKEND"] = "mock"
import numpy as np, pyaclnn
pyaclnn.rms_norm(np.ones((2, 8), "f"), np.ones(8, "f"))
"""
    done = python("-c", code, path=str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    told = [path.read_text(encoding="utf-8").split() for path in folder.glob("[0-9]*")]
    assert len(told) == 2
    return {"device" if "pyaclnn.mock.device.process" in names else "host": names for names in told}


@pytest.mark.parametrize("process", ["host", "device"])
def test_a_call_loads_the_descriptions_of_no_other_area(
    loaded: dict[str, list[str]], process: str
) -> None:
    area = "pyaclnn.facts.operators.norm"
    found = [name for name in loaded[process] if name.startswith(area)]
    assert found == [area, f"{area}.rms_norm"]


# Modules that take milliseconds, and others with them, to be imported.
DEAR = {
    "host": {"asyncio", "concurrent", "configparser", "difflib", "logging", "shutil", "tempfile"},
    "device": {"asyncio", "concurrent", "importlib.resources", "logging", "pathlib", "tempfile"},
}


def imports_at_once(module: str) -> set[str]:
    """Return the modules that a module imports at its own import; none for a compiled one."""
    place = Path(str(pyaclnn.__file__)).parents[1].joinpath(*module.split("."))
    found = set()
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        for node in ast.parse(path.read_bytes()).body if path.is_file() else ():
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                found |= {str(node.module), *names}
    return found


@pytest.mark.parametrize("process", ["host", "device"])
def test_a_call_imports_nothing_that_takes_long_and_is_not_needed(
    loaded: dict[str, list[str]], process: str
) -> None:
    ours = [name for name in loaded[process] if name.startswith("pyaclnn.")]
    found = {name: imports_at_once(name) & DEAR[process] for name in ours}
    assert not {name: dear for name, dear in found.items() if dear}


def test_the_package_itself_imports_nothing_that_takes_long() -> None:
    dear = {*DEAR["host"], *DEAR["device"], "importlib.metadata", "inspect", "json", "threading"}
    assert not (imports_at_once("pyaclnn") | imports_at_once("pyaclnn.base.lazy")) & dear


def test_the_check_for_dear_imports_sees_one() -> None:
    assert imports_at_once("pyaclnn.cann.simulator") & DEAR["device"] == {"pathlib"}


def test_an_unknown_name_is_an_attribute_error_where_no_python_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread that begins in C has no frame above the module's `__getattr__`."""
    errors: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda failed: errors.append(failed.exc_value))
    _thread.start_new_thread(getattr, (pyaclnn, "nothing"))
    for _ in range(1000):
        if errors:
            break
        time.sleep(0.01)
    assert [type(error) for error in errors] == [AttributeError]


def test_there_is_nothing_else() -> None:
    with pytest.raises(AttributeError, match="module 'pyaclnn' has no attribute 'nothing'"):
        _ = pyaclnn.nothing  # type: ignore[attr-defined]  # it says so too
    with pytest.raises(AttributeError, match=r"module 'pyaclnn\.mock' has no attribute 'nothing'"):
        _ = pyaclnn.mock.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "code",
    [
        "import pyaclnn; pyaclnn.rms_norm",
        "from pyaclnn import select_backend",
        "from pyaclnn.cann.library import backend",
        "import pyaclnn; pyaclnn.raw",
    ],
)
def test_the_source_tree_says_that_it_is_one(code: str) -> None:
    # Without the site's folders, so that no installation is found in its place.
    done = python("-S", "-c", code, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {ROOT}/pyaclnn is the source tree of pyaclnn, without its compiled modules, "
        "and no installed pyaclnn was found. Install it with 'pip install .'; CONTRIBUTING.md "
        "describes how to work on the source tree."
    )


def test_python_in_the_source_tree_uses_the_installed_package(tmp_path: Path) -> None:
    installed = tmp_path / "pyaclnn"
    shutil.copytree(ROOT / "pyaclnn" / "base", installed / "base")
    (installed / "__init__.py").touch()
    code = (
        "import pyaclnn; from importlib.resources import files;"
        "print(*pyaclnn.__path__, files('pyaclnn'), pyaclnn.__file__)"
    )
    paths = [python("-S", "-c", code, cwd=ROOT, path=path).stdout for path in ("", str(tmp_path))]
    assert paths == [
        f"{place} {place} {place / '__init__.py'}\n" for place in (ROOT / "pyaclnn", installed)
    ]


def test_a_folder_without_a_package_is_no_installed_package(tmp_path: Path) -> None:
    (tmp_path / "pyaclnn").mkdir()
    code = "import pyaclnn; print(*pyaclnn.__path__, pyaclnn.__file__)"
    done = python("-S", "-c", code, cwd=ROOT, path=str(tmp_path))
    assert done.stdout == f"{ROOT / 'pyaclnn'} {ROOT / 'pyaclnn' / '__init__.py'}\n", done.stderr


def test_what_needs_no_binding_works_in_the_source_tree() -> None:
    assert python("-S", "-c", "import pyaclnn; pyaclnn.mock.libdir", cwd=ROOT).returncode == 0
