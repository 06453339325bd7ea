# SPDX-License-Identifier: Apache-2.0
"""The laws of the source tree: who imports whom, who may touch C, how large a file may be."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import pyaclnn
from pyaclnn.facts.operators import all_operators
from pyaclnn.ops.stub import STUBS
from tests.conftest import COUNTED

from .import_graph import (
    MODULES,
    PACKAGE,
    ROOT,
    STANDARD,
    circle,
    imports_of,
    names_imported,
    package_of,
    room_of,
    tree_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

# From the bottom to the top. A room imports from lower lines only.
STOREYS = [
    {"base", "_binding"},
    {"facts", "bindgen"},
    {"cann", "reference"},
    {"mock"},
    {"runtime"},
    {"calling"},
    {"aclnn", "ops"},
    {"ascendc", "pytest_plugin", "torch"},
    {"capture", "health"},
    {"__init__", "cli"},
    {"__main__"},
]
MOST_ROOMS, MOST_STOREYS = 20, 11
HEIGHT = {module: height for height, storey in enumerate(STOREYS) for module in storey}

# Rooms of rooms, from the bottom to the top; what stands beside them is their face.
INNER_STOREYS = {
    "health": ["installed", "report", "smoke", "checks", "explain", "child", "command", "fleet"],
    "mock": ["protocol", "contract", "operators", "collectives", "device", "control"],
}

# The folders of rooms.
INNER = {package_of(module) for module in MODULES if package_of(module).count(".") == 2}

MOST_LINES = 400
PYTHON_FILES = sorted(PACKAGE.rglob("*.py"))
KERNELS = PACKAGE / "reference" / "kernels"
FUNCTIONS_OF_TABLES = {KERNELS / "graph_functions.py", *(KERNELS / "functions").glob("[!_]*.py")}
"""Modules whose names without an underscore are those that expressions in tables call."""
AREAS = PACKAGE / "reference"
DEFINITIONS = {
    *AREAS.glob("[!_]*.py"),
    *(f for f in (PACKAGE / "reference" / "fast").glob("[!_]*.py") if (AREAS / f.name).exists()),
}
"""Modules whose public names are those of the operators that they define."""
UNLISTED = FUNCTIONS_OF_TABLES | DEFINITIONS
C_FILES = sorted([*(ROOT / "mock_libs").rglob("*.[ch]"), *PACKAGE.rglob("*.[ch]")])
HEADERS = sorted((ROOT / "include_stubs").rglob("*.h"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_room_of_the_package_has_its_storey() -> None:
    assert {room_of(module) for module in MODULES} == set(HEIGHT) - {"_binding"}


def test_the_page_on_the_architecture_names_every_room() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    named = {name.rstrip("/") for row in rows for name in re.findall(r"`(.+?)`", row)}
    beside_python = {"include_stubs", "mock_libs"}
    assert all((ROOT / name).is_dir() for name in beside_python)
    assert named == set(HEIGHT) - {"__init__", "__main__"} | beside_python


def test_imports_go_down() -> None:
    upward = {
        (module, name)
        for module in MODULES
        for name in imports_of(module)
        if room_of(name) != room_of(module) and HEIGHT[room_of(name)] >= HEIGHT[room_of(module)]
    }
    assert upward == set()


def test_the_house_is_small(record_property: Callable[[str, object], None]) -> None:
    rooms = {*HEIGHT, "include_stubs", "mock_libs"} - {"_binding"}  # which is generated
    arrows = {(room_of(m), room_of(name)) for m in MODULES for name in imports_of(m)}
    record_property(COUNTED, ["rooms of the package and of C", len(rooms)])
    record_property(COUNTED, ["storeys", len(STOREYS)])
    record_property(COUNTED, ["arrows between rooms", sum(low != high for high, low in arrows)])
    assert len(rooms) <= MOST_ROOMS
    assert len(STOREYS) <= MOST_STOREYS


@pytest.mark.parametrize("room", INNER_STOREYS)
def test_imports_go_down_within_a_room(room: str) -> None:
    storeys = INNER_STOREYS[room]
    folder = PACKAGE / room
    assert {path.name for path in folder.iterdir() if (path / "__init__.py").exists()} == set(
        storeys
    )
    height = {storey: place for place, storey in enumerate(storeys)}  # files beside them: the face
    upward = [
        (module, name)
        for module in MODULES
        if room_of(module) == room and module.count(".") > 1
        for name in imports_of(module)
        if room_of(name) == room
        and height.get(name.split(".")[2], len(storeys))
        > height.get(module.split(".")[2], len(storeys))
    ]
    assert not upward


def folders_within(modules: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """Which folders of a room lean on which others of it; the room's face is none of them."""
    graph: dict[str, set[str]] = {}
    for module, imported in modules.items():
        folder, *others = (".".join(name.split(".")[:3]) for name in (module, *imported))
        known = {other for other in others if other in INNER and room_of(other) == room_of(module)}
        if folder in INNER:
            graph.setdefault(folder, set()).update(known - {folder})
    return graph


