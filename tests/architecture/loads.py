# SPDX-License-Identifier: Apache-2.0
"""Modules that a source loads by name: by ``import_module``, from tables, and as programs."""

from __future__ import annotations

import ast
import functools
import itertools
import re
from importlib.util import resolve_name
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ANY = r"[\w.]+"
LOADERS = {"import_module", "__import__", "find_spec", "run_module"}
RELATIVE_TABLES = {"public_names": 2}
"""Functions that load modules below their caller, and which argument lists them."""
PROGRAM = re.compile(r"(?<!\S)-m (pyaclnn[.\w]*)")


class Load(NamedTuple):
    """One place that loads modules by name."""

    written: str
    """The name as the source has it."""

    pattern: str
    """A regular expression that the name of each module it may load matches."""

    @property
    def is_readable(self) -> bool:
        """Report if the source shows where the name begins."""
        return not self.pattern.startswith(ANY)


@functools.cache
def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a source, which several readers go through."""
    return tuple(ast.walk(tree))


def bindings(tree: ast.AST) -> Iterator[tuple[str, ast.expr, bool]]:
    """Yield each bound name, its expression, and if it is bound to the elements of that."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Assign):
            yield from ((t.id, node.value, False) for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            if isinstance(node.target, ast.Name) and node.value:
                yield node.target.id, node.value, False
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            yield node.target.id, node.iter, True


class Strings:
    """The strings that the expressions of a module may be, as regular expressions."""

    def __init__(self, tree: ast.AST, module: str, package: str) -> None:
        self._known = {"__name__": module, "__package__": package}
        self._bound: dict[str, list[tuple[ast.expr, bool]]] = {}
        for name, value, is_element in bindings(tree):
            self._bound.setdefault(name, []).append((value, is_element))
        self._open: set[str] = set()

    def of(self, node: ast.expr) -> set[str]:
        """Return a pattern for each string that an expression may be."""
        found = {ANY}
        match node:
            case ast.Constant(value=str(text)):
                found = {re.escape(text)}
            case ast.Name(id=name):
                found = self._of_name(name, self._value)
            case ast.FormattedValue(value=part):
                found = self.of(part)
            case ast.Subscript(value=table):
                found = self.elements(table)
            case ast.JoinedStr(values=parts):
                found = self._joined(parts)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                found = self._joined([left, right])
            case ast.IfExp(body=one, orelse=other):
                found = self.of(one) | self.of(other)
        return found

    def elements(self, node: ast.expr) -> set[str]:
        """Return a pattern for each string that a table may hold."""
        match node:
            case ast.Name(id=name):
                return self._of_name(name, self._table)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) if parts:
                return set().union(*map(self.of, parts))
            case ast.Dict(values=parts) if parts:
                return set().union(*map(self.of, parts))
        return {ANY}

    def _table(self, value: ast.expr, is_element: bool) -> set[str]:
        return {ANY} if is_element else self.elements(value)

    def _value(self, value: ast.expr, is_element: bool) -> set[str]:
        return self.elements(value) if is_element else self.of(value)

    def _of_name(self, name: str, read: Callable[[ast.expr, bool], set[str]]) -> set[str]:
        if name in self._known:
            return {re.escape(self._known[name])}
        if name in self._open or name not in self._bound:
            return {ANY}
        self._open.add(name)
        found = set().union(*(read(*bound) for bound in self._bound[name]))
        self._open.discard(name)
        return found

    def _joined(self, parts: Iterable[ast.expr]) -> set[str]:
        return {"".join(texts) for texts in itertools.product(*map(self.of, parts))}


@functools.cache
def loads(tree: ast.AST, module: str, package: str) -> tuple[Load, ...]:
    """Return what a module loads by name, and the modules that its other strings name.

    Args:
        tree: Its source.
        module: Its name.
        package: The package that it lies in.
    """
    return tuple(_loads(tree, module, package))


def _loads(tree: ast.AST, module: str, package: str) -> Iterator[Load]:
    strings, passive = Strings(tree, module, package), set(texts_for_people(tree))
    for node in nodes_of(tree):
        if isinstance(node, ast.Call):
            yield from called(node, strings, package)
        if isinstance(node, (ast.List, ast.Tuple, ast.Call)):
            yield from programs(node.args if isinstance(node, ast.Call) else node.elts, strings)
        if node in passive or not isinstance(node, (ast.Constant, ast.JoinedStr)):
            continue
        for pattern in strings.of(node):
            if pattern.startswith(r"pyaclnn\.") and ANY not in pattern:
                yield Load(ast.unparse(node), pattern)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for name in PROGRAM.findall(node.value):
                yield Load(ast.unparse(node), started(re.escape(name)))


def texts_for_people(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield docstrings, and what is assigned to a ``__module__``."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Expr) or (
            isinstance(node, ast.Assign)
            and any(
                isinstance(target, ast.Attribute) and target.attr == "__module__"
                for target in node.targets
            )
        ):
            yield node.value


def called(node: ast.Call, strings: Strings, package: str) -> Iterator[Load]:
    """Yield what a call loads, if it is one of a loader."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in LOADERS and node.args:
        home = strings.of(node.args[1]) if len(node.args) == 2 else {re.escape(package)}
        for pattern in strings.of(node.args[0]):
            yield from (Load(ast.unparse(node.args[0]), absolute(pattern, base)) for base in home)
    elif name in RELATIVE_TABLES and len(node.args) > RELATIVE_TABLES[name]:
        table = node.args[RELATIVE_TABLES[name]]
        for pattern in strings.elements(table):
            yield Load(ast.unparse(table), absolute(rf"\.{pattern}", re.escape(package)))


def absolute(pattern: str, package: str) -> str:
    """Make the pattern of a relative name that of the whole name."""
    if not pattern.startswith(r"\."):
        return pattern
    if ANY in package:
        return ANY
    dots, rest = re.match(r"((?:\\\.)+)(.*)", pattern, re.DOTALL).groups()  # type: ignore[union-attr]
    base = resolve_name("." * (len(dots) // 2), package.replace("\\", ""))
    return re.escape(base) + r"\." + rest


def programs(values: list[ast.expr], strings: Strings) -> Iterator[Load]:
    """Yield the module that a command line starts: its name follows ``-m``."""
    for option, value in itertools.pairwise(values):
        if isinstance(option, ast.Constant) and option.value == "-m":
            for pattern in strings.of(value):
                yield Load(ast.unparse(value), started(pattern))


def started(pattern: str) -> str:
    """Return the pattern of the modules that ``python -m`` runs: of a package, its ``__main__``."""
    return rf"{pattern}(\.__main__)?"
