# SPDX-License-Identifier: Apache-2.0
"""Which module of the package imports which, read from the source."""

from __future__ import annotations

import ast
import functools
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pyaclnn"


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


@functools.cache
def imports_of(module: str) -> frozenset[str]:
    """The modules of the package that a module imports; compiled ones among them."""
    found = set()
    for name in names_imported(tree_of(MODULES[module]), package_of(module)):
        if name in MODULES or name == "pyaclnn._binding":
            found.add(name)
        elif name.startswith("pyaclnn."):
            found.add(name.rpartition(".")[0])
    return frozenset(found - {module, "pyaclnn"})


def circle(graph: Mapping[str, Collection[str]]) -> list[str]:
    """One circle of imports, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []
