# SPDX-License-Identifier: Apache-2.0
"""The laws of the source tree: who imports whom, who may touch C, how large a file may be."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pyaclnn

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pyaclnn"

# From the bottom to the top. A module imports from lower lines only.
STOREYS = [
    {"lazy"},
    {"_binding", "errors", "discovery", "accuracy", "bindgen", "reference", "tiling"},
    {"mock", "signatures", "shapes", "timeout", "explanations"},
    {"library", "codes"},
    {"raw"},
    {"call", "dtypes", "handle"},
    {"context", "runtime", "lane"},
    {"memory"},
    {"layout", "device"},
    {"event", "buffer", "pinned"},
    {"pool", "workspace"},
    {"stream"},
    {"transfer"},
    {"array"},
    {"arguments"},
    {"launch"},
    {"plans"},
    {"ops"},
    {"smoke"},
    {"smoke_report"},
    {"doctor", "ascendc", "pytest_plugin"},
    {"cli"},
    {"__init__", "__main__"},
]
HEIGHT = {module: height for height, storey in enumerate(STOREYS) for module in storey}

MOST_LINES = 400
PYTHON_FILES = sorted(PACKAGE.rglob("*.py"))
C_FILES = sorted([*(ROOT / "mock_libs").rglob("*.[ch]"), *PACKAGE.rglob("*.[ch]")])
HEADERS = sorted((ROOT / "include_stubs").rglob("*.h"))


def part_of(path: Path) -> str:
    """The top-level part of the package to which a file belongs, e.g. ``ops``."""
    inner = path.relative_to(PACKAGE)
    return inner.parts[0].removesuffix(".py")


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Every module a file imports, as a dotted name; ``from pyaclnn import x`` as pyaclnn.x."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module == "pyaclnn":
                yield from (f"pyaclnn.{alias.name}" for alias in node.names)
            else:
                yield node.module


def parts_imported(path: Path) -> set[str]:
    names = imports_of(ast.parse(path.read_text(encoding="utf-8")))
    return {name.split(".")[1] for name in names if name.startswith("pyaclnn.")} - {part_of(path)}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_part_of_the_package_has_its_storey() -> None:
    assert {part_of(path) for path in PYTHON_FILES} == set(HEIGHT) - {"_binding"}


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name_of)
def test_imports_go_down(path: Path) -> None:
    upward = {p for p in parts_imported(path) if HEIGHT[p] >= HEIGHT[part_of(path)]}
    assert not upward


def test_the_import_check_sees_an_upward_import() -> None:
    names = imports_of(ast.parse("def f():\n    from pyaclnn import cli\n    import pyaclnn.ops.x"))
    assert {name.split(".")[1] for name in names} == {"cli", "ops"}


@pytest.mark.parametrize("part", ["ops", "smoke_report", "cli"])
def test_the_pythonic_storey_never_touches_c(part: str) -> None:
    files = [path for path in PYTHON_FILES if part_of(path) == part]
    assert files
    for path in files:
        assert not parts_imported(path) & {"_binding", "raw"}, path
        assert not re.search(r"\bffi\b", path.read_text(encoding="utf-8")), path


def test_only_the_bottom_touches_the_compiled_binding() -> None:
    users = {part_of(path) for path in PYTHON_FILES if "_binding" in parts_imported(path)}
    assert users == {
        *("codes", "library", "raw", "signatures"),
        *("lane", "memory", "pool", "stream", "launch", "plans"),
    }


@pytest.mark.parametrize(
    ("part", "allowed"),
    [
        ("reference", {"numpy", "ml_dtypes", "pyaclnn.reference"}),
        ("mock", {"numpy", "ml_dtypes", "pyaclnn.reference", "pyaclnn.mock", "pyaclnn.lazy"}),
        ("bindgen", {"cffi", "pcpp", "pycparser"}),
        ("tiling", {"rich", "typing_extensions", "pyaclnn.tiling", "pyaclnn.lazy"}),
    ],
)
def test_a_part_that_stands_alone_imports_nothing_else(part: str, allowed: set[str]) -> None:
    for path in (path for path in PYTHON_FILES if part_of(path) == part):
        for name in imports_of(ast.parse(path.read_text(encoding="utf-8"))):
            top = name.split(".")[0]
            known = ".".join(name.split(".")[:2]) if top == "pyaclnn" else top
            assert known in allowed | sys.stdlib_module_names, f"{path} imports {name}"


@pytest.mark.parametrize("path", [*PYTHON_FILES, *C_FILES, *HEADERS], ids=name_of)
def test_files_are_small_and_say_their_licence(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    assert "SPDX-License-Identifier: Apache-2.0" in lines[0]


@pytest.mark.parametrize("path", PYTHON_FILES, ids=name_of)
def test_every_module_lists_its_public_names(path: Path) -> None:
    if path.name == "__main__.py":
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    targets = [
        target.id
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    ]
    assert "__all__" in targets


def test_nothing_is_called_utils() -> None:
    parts = {part for path in [*PYTHON_FILES, *C_FILES] for part in path.with_suffix("").parts}
    assert not parts & {"util", "utils", "helper", "helpers", "misc", "common"}


# ---- the package's own surface ------------------------------------------------------------------


def test_public_names_are_what_they_say() -> None:
    for name in pyaclnn.__all__:
        assert getattr(pyaclnn, name) is not None


def test_public_names_are_declared_for_type_checkers_and_at_run_time_alike() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {a.name for node in block.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert typed == set(pyaclnn.__all__) - {"__version__"}


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
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in PYTHON_FILES
        if path.name != "__main__.py"
    ]
    assert len(modules) > 30
    code = (
        f"import importlib; [importlib.import_module(m) for m in {modules!r}];"
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
