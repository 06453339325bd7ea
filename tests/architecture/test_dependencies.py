# SPDX-License-Identifier: Apache-2.0
"""Imports of the package are declared dependencies."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING

import pytest
from nox.project import load_toml

from .import_graph import MODULES, ROOT, STANDARD, imports_of, room_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# A plugin is loaded by what it plugs into, and who works on a cluster has what runs it.
HOSTS = {"pytest_plugin": {"pytest"}, "health": {"ray"}, "torch": {"torch"}}


@functools.cache
def declared() -> set[str]:
    """Return the distributions that every installation requires, by their normalised names."""
    plain = load_toml(ROOT / "pyproject.toml")["project"]["dependencies"]
    return {re.split(r"[^\w.-]", text, maxsplit=1)[0].lower().replace("_", "-") for text in plain}


def imported(tree: ast.AST) -> Iterator[str]:
    """The top-level names of the packages that a module loads when it runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):  # holds no statement
            continue
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]
        yield from imported(node)


@pytest.mark.exhaustive
def test_what_a_module_imports_is_a_dependency() -> None:
    homes, missing = packages_distributions(), {}
    for module, path in MODULES.items():
        names = set(imported(tree_of(path))) - STANDARD - {"pyaclnn", "_cffi_backend"}
        needed = {homes.get(name, [name])[0].lower().replace("_", "-") for name in names}
        missing[module] = needed - declared() - HOSTS.get(room_of(module), set())
    assert {module: names for module, names in missing.items() if names} == {}


def test_the_check_sees_a_lazy_import_and_no_typing_import() -> None:
    source = "if TYPE_CHECKING:\n    import a\ndef f():\n    from b.c import d\n    import e.f\n"
    assert list(imported(ast.parse(source))) == ["b", "e"]


def test_only_the_header_reader_imports_pcpp_and_it_is_loaded_on_demand() -> None:
    """Its last release is of 2021; whatever breaks it must break the reading of headers only."""
    trees = {module: tree_of(path) for module, path in MODULES.items()}
    users = {module for module, tree in trees.items() if "pcpp" in imported(tree)}
    assert users == {"pyaclnn.bindgen.reader"}
    at_once = {
        module
        for module, tree in trees.items()
        for node in ast.iter_child_nodes(tree)
        if isinstance(node, ast.ImportFrom) and node.module in {"reader", "pyaclnn.bindgen.reader"}
    }
    assert {room_of(module) for module in at_once} == {"bindgen"}


@pytest.mark.exhaustive
def test_without_pcpp_everything_is_imported_but_the_header_reader() -> None:
    modules = [m for m in MODULES if not f"{m}.".startswith("pyaclnn.bindgen.")]
    code = (
        "import importlib, sys; sys.modules['pcpp'] = None\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        "import numpy, pyaclnn; pyaclnn.select_backend('mock')\n"
        "x = numpy.ones((2, 4), 'f4'); print(pyaclnn.aclnn.add(x, x, alpha=1).sum())\n"
        "import pyaclnn.ascendc.package as package\n"
        "try: package._read([], None)\n"
        "except ModuleNotFoundError as error: print(error.name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["16.0", "pcpp.preprocessor"]


@pytest.mark.exhaustive
def test_of_what_builds_an_installation_has_what_it_runs() -> None:
    needed = {module for module in MODULES if room_of(module) != "bindgen"}
    while more := set[str]().union(*map(imports_of, needed)) & MODULES.keys() - needed:
        needed |= more
    [words] = re.findall(r"foreach module : \[(.+)\]", (ROOT / "meson.build").read_text("utf-8"))
    left_out = {f"pyaclnn.bindgen.{word}" for word in re.findall(r"'(\w+)'", words)}
    assert left_out == MODULES.keys() - needed - {"pyaclnn.bindgen"}
