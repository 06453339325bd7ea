# SPDX-License-Identifier: Apache-2.0
"""Tensors seen as rows: the one walk over memory that all normalizations share.

A normalization over trailing axes treats its tensor as a matrix of M rows (the leading axes) by N
columns (the normalized axes). `RowLayout` makes that matrix out of tensors of any rank and checks
the other operands against it, and cuts it into tiles small enough that all the arithmetic on a tile
happens in the processor's cache.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import ml_dtypes
import numpy as np

from pyaclnn.reference.tiles import Tile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["RowLayout"]

# Between two calls of NumPy a thread needs the interpreter lock, and waking one that waits for it
# takes as long as arithmetic on some ten thousand elements. So tiles are large: the two or three
# that a thread works on, 2 MiB each in float32, fit the last cache, not the one before it.
TILE_ELEMENTS = 524288
# Smaller matrices are cut into this many tiles, so that all processors get some, unless they get
# too small for that.
TILES = 8
FEWEST_ELEMENTS = 131072
# A tile of whole rows has at least this many of them if there are as many, one of a panel at most.
PANEL_ROWS = 8
# The columns of a panel are a multiple of this, so that its rows begin at lines of the cache.
PANEL_COLUMNS = 64
# Each group of tiles has its own sums over rows until the end.
MOST_GROUPS = 16

ACCUMULATION_DTYPES: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(ml_dtypes.bfloat16): np.dtype(np.float32),
    np.dtype(np.float16): np.dtype(np.float32),
    np.dtype(np.float32): np.dtype(np.float32),
    np.dtype(np.float64): np.dtype(np.float64),
}


class RowLayout(NamedTuple):
    """How a tensor that is normalized over its trailing axes splits into rows and columns.

    Attributes:
        leading: The axes that count the rows.
        normalized: The axes that are normalized together.
        rows: M, the number of rows.
        columns: N, the number of elements that are normalized together.
        dtype: What the arithmetic runs in: float64 for a float64 tensor, else float32.
    """

    leading: tuple[int, ...]
    normalized: tuple[int, ...]
    rows: int
    columns: int
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, name: str, tensor: NDArray[Any], axes_name: str, axes: Sequence[int]) -> RowLayout:
        """Split a tensor's shape.

        Args:
            name: What the caller calls the tensor, for error messages.
            tensor: The normalized tensor, of any rank from 1.
            axes_name: What the caller calls the normalized shape, for error messages.
            axes: The normalized shape; the tensor's shape must end in it.

        Returns:
            The layout.

        Raises:
            TypeError: The tensor's data type is none of float16, bfloat16, float32 and float64.
            ValueError: `axes` is empty or is not how the tensor's shape ends.
        """
        if tensor.dtype not in ACCUMULATION_DTYPES:
            raise TypeError(
                f"{name} has the data type {tensor.dtype}; "
                "it must be float16, bfloat16, float32 or float64"
            )
        normalized = tuple(int(size) for size in axes)
        lead = tensor.ndim - len(normalized)
        if not normalized or lead < 0 or tensor.shape[lead:] != normalized:
            raise ValueError(
                f"{axes_name} is {normalized}; it must be the last one or more axes of {name}, "
                f"which has the shape {tensor.shape}"
            )
        leading = tensor.shape[:lead]
        rows, columns = math.prod(leading), math.prod(normalized)
        return cls(leading, normalized, rows, columns, ACCUMULATION_DTYPES[tensor.dtype])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor itself."""
        return self.leading + self.normalized

    @property
    def statistic_shape(self) -> tuple[int, ...]:
        """The shape of one number per row: the leading axes, then a 1 for each normalized axis."""
        return self.leading + (1,) * len(self.normalized)

    @property
    def tile_elements(self) -> int:
        """How many elements a tile has about."""
        return min(TILE_ELEMENTS, max(FEWEST_ELEMENTS, self.rows * self.columns // TILES))

    @property
    def spans_rows(self) -> bool:
        """Whether tiles take whole rows; wider rows are cut into panels."""
        return self.columns * min(self.rows, PANEL_ROWS) <= self.tile_elements

    @property
    def tile_shape(self) -> tuple[int, int]:
        """The rows and columns of a tile; those at the edges may have fewer."""
        if self.spans_rows:
            return self.tile_elements // max(1, self.columns), self.columns
        height = min(self.rows, PANEL_ROWS)
        panels = -(-self.columns * height // self.tile_elements)
        width = -(-self.columns // panels)
        return height, -(-width // PANEL_COLUMNS) * PANEL_COLUMNS

    def tiles(self) -> list[list[Tile]]:
        """Cover the matrix with tiles, if it has any elements.

        Returns:
            Groups of tiles that can be worked on independently. Each group is either some whole
            rows, or all rows of a panel of columns. The cut depends on nothing but the layout.
        """
        if self.rows == 0 or self.columns == 0:
            return []
        height, width = self.tile_shape
        bands = [slice(top, min(top + height, self.rows)) for top in range(0, self.rows, height)]
        if self.spans_rows:
            everything = slice(0, self.columns)
            tiles = [Tile(rows, everything, self.dtype, spans_rows=True) for rows in bands]
            # As even as can be, for whoever gets a larger one is waited for.
            groups = min(MOST_GROUPS, len(tiles))
            edges = [len(tiles) * group // groups for group in range(groups + 1)]
            return [tiles[first:last] for first, last in itertools.pairwise(edges)]
        starts = range(0, self.columns, width)
        panels = [slice(left, min(left + width, self.columns)) for left in starts]
        return [
            [Tile(rows, columns, self.dtype, spans_rows=False) for rows in bands]
            for columns in panels
        ]

    def matrix(self, name: str, tensor: ArrayLike) -> NDArray[Any]:
        """View a tensor of this shape as (M, N), in its own data type."""
        array = np.asarray(tensor)
        if array.shape != self.shape:
            raise ValueError(f"{name} has the shape {array.shape}; it must be {self.shape}")
        return array.reshape(self.rows, self.columns)

    def column_vector(self, name: str, statistic: ArrayLike) -> NDArray[Any]:
        """View one number per row as (M, 1), whatever its shape."""
        array = np.asarray(statistic)
        if array.size != self.rows:
            raise ValueError(
                f"{name} has the shape {array.shape}, which is {array.size} elements; "
                f"it must have one for each of the {self.rows} rows"
            )
        return array.reshape(self.rows, 1)

    def row_vector(self, name: str, parameter: ArrayLike) -> NDArray[Any]:
        """View a tensor of the normalized shape as (N,).

        A short one comes in the arithmetic's data type, for every tile needs all of it.
        """
        array = np.asarray(parameter)
        if array.shape != self.normalized:
            raise ValueError(f"{name} has the shape {array.shape}; it must be {self.normalized}")
        vector = array.reshape(self.columns)
        return vector.astype(self.dtype, copy=False) if self.spans_rows else vector
