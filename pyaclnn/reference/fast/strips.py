# SPDX-License-Identifier: Apache-2.0
"""Programs on matrices, which C runs on one short strip of a row after the other.

A strip stays in the processor's first cache from the first statement to the last, so temporary
results never reach the memory, and float16 and bfloat16 are float32 only there. Threads share a
matrix: each takes a band of its rows or, if there are few, a panel of its columns.

A statement has at most two operands: ``a = x - mean``. Its names are

* strips: ``a`` and ``b``;
* matrices and vectors, from which and into which strips are copied;
* sums over rows, a number for each column;
* all others: numbers of a row, in float64.

``total += a`` and ``total += a * b`` add up a strip: to a number of its row, or column by column to
a sum over rows. A statement with an operand that is None is left out. What follows a statement on
numbers alone needs all of the row before it, and so is a further pass over the row.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic._narrow_floats import ffi, lib
from pyaclnn.reference.arithmetic.precision import BFLOAT16, FLOAT16, FLOAT32, wide
from pyaclnn.reference.fast.workers import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Operand", "is_worth_strips", "run"]

KINDS = {FLOAT32: 0, FLOAT16: 1, BFLOAT16: 2}
# Smaller tensors are computed sooner by their definitions.
FEWEST_ELEMENTS = 16384
# The elements of a band or panel at least, and how many there are at most.
PIECE_ELEMENTS = 65536
PIECES = 16
# Each band has sums over rows of its own, so it has at least so many rows, and no more columns.
BAND_ROWS, BAND_COLUMNS = 8, 65536
# Without sums a row is enough: the cache still has it at the next pass. Fewer rows than these would
# leave threads without work.
FEWEST_ROWS = 8
# The columns of a panel are a multiple of this, so that its rows begin at lines of the cache.
PANEL_COLUMNS = 64

_STATEMENT = re.compile(r"(\w+) (\+?=) (?:(rsqrt) )?(\w+)(?: ([-+*/]) (\w+))?")
_STRIPS = {"a": 0, "b": 1}
_LEFT, _RIGHT = 2, 3
"""Strips for operands of a statement that are no strips."""
_LOAD, _STORE, _ARITHMETIC, _WITH_NUMBER, _ADD_UP, _ADD_COLUMNS, _ON_NUMBERS = 0, 1, 2, 5, 8, 10, 12
_ROOT = _ON_NUMBERS + 4


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

    def placed(self) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Return an array that C can read, and how it reads it."""
        array = self.array
        # Each row would widen all of a vector once more; numbers are repeated in float32 alone.
        if array.dtype not in KINDS or array.ndim == 1 or self.repeat > 1:
            array = wide(array, FLOAT32)
        size = array.itemsize
        if not array.flags.aligned or array.strides[-1] != size or array.strides[0] % size:
            array = np.ascontiguousarray(array)
        stride = array.strides[0] // size if array.ndim > 1 else 0
        address = array.__array_interface__["data"][0]
        return array, (KINDS[array.dtype], address, stride, self.period, self.repeat)


class Pass(NamedTuple):
    """Statements on numbers of a row, and then on its strips.

    Attributes:
        steps: A row of four integers for each step.
        totals: The numbers of a row that it adds up.
    """

    steps: list[tuple[int, int, int, int]]
    totals: set[int]

    @property
    def on_numbers(self) -> bool:
        """True before the first statement on strips."""
        return not self.steps or self.steps[-1][0] >= _ON_NUMBERS


class Program(NamedTuple):
    """The passes of a program, and the numbers of a row by name."""

    passes: list[Pass]
    registers: dict[str, int]


class Assembler(NamedTuple):
    """A program that is made of statements one by one."""

    operands: tuple[str, ...]
    sums: tuple[str, ...]
    program: Program

    def add(self, to: str, assignment: str, root: str, left: str, sign: str, right: str) -> None:
        """Add a statement, of its parts."""
        passes, strips = self.program.passes, {*_STRIPS, *self.operands}
        if not strips & {to, left}:
            if not passes[-1].on_numbers:
                passes.append(Pass([], set()))
            code = _ROOT if root else _ON_NUMBERS + "+-*/".index(sign)
            step = code, self._number(to), self._number(left), self._number(right or left)
        elif assignment == "+=":
            first = self._strip(left, _LEFT)
            second = first if right in (None, left) else self._strip(right, _RIGHT)
            is_sum = to in self.sums
            code = (_ADD_COLUMNS if is_sum else _ADD_UP) + (right is not None)
            step = code, self.sums.index(to) if is_sum else self._number(to), first, second
            passes[-1].totals.update(() if is_sum else {step[1]})
        elif to in self.operands:
            step = _STORE, self.operands.index(to), self._strip(left, _LEFT), 0
        else:
            first = self._strip(left, _STRIPS[to])
            if right is None:
                return
            is_strip = right in strips
            code = (_ARITHMETIC if is_strip else _WITH_NUMBER) + "+-*".index(sign)
            second = self._strip(right, _RIGHT) if is_strip else self._number(right)
            step = code, _STRIPS[to], first, second
        passes[-1].steps.append(step)

    def _number(self, name: str) -> int:
        """Return the place of a number of a row."""
        return self.program.registers.setdefault(name, len(self.program.registers))

    def _strip(self, name: str, room: int) -> int:
        """Return a strip, into which an operand is loaded."""
        if name in self.operands:
            step = _LOAD, room, self.operands.index(name), 0
            self.program.passes[-1].steps.append(step)
        return _STRIPS.get(name, room)


