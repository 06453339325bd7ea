# SPDX-License-Identifier: Apache-2.0
"""The import graph of the package, read from its source."""

from __future__ import annotations

import ast
import functools
import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

from .loads import loads, nodes_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pyaclnn"
STANDARD = sys.stdlib_module_names | {"tomllib"}
"""Modules of the standard library; that one since Python 3.11."""


def module_of(path: Path) -> str:
    """The dotted name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room_of(module: str) -> str:
    """The top-level part of the package to which a module belongs, e.g. ``ops``."""
    return module.split(".")[1] if "." in module else "__init__"


def package_of(module: str) -> str:
    """The package that a module lies in; of a package itself, its own name."""
    return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """The source of a file, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement at any depth; none is in an expression, which is what most nodes are."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.expr):
            yield node
            yield from statements(node)


def names_imported(source: str | ast.Module, package: str = "") -> Iterator[str]:
    """Every module, or name in a module, that a source imports, wherever it does so."""
    for node in statements(ast.parse(source) if isinstance(source, str) else source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join(
                [*(above if node.level else []), *([node.module] if node.module else [])]
            )
            yield from (f"{base}.{alias.name}" for alias in node.names)


def names_used(tree: ast.AST) -> Iterator[str]:
    """Every chain of attributes of the package itself, such as ``pyaclnn.mock.environment``."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Attribute):
            first = node.value
            while isinstance(first, ast.Attribute):
                first = first.value
            if isinstance(first, ast.Name) and first.id == "pyaclnn":
                yield ast.unparse(node)


def module_named(name: str) -> str:
    """The module of the package that a dotted name is in, its face if it is no other's."""
    while name not in MODULES and name != "pyaclnn._binding":
        name = name.rpartition(".")[0]
    return name


def imported_by(tree: ast.Module, module: str, package: str) -> frozenset[str]:
    """Return the modules of the package that a source imports, loads or starts.

    The face, ``pyaclnn`` itself, is one of them where the code asks for it. An import of what lies
    below it runs it as well, but asks for nothing that it has.

    Args:
        tree: The source.
        module: The name of its module.
        package: The package that it lies in.
    """
    written = {*names_imported(tree, package), *names_used(tree)}
    found = {module_named(name) for name in written if f"{name}.".startswith("pyaclnn.")}
    for load in loads(tree, module, package):
        if load.is_readable:
            found |= {name for name in MODULES if re.fullmatch(load.pattern, name)}
    return frozenset(found - {module})


@functools.cache
def imports_of(module: str) -> frozenset[str]:
    """Return what `imported_by` finds in a module of the package; compiled modules among it."""
    return imported_by(tree_of(MODULES[module]), module, package_of(module))


def circle(graph: Mapping[str, Collection[str]]) -> list[str]:
    """One circle of imports, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []
