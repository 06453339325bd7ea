# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays, of NumPy and the array API, by the operators of CANN that compute them."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ArrayFunction", "OperatorCall", "array_functions", "operators_to_call"]

_FILE: Final = f"{__file__.rpartition('.')[0]}.txt"
_TO_CALL: Final = "call"
_CALL: Final = re.compile(r"(\w+)\((.*)\)")


class OperatorCall(NamedTuple):
    """Call of an operator.

    Attributes:
        operator: The C name.
        arguments: The arguments in the order of C, without the result: the operands ``x1`` and
            ``x2``, options of reductions by their names, or constants.
    """

    operator: str
    arguments: tuple[str | float, ...]


class ArrayFunction(NamedTuple):
    """A function of one or two arrays.

    Attributes:
        names: Its names in NumPy and in the array API.
        result: The word for the dtype of its result, as the table explains them.
        on_arrays: The operator for arrays.
        on_right_number: The operator for an array and a number; None if there is none.
        on_left_number: The operator for a number and an array; None if there is none.
    """

    names: tuple[str, ...]
    result: str
    on_arrays: OperatorCall
    on_right_number: OperatorCall | None = None
    on_left_number: OperatorCall | None = None

    @property
    def operands(self) -> int:
        """The number of its operands."""
        return 1 + ("x2" in self.on_arrays.arguments)

    @property
    def is_reduction(self) -> bool:
        """True for a function that takes axes."""
        return "keepdims" in self.on_arrays.arguments


@functools.cache
def array_functions() -> Mapping[str, ArrayFunction]:
    """Return the functions by each of their names."""
    return {name: function for function in _functions() for name in function.names}


@functools.cache
def operators_to_call() -> Mapping[str, tuple[str, ...]]:
    """Return the C names of the operators of functions that a program calls by these names."""
    return {
        name: tuple(f"aclnn{operator}" for operator in calls)
        for names, result, *calls in _rows()
        for name in names.split()
        if result == _TO_CALL
    }


def _functions() -> Iterator[ArrayFunction]:
    for names, result, *calls in _rows():
        if result != _TO_CALL:
            yield ArrayFunction(tuple(names.split()), result, *map(_call, calls))


def _rows() -> Iterator[list[str]]:
    with open(_FILE, encoding="utf-8") as file:  # noqa: PTH123  # pathlib costs more than all this
        lines = file.read().splitlines()
    return (line.split(" | ") for line in lines if line and not line.startswith("#"))


def _call(text: str) -> OperatorCall:
    found = _CALL.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return OperatorCall(f"aclnn{found[1]}", tuple(map(_argument, found[2].split(", "))))


def _argument(word: str) -> str | float:
    if word.isidentifier():
        return "x1" if word == "x" else word
    return float(word) if "." in word else int(word)
