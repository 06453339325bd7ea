# SPDX-License-Identifier: Apache-2.0
"""Rows of `numpy.txt`: ``Names: types expression [parameters that may be NULL]``.

Names are those of C without ``aclnn``, or behind ``=`` whole ones; one that ends in ``*`` has
results that may be shorter than their tensors. An expression names C parameters, without ``Ref``
or ``Optional`` if it likes, and functions. Parameters in brackets are None for operators of the
row that lack them; those behind ``!`` must be NULL, the others may be, except those behind ``?``. A
row goes on in lines that begin with a space. Types are a word of `TYPES`, or nothing.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from pyaclnn.facts.operators.catalogue import LazyTable, catalogue
from pyaclnn.reference.kernels.kernel import short_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["TYPES", "Row", "function_of", "missing", "rows"]

_UFUNCS: Final[Mapping[type[ast.operator], np.ufunc]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
}
_EXACT: Final = {*_UFUNCS.values(), np.sqrt, np.negative, np.absolute}
"""Functions whose bits are the same by each loop of NumPy, also in the place of an input."""
TYPES: Final = ("common", "real", "truth", "raw")
"""Words for the types in which a row of NumPy computes; `numpy.txt` explains them."""
_ROW: Final = re.compile(
    rf"[A-Za-z0-9=]+(?P<shrinks>\*?): (?:(?P<types>{'|'.join(TYPES)}) )?(?P<text>.*?)"
    r"(?: \[(?P<null>[\w!? ]+)\])?"
)
_FOLDER: Final = __file__.rpartition("/")[0]


class Row(NamedTuple):
    """The expression of an operator.

    Attributes:
        text: An expression of C's parameter names and of functions.
        null: Parameters that may be NULL although their C names do not say so.
        shrinks: True if results may be shorter than the tensors they are written to.
        types: A word of `TYPES`, or nothing.
        refused: Those of ``null`` that must be NULL.
        lacked: Parameters that some operators of the row do not have.
    """

    text: str
    null: tuple[str, ...]
    shrinks: bool
    types: str = ""
    refused: tuple[str, ...] = ()
    lacked: tuple[str, ...] = ()


@functools.cache
def rows() -> Mapping[str, Row]:
    """Return the rows of `numpy.txt`, by the C names of operators."""
    split = (line.partition(": ") for line in _lines("numpy"))
    words = ((word, text) for names, _, text in split for word in names.split())
    return LazyTable({_whole(word): f"{word}: {text}" for word, text in words}, _row)


def _row(line: str) -> Row:
    match: Any = _ROW.fullmatch(line)  # tests look every row up
    words = (match["null"] or "").split()
    null = tuple(word.lstrip("!") for word in words if word[0] != "?")
    refused = tuple(word[1:] for word in words if word[0] == "!")
    lacked = tuple(word.lstrip("!?") for word in words)
    return Row(match["text"], null, match["shrinks"] == "*", match["types"] or "", refused, lacked)


@functools.cache
def missing() -> Mapping[str, str]:
    """Return the reasons why operators have no kernel, by the C names of operators."""
    pairs = (line.split(": ") for line in _lines("missing") if line)
    return {_whole(name): reason for reason, names in pairs for name in names.split()}


def _lines(table: str) -> list[str]:
    """Return the rows of a file, each in one line."""
    with open(f"{_FOLDER}/{table}.txt", encoding="utf-8") as file:  # noqa: PTH123  # pathlib is dear
        text = file.read()
    return [s for s in re.sub(r"\n +", " ", text).splitlines() if not s.startswith("#")]


def _whole(name: str) -> str:
    """Return the C name of an operator of a row."""
    return name[1:] if name.startswith("=") else f"aclnn{name.rstrip('*')}"


def _parameter_names(name: str) -> frozenset[str]:
    """Return the names that the row of an operator may use for its parameters."""
    parameters = catalogue()[name].parameters
    return frozenset(short for parameter in parameters for short in short_names(parameter.name))


def function_of(name: str, row: Row, function_named: Callable[[str], Any]) -> Callable[..., Any]:
    """Compile an expression into a function of the parameters that it names.

    Args:
        name: The C name of the operator.
        row: The expression.
        function_named: Returns the function of a name that is no parameter.
    """
    own = _parameter_names(name)
    refused = ", ".join(f"{each}={each}" for each in row.refused if each in own)
    expression = f"without({refused}) or ({row.text})" if refused else row.text
    tree = ast.parse(expression, mode="eval")
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    free = {node.id for node in names} - bound
    functions = {each: None if each in row.lacked else function_named(each) for each in free - own}
    listed = "".join(f", {each}{'=None' * (each in row.null)}" for each in sorted(free & own))
    signature = f"lambda {'*' * bool(listed)}{listed}"
    function: Callable[..., Any] = eval(f"{signature}: {expression}", functions)  # noqa: S307 (our own)
    named = inspect.signature(function)
    if filling := _filling(tree.body, functions, row.types):
        text = f"{signature}{'' if listed else '*'}, into=None: {filling}"
        function = eval(text, functions)  # noqa: S307 (as above)
        vars(function)["fills"] = True
    vars(function)["__signature__"] = named
    return function


def _filling(top: ast.expr, functions: dict[str, Any], types: str) -> str | None:
    """Return an expression that writes its result ``into`` an array, or None.

    Its last step is an exact ufunc on operands of the result's type, or a function that takes
    ``into``.
    """
    is_typed = types in ("common", "real")
    if is_typed and isinstance(top, ast.BinOp) and (ufunc := _UFUNCS.get(type(top.op))):
        functions[f"_{ufunc.__name__}"] = ufunc
        return f"_{ufunc.__name__}({ast.unparse(top.left)}, {ast.unparse(top.right)}, into)"
    called = functions.get(getattr(getattr(top, "func", None), "id", ""))
    if is_typed and isinstance(called, np.ufunc) and called in _EXACT:
        return f"{ast.unparse(top)[:-1]}, out=into)"
    takes_it = "into" in getattr(called, "__annotations__", ())
    return f"{ast.unparse(top)[:-1]}, into=into)" if takes_it else None
