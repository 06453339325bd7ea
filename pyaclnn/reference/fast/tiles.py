# SPDX-License-Identifier: Apache-2.0
"""A piece of a matrix that fits the processor's cache, and the sums over its rows and columns."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.narrow_floats import narrow, widen

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Tile", "add_columns", "row_dot"]

# BLAS adds shorter vectors in one thread, and so always in the same order.
DOT_COLUMNS = 8192
# Fewer columns are not worth a call of BLAS for each row.
FEWEST_DOT_COLUMNS = 64
# Rows are added in pairs, and pairs of pairs, this often before sums go on in float64.
FOLDS = 4

# A vector register that lies across two lines of the cache, in bytes, takes twice as long to load.
CACHE_LINE = 64

SINGLE = np.dtype(np.float32)
DOUBLE = np.dtype(np.float64)


class Memory(threading.local):
    """Buffers that a thread keeps from tile to tile and from call to call.

    Attributes:
        slots: Memory by name and type.
        views: The last shape that each slot was given, by name.
    """

    def __init__(self) -> None:
        self.slots: dict[tuple[str, np.dtype[Any]], NDArray[Any]] = {}
        self.views: dict[str, NDArray[Any]] = {}


kept = Memory()


def scratch(slot: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Uninitialized memory of the calling thread, the same again for the same slot and type."""
    view = kept.views.get(slot)
    if view is not None and view.shape == shape and view.dtype == dtype:
        return view
    size = math.prod(shape)
    memory = kept.slots.get((slot, dtype))
    if memory is None or memory.size < size:
        space = np.empty(size + CACHE_LINE // dtype.itemsize, dtype)
        start = -space.ctypes.data % CACHE_LINE // dtype.itemsize
        memory = kept.slots[slot, dtype] = space[start : start + size]
    view = kept.views[slot] = memory[:size].reshape(shape)
    return view


class Tile(NamedTuple):
    """Some rows and columns of a matrix, with the numbers in the type that arithmetic runs in.

    Attributes:
        rows: The rows.
        columns: The columns.
        dtype: The type of the arithmetic.
        spans_rows: Whether these are all columns of the matrix.
    """

    rows: slice
    columns: slice
    dtype: np.dtype[Any]
    spans_rows: bool

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start

    def scratch(self, slot: str) -> NDArray[Any]:
        """Uninitialized memory for this tile's shape; a slot's memory is shared by all tiles."""
        return scratch(slot, self.shape, self.dtype)

    def load(self, matrix: NDArray[Any], slot: str) -> NDArray[Any]:
        """Take this tile out of a matrix: a view, or a conversion into a slot's scratch."""
        return self._converted(matrix[self.rows, self.columns], slot)

    def of_columns(self, vector: NDArray[Any] | None, slot: str) -> NDArray[Any]:
        """Take this tile's columns out of a vector: a view or, as `load`, a conversion.

        None stands for ones.
        """
        if vector is not None:
            return self._converted(vector[self.columns], slot)
        ones = scratch(slot, self.shape[1:], self.dtype)
        ones.fill(1)
        return ones

    def of_rows(self, statistic: NDArray[Any]) -> NDArray[Any]:
        """Take this tile's rows out of one number a row."""
        return statistic[self.rows].astype(self.dtype, copy=False)

    def target(self, matrix: NDArray[Any], slot: str) -> NDArray[Any]:
        """Say where to compute what `store` shall put into this tile of a matrix."""
        return matrix[self.rows, self.columns] if matrix.dtype == self.dtype else self.scratch(slot)

    def store(self, matrix: NDArray[Any], result: NDArray[Any]) -> None:
        """Round what was computed in `target` to the matrix's type."""
        if matrix.dtype != self.dtype:
            narrow(result, matrix[self.rows, self.columns])

    def _converted(self, array: NDArray[Any], slot: str) -> NDArray[Any]:
        if array.dtype == self.dtype:
            return array
        out = scratch(slot, array.shape, self.dtype)
        if self.dtype == SINGLE:
            widen(array, out)
        else:
            np.copyto(out, array, casting="unsafe")
        return out


def row_dot(block: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Multiply each row by a vector, or by the same row of another block, and add up.

    Args:
        block: (rows, columns).
        other: (columns,) or (rows, columns).

    Returns:
        (rows, 1).
    """
    columns = block.shape[1]
    if columns < FEWEST_DOT_COLUMNS:
        sums: NDArray[Any] = np.einsum("ij,j->i" if other.ndim == 1 else "ij,ij->i", block, other)
        return sums[:, None]
    if columns > DOT_COLUMNS:
        count = -(-columns // DOT_COLUMNS)
        width = columns // count
        whole = count * width
        left = block[:, :whole].reshape(len(block), count, 1, width)
        right = other[..., :whole].reshape(*other.shape[:-1], count, width, 1)
        parts = np.matmul(left, right)[:, :, 0, 0]
        total = np.add.reduce(parts, axis=1, dtype=np.float64, keepdims=True)
        if whole < columns:
            total += row_dot(block[:, whole:], other[..., whole:])
        return total.astype(block.dtype)
    result: NDArray[Any] = np.matmul(block[:, None, :], other[..., None])
    return result[:, :, 0]


def add_columns(
    total: NDArray[np.float64], block: NDArray[Any], other: NDArray[Any] | None = None
) -> None:
    """Add the sum over the rows of a block, or of the product of two, to a running total.

    A gradient of a parameter is a sum over every row of the tensor. One number after the other, in
    float32, would lose a digit every few thousand rows. Rows are added in pairs instead, those sums
    in pairs again, and what is left goes on in float64. A product is added up four rows at a time
    first: so it is never in memory.

    Args:
        total: (columns,), added to.
        block: (rows, columns).
        other: (rows, columns) or None.
    """
    rows, columns = block.shape
    folded = scratch("folded", (rows // 2 + 2, columns), block.dtype)
    folds = FOLDS
    if other is not None:
        folds -= 2
        fours, rest = divmod(rows, 4)
        left, right = (
            operand[: rows - rest].reshape(fours, 4, columns) for operand in (block, other)
        )
        np.einsum("kij,kij->kj", left, right, out=folded[:fours])
        if rest:
            np.multiply(block[-rest:], other[-rest:], out=folded[fours : fours + rest])
        rows = fours + rest
        block = folded
    for _ in range(folds if block.dtype != DOUBLE else 0):
        if rows == 1:
            break
        half = rows // 2
        np.add(block[:half], block[rows - half : rows], out=folded[:half])
        if rows % 2:
            folded[half] = block[half]
        rows -= half
        block = folded
    wide = scratch("wide", (rows, columns), DOUBLE)
    np.copyto(wide, block[:rows])
    total += wide[0] if rows == 1 else np.add.reduce(wide, axis=0)
