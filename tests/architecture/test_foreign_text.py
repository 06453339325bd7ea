# SPDX-License-Identifier: Apache-2.0
"""Text of objects and exceptions of foreign code: nothing formats them but `text_of`, `repr_of`.

Nothing is listed: every handler and every ``repr`` of the package is read.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

import pytest

from .import_graph import MODULES, room_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FOREIGN = {
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, BaseException)
    and not issubclass(kind, (OSError, UnicodeError, Warning, RecursionError))
}
"""Exceptions that code of users raises too; not those of the system, which make their own text."""
FORMATS = {"str", "repr", "format", "print", "ascii"}


def caught(kind: ast.expr | None) -> set[str]:
    if isinstance(kind, ast.Tuple):
        return set().union(*map(caught, kind.elts))
    return {"BaseException" if kind is None else ast.unparse(kind)}


def formatted(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name that is formatted by ``str``, ``repr`` or an f-string, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue):
            yield ast.unparse(node.value), node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in FORMATS:
                yield from ((ast.unparse(given), node.lineno) for given in node.args)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            yield ast.unparse(node.right), node.lineno


def unguarded(tree: ast.AST) -> list[int]:
    """Return the lines that format an exception of foreign code by its own ``__str__``."""
    return [
        line
        for handler in ast.walk(tree)
        if isinstance(handler, ast.ExceptHandler) and caught(handler.type) & FOREIGN
        for name, line in formatted(handler)
        if handler.name is not None and name == handler.name
    ]


def test_exceptions_of_foreign_code_are_formatted_by_text_of() -> None:
    found = {module: unguarded(tree_of(path)) for module, path in MODULES.items()}
    assert {module: lines for module, lines in found.items() if lines} == {}


def calls_of_repr(tree: ast.AST) -> list[int]:
    """Return the lines that call ``repr``."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "repr"
    ]


def test_objects_of_callers_are_formatted_by_repr_of() -> None:
    own = {"pyaclnn.calling.example"}  # its values are the package's
    found = {
        module: calls_of_repr(tree_of(path))
        for module, path in MODULES.items()
        if room_of(module) in ("runtime", "calling")
    }
    assert {module for module, lines in found.items() if lines} == own


@pytest.mark.parametrize(
    "use", ["f'{error}'", "f'{error!r}'", "str(error)", "print(1, error)", "'%s' % error"]
)
@pytest.mark.parametrize("kind", ["Exception", "(OSError, ValueError)", "", "KeyError"])
def test_the_check_sees_each_form(kind: str, use: str) -> None:
    kind = f"{kind} as error" if kind else "BaseException as error"
    assert unguarded(ast.parse(f"try: f()\nexcept {kind}:\n    {use}")) == [3]
    assert unguarded(ast.parse(f"try: f()\nexcept OSError as error:\n    {use}")) == []
    guarded = use.replace("error", "text_of(error)")
    assert unguarded(ast.parse(f"try: f()\nexcept {kind}:\n    {guarded}")) == []
