# SPDX-License-Identifier: Apache-2.0
"""Rows cut into tiles, small enough that arithmetic on one happens in the processor's cache."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from pyaclnn.reference.arithmetic.rows import RowLayout
from pyaclnn.reference.fast.tiles import Tile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["TiledRows"]

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


class TiledRows(RowLayout):
    """A matrix of rows, cut into tiles."""

    __slots__ = ()

    @property
    def tile_elements(self) -> int:
        """The approximate number of elements of a tile."""
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

    def row_vector(self, name: str, parameter: ArrayLike) -> NDArray[Any]:
        """View a tensor of the normalized shape as (N,).

        A short one comes in the arithmetic's data type, for every tile needs all of it.
        """
        vector = super().row_vector(name, parameter)
        return vector.astype(self.dtype, copy=False) if self.spans_rows else vector
