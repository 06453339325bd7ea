# SPDX-License-Identifier: Apache-2.0
"""Programs on matrices, which C runs on one short strip of a row after the other.

A strip stays in the processor's first cache from the first statement to the last, so temporary
results never reach the memory, and float16 and bfloat16 are float32 only there. Threads share a
matrix: each takes a band of its rows or, if there are few, a panel of its columns.

The names of a statement are

* strips: ``a`` and ``b``;
* matrices and vectors, which are read or written;
* sums over rows, a number for each column;
* all others: numbers of a row, in float64.

These are the statements; in place of ``+`` there may be ``-``, ``*`` or, between numbers, ``/``:

* ``a = b + x`` and ``a = b``; a result that is a matrix is written;
* ``a = (x - mean) * rstd`` and ``a = b * weight + bias``;
* ``total += a`` and ``total += a * b``: add up a strip, to a number of its row, or column by column
  to a sum over rows, in one pass only;
* ``total dot += a * b``: add up both ``a`` and ``a * b``;
* ``total squares += x - pivot``: add up differences and their squares in float64, which is exact if
  the pivot is a number of the row, or of the column;
* ``pivot = first x``: the first number of the row, or 0 if it is not finite;
* ``rstd = rsqrt sum``, one divided by the root of a number.

An operand that is None leaves its left one alone: ``a = x * None`` is ``a = x``. What is written to
None is left out. What follows a statement on numbers alone needs all of the row before it, and so
is a further pass over the row. A number that is not given is 0 at first.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic._narrow_floats import ffi, lib
from pyaclnn.reference.arithmetic.precision import BFLOAT16, FLOAT16, FLOAT32, wide
from pyaclnn.reference.fast.workers import threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Operand", "is_worth_strips", "run"]

KINDS = {FLOAT32: 0, FLOAT16: 1, BFLOAT16: 2}
_DOUBLE = 3  # the kind of a sum in float64
# Smaller tensors are computed sooner by their definitions.
FEWEST_ELEMENTS = 16384
# The elements of a band or panel at least, and how many there are at most.
PIECE_ELEMENTS = 65536
PIECES = 16
# Each band has sums over rows of its own, so it has at least so many rows, and no more columns.
# Without sums a row is enough: the cache still has it at the next pass. Panels are for fewer rows
# than pieces: they read the vectors of the columns once for all rows.
BAND_ROWS, BAND_COLUMNS = 8, 16384
# So many columns of all rows are computed before the next.
BLOCK_COLUMNS = 4096
# The columns of a panel are a multiple of this, so that its rows begin at lines of the cache.
PANEL_COLUMNS = 64

_STATEMENT = re.compile(
    r"(\w+)(?: (\w+))? (\+?=) (?:(rsqrt|first) )?\(?(\w+)"
    r"(?: ([-+*/]) (\w+)\)?)?(?: ([+*]) (\w+))?"
)
_STRIPS = {"a": 0, "b": 1}
_MOVE, _ARITHMETIC, _WITH_NUMBER, _STANDARDIZE, _SCALE = 0, 1, 4, 7, 8
_ADD_UP, _ADD_COLUMNS, _ON_NUMBERS, _ROOT, _FIRST = 9, 13, 17, 21, 22


class Operand(NamedTuple):
    """A matrix or vector that a program reads or writes.

    Attributes:
        array: Its numbers, of one axis or two.
        period: The rows after which a row of numbers is that of the first again; 0 if none is.
        repeat: The columns that each number is for.
    """

    array: NDArray[Any]
    period: int = 0
    repeat: int = 1

    def placed(self, rows: int) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Return an array that C can read, and how it reads it for a matrix of some rows."""
        array = self.array
        # Each row would widen all of a vector once more; numbers are repeated in float32 alone.
        is_often_read = array.ndim == 1 and rows >= PIECES
        if array.dtype not in KINDS or is_often_read or self.repeat > 1:
            array = wide(array, FLOAT32)
        size = array.itemsize
        if not array.flags.aligned or array.strides[-1] != size or array.strides[0] % size:
            array = np.ascontiguousarray(array)
        stride = array.strides[0] // size if array.ndim > 1 else 0
        address = array.__array_interface__["data"][0]
        return array, (KINDS[array.dtype], address, stride, self.period, self.repeat)


