# SPDX-License-Identifier: Apache-2.0
"""Mutations of a source: comparisons, arithmetic, constants, conditions and returned values."""

from __future__ import annotations

import ast
import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SWAPPED = "< <=  > >=  == !=  + -  and or  && ||  True False  true false  | &  << >>"
OTHER = dict(pair.split() for pair in SWAPPED.split("  "))
OTHER |= {new: old for old, new in OTHER.items()}
OTHER |= {"*": "+", "**": "*", "//": "*", "/": "*", "%": "+"}
OTHER |= {"is": "is not", "is not": "is", "in": "not in", "not in": "in"}
"""Replacements of tokens."""

PYTHON_OPERATOR = re.compile(
    r"is not|not in|\b(?:is|in|and|or)\b|<<|>>|[<>=!]=|//|\*\*|[<>+\-*/%&|]"
)
C_TOKEN = re.compile(
    r"(?<= )(?:<<|>>|&&|\|\||[<>=!]=|[<>+\-*/%&|])(?= )|\btrue\b|\bfalse\b"
    r"|(?<=[\w)\]] [<>+\-] )\d+\b|(?<=[=!<>]= )\d+\b|(?<=return )\d+(?=;)|(?<=[( ])!(?=\w)"
)
C_TEXT = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE
)


class Mutation(NamedTuple):
    """One small change of one file."""

    file: str
    """The path below the root of the tree."""

    start: int
    """The first character that is replaced."""

    old: str
    new: str

    def apply(self, source: str) -> str:
        """Return the changed source."""
        return source[: self.start] + self.new + source[self.start + len(self.old) :]

    def lines(self, source: str) -> tuple[int, str, str]:
        """Return the number of the changed line, and its code before and after."""
        begin = source.rfind("\n", 0, self.start) + 1
        line, _, _ = source[begin:].partition("\n")
        changed, _, _ = self._replace(start=self.start - begin).apply(line).partition("\n")
        before, after = (text.partition("  # ")[0].strip() for text in (line, changed))
        return source.count("\n", 0, self.start) + 1, before, after


def mutations_of(file: str, source: str) -> Iterator[Mutation]:
    """Yield every mutation of a source in Python or C."""
    found = _Python(source).mutations() if file.endswith(".py") else _in_c(source)
    yield from (Mutation(file, start, old, new) for start, old, new in found)


def _in_c(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield what can be changed in the bodies of functions."""
    code = C_TEXT.sub(lambda text: re.sub(r"[^\n]", " ", text[0]), source)
    for token in C_TOKEN.finditer(code):
        line = code[code.rfind("\n", 0, token.start()) + 1 : token.start()]
        if line.startswith("    ") and not re.match(r"\s+(static )?const\b", line):
            yield token.start(), token[0], _changed(token[0])


def _changed(token: str) -> str:
    return str(int(token) + 1) if token.isdigit() else OTHER.get(token, "")


class _Python:
    """A source in Python, and where its parts are."""

    def __init__(self, source: str) -> None:
        self._source, self._lines = source, [f"{line}\n" for line in source.split("\n")]
        self._starts = [0, *itertools.accumulate(map(len, self._lines))]

    def mutations(self) -> Iterator[tuple[int, str, str]]:
        """Yield what can be changed in functions and tables, but for annotations and texts."""
        for node in _running(ast.parse(self._source)):
            match node:
                case ast.Compare(left=left, comparators=others):
                    yield from self._between([left, *others])
                case ast.BoolOp(values=operands):
                    yield from self._between(operands)
                case ast.BinOp(left=left, right=right) if not _is_text(left) | _is_text(right):
                    yield from self._between([left, right])
                case ast.Constant(value=int(value)):
                    old = self._text(node)
                    yield self._begin(node), old, OTHER.get(old) or str(value + 1)
                case ast.UnaryOp(op=ast.Not()):
                    yield self._begin(node), "not ", ""
                case ast.Return(value=ast.expr() as value) if not _is_none(value):
                    yield self._begin(node), self._text(node), "return None"

    def _between(self, operands: list[ast.expr]) -> Iterator[tuple[int, str, str]]:
        for left, right in itertools.pairwise(operands):
            begin = self._begin(left) + len(self._text(left))
            text = re.sub(
                r"#.*", lambda c: " " * len(c[0]), self._source[begin : self._begin(right)]
            )
            if found := PYTHON_OPERATOR.search(text):
                yield begin + found.start(), found[0], OTHER[found[0]]

    def _begin(self, node: ast.expr | ast.stmt) -> int:
        return self._place(node.lineno, node.col_offset)

    def _text(self, node: ast.expr | ast.stmt) -> str:
        end = self._place(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self._source[self._begin(node) : end]

    def _place(self, line: int, column: int) -> int:
        """Return the character at a column, which is counted in bytes."""
        before = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(node: ast.expr) -> bool:
    """Report if an operand is a text, or None, as in a type that is one of several."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str))
    )


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node that runs when the package is used and is no annotation."""
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr | ast.Raise):
                continue
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            yield node
            yield from _running(node)