@functools.lru_cache(maxsize=256)
def assembled(
    text: str, operands: tuple[str, ...], sums: tuple[str, ...], absent: frozenset[str]
) -> Program:
    """Make steps of statements, without those that have an absent operand."""
    assembler = Assembler(operands, sums, Program([Pass([], set())], {}))
    for statement in text.strip().splitlines():
        found = _STATEMENT.fullmatch(statement.strip())
        if found is None:
            raise ValueError(f"{statement.strip()!r} is no statement of a program")
        to, assignment, root, left, sign, right = found.groups()
        if not absent & {to, left, right}:
            assembler.add(to, assignment, root, left, sign, right)
    return assembler.program


def is_worth_strips(tensor: ArrayLike) -> bool:
    """Return whether a tensor is large enough, and computed in float32."""
    array = np.asarray(tensor)
    return array.size >= FEWEST_ELEMENTS and array.dtype in KINDS


def run(
    text: str,
    shape: tuple[int, int],
    operands: Mapping[str, NDArray[Any] | Operand | None],
    numbers: Mapping[str, ArrayLike] | None = None,
    sums: Mapping[str, bool] | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Run a program on a matrix.

    Args:
        text: The program.
        shape: The rows and columns of the matrix, at least one each.
        operands: Matrices, and vectors of a number for each column, by name; None for each that
            there is not.
        numbers: Numbers for all rows, or for each, by name; ``columns`` is there by itself.
        sums: The names of sums over rows, and whether they are wanted.

    Returns:
        The numbers of the rows, (rows,) each, and the sums that are wanted, (columns,) each.
    """
    rows, columns = shape
    given = {name: value for name, value in operands.items() if value is not None}
    wanted = tuple(name for name, is_wanted in (sums or {}).items() if is_wanted)
    absent = frozenset({*operands, *(sums or {})} - {*given, *wanted})
    program = assembled(text, tuple(given), wanted, absent)
    placed = [Operand.placed(v if isinstance(v, Operand) else Operand(v)) for v in given.values()]
    pieces, bands = cut(rows, columns, bool(wanted))

    registers = np.zeros((1 if bands else len(pieces), rows, len(program.registers)))
    for name, number in {"columns": columns, **(numbers or {})}.items():
        if name in program.registers:
            registers[..., program.registers[name]] = number
    totals = [np.zeros((len(wanted), piece[3] - piece[2])) for piece in pieces]
    runner = Runner(np.array([row for _, row in placed], np.int64), registers, totals)
    passes = [program.passes] if bands else [[one] for one in program.passes]
    for some in passes:
        runner.run([step for one in some for step in one.steps], pieces)
        merged = sorted(set[int]().union(*(one.totals for one in some)))
        if merged and not bands:
            registers[..., merged] = np.add.reduce(registers[..., merged], axis=0)
    whole = functools.reduce(np.add, totals) if bands else np.concatenate(totals, axis=1)
    found = {name: registers[0, :, place] for name, place in program.registers.items()}
    return found | dict(zip(wanted, whole, strict=True))


class Runner(NamedTuple):
    """The memory of a program that runs.

    Attributes:
        operands: A row of integers for each operand.
        registers: The numbers of rows, once for all bands or for each panel.
        sums: The sums over rows, for each piece.
    """

    operands: NDArray[np.int64]
    registers: NDArray[np.float64]
    sums: list[NDArray[np.float64]]

    def run(self, steps: list[tuple[int, int, int, int]], pieces: list[tuple[int, ...]]) -> None:
        """Run some steps on all pieces."""
        table = np.array(steps, np.int32)
        program = ffi.new(
            "struct program *",
            (
                ffi.from_buffer("struct step[]", table),
                len(steps),
                ffi.from_buffer("struct operand[]", self.operands),
                self.registers.shape[2],
            ),
        )

        def work(place: int) -> None:
            arrays = self.registers[place % len(self.registers)], self.sums[place]
            pointers = [ffi.from_buffer("double[]", array) for array in arrays]
            lib.run_strips(program, ffi.new("struct piece *", (*pieces[place], *pointers)))

        spread(work, range(len(pieces)))


def cut(rows: int, columns: int, has_sums: bool) -> tuple[list[tuple[int, ...]], bool]:
    """Cut a matrix into bands or panels, whatever the number of processors.

    Returns:
        The first row and the last, the first column and the last of each; whether it is a band.
    """
    count = max(1, min(PIECES, rows * columns // PIECE_ELEMENTS))
    if has_sums:
        in_bands = rows >= BAND_ROWS * count and columns <= BAND_COLUMNS
    else:
        in_bands = rows >= FEWEST_ROWS
    if count == 1 or in_bands:
        return [(*edges, 0, columns) for edges in spans(rows, count, 1)], True
    return [(0, rows, *edges) for edges in spans(columns, count, PANEL_COLUMNS)], False


def spans(size: int, count: int, unit: int) -> Iterator[tuple[int, int]]:
    """Cut a range evenly, at multiples of a unit."""
    units = -(-size // unit)
    count = min(count, units)
    for place in range(count):
        yield units * place // count * unit, min(size, units * (place + 1) // count * unit)