class Program(NamedTuple):
    """The steps of a program.

    Attributes:
        steps: An array of them in C.
        length: Their number.
        registers: The places of the numbers of a row, by name.
        has_numbers: True if any step is on these alone.
    """

    steps: Any
    length: int
    registers: dict[str, int]
    has_numbers: bool


class Assembler(NamedTuple):
    """A program that is made of statements one by one.

    Attributes:
        places: The places of strips and operands by name.
        sums: The names of sums over rows.
        absent: The names that are None.
        steps: Five integers for each step.
        registers: As of a `Program`.
    """

    places: dict[str, int]
    sums: tuple[str, ...]
    absent: frozenset[str]
    steps: list[tuple[int, ...]]
    registers: dict[str, int]

    def add(self, statement: str) -> None:
        """Add a statement."""
        found = _STATEMENT.fullmatch(statement)
        if found is None:
            raise ValueError(f"{statement!r} is no statement of a program")
        to, second, assignment, function, left, sign, right, sign_2, last = (
            None if part in self.absent else part for part in found.groups()
        )
        if right is None:
            sign, right, sign_2, last = sign_2, last, None, None
        if found[2] and not second:
            right = None
        if to is None:
            to, second = second, None
        if to is None or left is None:
            return
        if function:
            self._step(_ROOT if function == "rsqrt" else _FIRST, to, left)
        elif assignment == "+=":
            self._add_up(to, second, left, sign, right)
        elif not self.places.keys() & {to, left}:
            self._step(_ON_NUMBERS + "+-*/".index(sign or ""), to, left, right)
        else:
            self._compute(to, left, (sign or "") + (sign_2 or "" if last else ""), right, last)

    def _add_up(
        self, to: str, second: str | None, left: str, sign: str | None, right: str | None
    ) -> None:
        """Add a step for a sum, a sum of products, both, or moments."""
        if second and self._place(to) + 1 != self._place(second):
            raise ValueError(f"{second!r} does not come next to {to!r}")
        code = 0 if right is None else 3 if sign == "-" else 1 + bool(second)
        self._step(code + (_ADD_COLUMNS if to in self.sums else _ADD_UP), to, left, right)

    def _compute(self, to: str, left: str, signs: str, right: str | None, last: str | None) -> None:
        """Add a step that computes a strip or a matrix, or two if there is no such step."""
        on_strips = len(self.places.keys() & {right, last})
        if right is None:
            self._step(_MOVE, to, left)
        elif last is None:
            code = _ARITHMETIC if on_strips else _WITH_NUMBER
            self._step(code + "+-*".index(signs[0]), to, left, right)
        elif signs == "-*" and not on_strips:
            self._step(_STANDARDIZE, to, left, right, last)
        elif signs == "*+" and on_strips == len({right, last}):
            self._step(_SCALE, to, left, right, last)
        else:
            strip = to if to in _STRIPS else left
            if strip not in _STRIPS or last == strip:
                raise ValueError(f"{to!r} needs a strip between two steps")
            self._compute(strip, left, signs[0], right, None)
            self._compute(to, strip, signs[1], last, None)

    def _step(self, code: int, to: str, *operands: str | None) -> None:
        places = [self._place(name) for name in operands]
        self.steps.append((code, self._place(to), *places, *[0] * (3 - len(places))))

    def _place(self, name: str | None) -> int:
        """Return the place of a strip, an operand, a sum or a number of a row."""
        if name is None:
            return 0
        if name in self.sums:
            return self.sums.index(name)
        known = self.places.get(name)
        return self.registers.setdefault(name, len(self.registers)) if known is None else known


@functools.lru_cache(maxsize=256)
def assembled(
    text: str, operands: tuple[str, ...], sums: tuple[str, ...], absent: frozenset[str]
) -> Program:
    """Make steps of statements, without what is absent."""
    names = (*_STRIPS, *operands)
    places = {name: place for place, name in enumerate(names)}
    assembler = Assembler(places, sums, absent, [], {})
    for statement in text.strip().splitlines():
        assembler.add(statement.strip())
    steps = assembler.steps
    has_numbers = any(code >= _ON_NUMBERS for code, *_ in steps)
    return Program(ffi.new("struct step[]", steps), len(steps), assembler.registers, has_numbers)


def is_worth_strips(tensor: ArrayLike) -> bool:
    """Return whether a tensor is large enough, and computed in float32."""
    array = np.asarray(tensor)
    return array.size >= FEWEST_ELEMENTS and array.dtype in KINDS