def test_no_folder_of_a_room_leans_on_itself_by_way_of_others() -> None:
    imports = {module: imports_of(module) for module in MODULES}
    assert len(folders_within(imports)) == len(INNER) > 12
    assert not circle(folders_within(imports))
    imports["pyaclnn.reference.arithmetic.rows"] |= {"pyaclnn.reference.fast.layer_norm"}
    assert circle(folders_within(imports))


def test_the_import_check_sees_an_upward_import() -> None:
    source = "def f():\n    from pyaclnn import cli\n    import pyaclnn.ops.x\n    from . import y"
    assert set(names_imported(source, "pyaclnn.a")) == {
        "pyaclnn.cli",
        "pyaclnn.ops.x",
        "pyaclnn.a.y",
    }


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert not circle({module: imports_of(module) for module in MODULES})


def test_the_check_for_circles_sees_one() -> None:
    assert circle({"a": ["b"], "b": ["c"], "c": ["a"]})


@pytest.mark.parametrize("part", ["pyaclnn.ops", "pyaclnn.health.smoke.report", "pyaclnn.cli"])
def test_the_pythonic_storey_never_touches_c(part: str) -> None:
    modules = [module for module in MODULES if module.startswith(part)]
    assert modules
    for module in modules:
        assert not imports_of(module) & {"pyaclnn._binding", "pyaclnn.cann.raw"}, module
        assert not re.search(r"\bffi\b", MODULES[module].read_text(encoding="utf-8")), module


def test_only_the_bottom_touches_the_compiled_binding() -> None:
    users = {module for module in MODULES if "pyaclnn._binding" in imports_of(module)}
    assert {room_of(user) for user in users} == {"cann", "runtime", "calling"}


@pytest.mark.parametrize(
    ("part", "allowed"),
    [
        ("base", {"_typeshed", "tomli", "shtab"}),  # tomllib of Python 3.10; completion
        ("facts.operators", {"typing_extensions"}),  # to type checkers alone
        ("reference", {"numpy", "ml_dtypes", "pyaclnn.base", "pyaclnn.facts.operators"}),
        (
            "mock",
            {
                *("numpy", "ml_dtypes", "tomli", "pyaclnn.base", "pyaclnn.facts"),
                "pyaclnn.reference",
                *("pyaclnn.bindgen", "pyaclnn.cann.simulator", "pyaclnn.cann.packaged"),
            },
        ),
        ("bindgen", {"cffi", "pcpp", "pycparser"}),
        ("ascendc.tiling", {"rich", "typing_extensions", "pyaclnn.base", "pyaclnn.facts.chips"}),
    ],
)
def test_a_part_that_stands_alone_imports_nothing_else(part: str, allowed: set[str]) -> None:
    own = f"pyaclnn.{part}"
    modules = [m for m in MODULES if f"{m}.".startswith(f"{own}.")]
    assert modules
    for module in modules:
        for name in names_imported(MODULES[module].read_text(encoding="utf-8"), package_of(module)):
            known = {own, *allowed, *STANDARD}
            assert any(f"{name}.".startswith(f"{k}.") for k in known), f"{module} imports {name}"


def test_files_are_small_and_say_their_licence() -> None:
    files = [*PYTHON_FILES, *C_FILES, *HEADERS, *TESTS]
    lines = {name_of(path): path.read_text(encoding="utf-8").splitlines() for path in files}
    assert {name: len(text) for name, text in lines.items() if len(text) > MOST_LINES} == {}
    licence = "SPDX-License-Identifier: Apache-2.0"
    assert [name for name, text in lines.items() if licence not in "".join(text[:1])] == []


def names_assigned(tree: ast.Module) -> set[str]:
    return {
        target.id
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


def test_every_module_lists_its_public_names() -> None:
    modules = [path for path in PYTHON_FILES if path.name != "__main__.py"]
    trees = {path: tree_of(path) for path in modules}
    unlisted = {path for path, tree in trees.items() if "__all__" not in names_assigned(tree)}
    assert {name_of(path) for path in unlisted - UNLISTED} == set()
    assert {name_of(path) for path in UNLISTED - unlisted} == set()


def test_nothing_is_called_utils() -> None:
    parts = {part for path in [*PYTHON_FILES, *C_FILES] for part in path.with_suffix("").parts}
    assert not parts & {"util", "utils", "helper", "helpers", "misc", "common"}


# ---- the package's own surface ------------------------------------------------------------------


def test_public_names_are_what_they_say() -> None:
    deferred = [
        name for name, path in MODULES.items() if "= public_names(" in path.read_text("utf-8")
    ]
    assert {"pyaclnn", "pyaclnn.health.doctor"} <= {*deferred}
    for module in map(importlib.import_module, deferred):
        for name in module.__all__:
            assert getattr(module, name) is not None


def test_public_names_are_declared_for_type_checkers_and_at_run_time_alike() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    typed = {a.asname or a.name for node in imports for a in node.names if a.asname == a.name}
    assert typed == {*pyaclnn.__all__, *pyaclnn._MODULES} - {"__version__", *all_operators()}


@pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.name)
def test_the_stubs_of_the_operators_are_up_to_date(stub: Path) -> None:
    assert stub.read_text(encoding="utf-8") == STUBS[stub](), "run: python -m pyaclnn.ops.stub"


def test_public_things_have_docstrings() -> None:
    for name in set(pyaclnn.__all__) - {"__version__"}:
        thing: Any = getattr(pyaclnn, name)
        assert thing.__doc__, name


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_the_package_loads_neither_the_binding_nor_a_vendor_library() -> None:
    code = (
        "import pyaclnn, pyaclnn.mock, pyaclnn.reference, sys;"
        "maps = open('/proc/self/maps').read();"
        "print('pyaclnn._binding' in sys.modules, 'libascendcl' in maps)"
    )
    assert run_python(code) == "False False"


def test_importing_every_module_opens_no_vendor_library() -> None:
    modules = [module for module in MODULES if not module.endswith("__main__")]
    assert len(modules) > 30
    code = (
        "import importlib, pyaclnn.bindgen;"
        f"pyaclnn.bindgen.__path__.append({str(PACKAGE / 'bindgen')!r});"
        f"[importlib.import_module(m) for m in {modules!r}];"
        "print('libascendcl' in open('/proc/self/maps').read())"
    )
    assert run_python(code) == "False"


def test_the_version_is_said_once() -> None:
    build = (ROOT / "meson.build").read_text(encoding="utf-8")
    declared = re.search(r"version: '([^']+)'", build)
    assert declared is not None
    assert pyaclnn.__version__ == declared[1]
    assert importlib.import_module("importlib.metadata").version("pyaclnn") == declared[1]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{declared[1]}]" in changelog


def test_every_path_in_the_description_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = {name.rstrip("/") for name in re.findall(r"`([\w./-]+/[\w./-]*)`", text)}
    listed = ("git", "ls-files") if (ROOT / ".git").exists() else ("find", ".", "-type", "f")
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    known = "\n".join(f"/{name}" for name in files.splitlines())
    assert len(named) > 40
    assert [
        n
        for n in sorted(named)
        if not re.search(rf"/{re.escape(n)}(\.\w+|/|$)", known, re.MULTILINE)
    ] == []