def run(
    text: str,
    shape: tuple[int, int],
    operands: Mapping[str, NDArray[Any] | Operand | None],
    numbers: Mapping[str, ArrayLike] | None = None,
    sums: Mapping[str, NDArray[Any] | None] | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Run a program on a matrix.

    Args:
        text: The program.
        shape: The rows and columns of the matrix, at least one each.
        operands: Matrices, and vectors of a number for each column, by name; None for each that
            there is not.
        numbers: Numbers for all rows, or for each, by name; ``columns`` is there by itself.
        sums: float32 or float64 arrays of a number for each column, which sums over rows are
            written to; None for each that is not wanted.

    Returns:
        The numbers of the rows, (rows,) each.
    """
    rows, columns = shape
    given = {name: value for name, value in operands.items() if value is not None}
    wanted = {name: array for name, array in (sums or {}).items() if array is not None}
    absent = frozenset({*operands, *(sums or {})} - {*given, *wanted})
    program = assembled(text, tuple(given), tuple(wanted), absent)
    placed = [(v if isinstance(v, Operand) else Operand(v)).placed(rows) for v in given.values()]
    pieces, count, bands = cut(rows, columns, bool(wanted), PIECE_ELEMENTS, PANEL_COLUMNS)

    registers = np.zeros((1 if bands else count, rows, len(program.registers)))
    for name, number in {"columns": columns, **(numbers or {})}.items():
        if name in program.registers:
            registers[..., program.registers[name]] = number
    partial = np.empty((count, len(wanted), columns)) if bands else None
    if partial is None:
        totals = [sum_operand(array) for array in wanted.values()]
    else:
        totals = [sum_operand(partial[:, place]) for place in range(len(wanted))]
    block = columns if bands and program.has_numbers else BLOCK_COLUMNS
    scratch = np.empty(count * (len(wanted) * (block + 8) * 3 // 2 + 1))
    table = ffi.new("struct operand[]", [row for _, row in placed] + totals)
    job = ffi.new(
        "struct job *",
        (
            program.steps,
            table,
            table + len(placed),
            pieces,
            ffi.from_buffer("double[]", registers),
            program.length,
            len(placed),
            len(totals),
            count,
            len(program.registers),
            rows,
            bands,
            block,
            ffi.from_buffer("double[]", scratch),
        ),
    )
    lib.run_strips(job, threads() if count > 1 else 1)
    if partial is not None:
        for place, array in enumerate(wanted.values()):
            array[...] = np.add.reduce(partial[:, place], axis=0)
    return {name: registers[0, :, place] for name, place in program.registers.items()}


def sum_operand(array: NDArray[Any]) -> tuple[int, ...]:
    """Return how C writes a sum over rows, or one for each band."""
    kind = KINDS.get(array.dtype, _DOUBLE)
    stride = array.strides[0] // array.itemsize if array.ndim > 1 else 0
    return kind, array.__array_interface__["data"][0], stride, 0, 1


@functools.lru_cache(maxsize=256)
def cut(
    rows: int, columns: int, has_sums: bool, piece_elements: int, panel_columns: int
) -> tuple[Any, int, bool]:
    """Cut a matrix into bands or panels, whatever the number of processors.

    Args:
        rows: The rows of the matrix.
        columns: Its columns.
        has_sums: True if a program adds up rows.
        piece_elements: The elements of a band or panel at least.
        panel_columns: Divisor of the number of columns of a panel.

    Returns:
        The pieces as C has them, how many there are, and whether they are bands.
    """
    count = max(1, min(PIECES, rows * columns // piece_elements))
    has_rows = rows >= (BAND_ROWS * count if has_sums else PIECES)
    in_bands = count == 1 or (has_rows and not (has_sums and columns > BAND_COLUMNS))
    if in_bands:
        pieces = [(*edges, 0, columns) for edges in spans(rows, count, 1)]
    else:
        pieces = [(0, rows, *edges) for edges in spans(columns, count, panel_columns)]
    return ffi.new("struct piece[]", pieces), len(pieces), in_bands


def spans(size: int, count: int, unit: int) -> Iterator[tuple[int, int]]:
    """Cut a range evenly, at multiples of a unit."""
    units = -(-size // unit)
    count = min(count, units)
    for place in range(count):
        yield units * place // count * unit, min(size, units * (place + 1) // count * unit)
