# SPDX-License-Identifier: Apache-2.0
"""Channels of a tensor, cut into tiles of a matrix."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout, WholeChannels
from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.sweep import EVERYTHING, combine_moments, element_buffer
from pyaclnn.reference.fast.tiled_rows import TiledRows
from pyaclnn.reference.fast.tiles import add_columns, row_dot
from pyaclnn.reference.fast.workers import plain_arithmetic, spread

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pyaclnn.reference.arithmetic.channels import Channels
    from pyaclnn.reference.fast.tiles import Tile

__all__ = ["channels_of"]

# Channels of so many positions are rows of their own; shorter ones lie side by side in a row.
FEWEST_POSITIONS = 64
# Smaller tensors are not worth the tiles.
FEWEST_ELEMENTS = 131072


def channels_of(name: str, tensor: ArrayLike) -> Channels:
    """Split a tensor into channels that compute tile by tile, if it is large enough for that.

    Args:
        name: The name of the tensor in the caller, for error messages.
        tensor: A tensor of rank 2 at least.

    Raises:
        TypeError: The tensor's data type is none of float16, bfloat16, float32 and float64.
        ValueError: It has no axis of channels.
    """
    array = np.asarray(tensor)
    layout = ChannelLayout.of(name, array)
    large = array.size >= FEWEST_ELEMENTS
    return TiledChannels.of(layout, array) if large else WholeChannels(layout, array)


class TiledChannels(NamedTuple):
    """The channels of a tensor, cut into tiles of a matrix.

    Attributes:
        layout: The samples, channels and positions.
        tensor: The tensor.
        rows: The matrix: a channel of a sample each row, or all channels of a sample.
        matrix: The tensor in its shape.
    """

    layout: ChannelLayout
    tensor: NDArray[Any]
    rows: TiledRows
    matrix: NDArray[Any]

    @classmethod
    def of(cls, layout: ChannelLayout, tensor: NDArray[Any]) -> TiledChannels:
        """Choose the matrix."""
        samples, channels, positions = layout.samples, layout.channels, layout.positions
        long = positions >= FEWEST_POSITIONS
        shape = (samples * channels, positions) if long else (samples, channels * positions)
        matrix = tensor.reshape(shape)
        rows = TiledRows.of("input", matrix, "channels", shape[1:])
        return cls(layout, tensor, rows, matrix)

    @property
    def _has_long_rows(self) -> bool:
        return self.rows.columns == self.layout.positions

    def _tiles(self) -> list[Tile]:
        return list(itertools.chain.from_iterable(self.rows.tiles()))

    def moments(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the mean and the biased variance of each channel, (C, 1) both."""
        layout, groups = self.layout, self.rows.tiles()
        visit = self._of_rows if self._has_long_rows else self._of_columns
        # Tiles of whole rows follow one another down; those of a panel stand side by side with
        # those of the next.
        panels = [self._tiles()] if self.rows.spans_rows else groups
        with plain_arithmetic(element_buffer(self.rows.columns)):
            every = iter(spread(visit, self._tiles()))
        visited = [list(itertools.islice(every, len(panel))) for panel in panels]
        if self._has_long_rows:
            widths = np.repeat([panel[0].shape[1] for panel in panels], layout.samples)
            found = np.stack([np.concatenate(tiles, axis=1) for tiles in visited])
            found = found.reshape(len(panels), 2, layout.samples, layout.channels).swapaxes(1, 2)
        else:
            found = np.concatenate([np.stack(tiles) for tiles in visited], axis=2)
            found = found.reshape(len(panels[0]), 2, layout.channels, layout.positions)
            found = np.moveaxis(found, 3, 1)
            widths = np.repeat([tile.shape[0] for tile in panels[0]], layout.positions)
        found = found.reshape(len(widths), 2, layout.channels, 1)
        mean, squares = combine_moments(found, widths)
        count = layout.samples * layout.positions
        return mean.astype(layout.dtype), (squares / count).astype(layout.dtype)

    # Means are rounded before they are subtracted. What that leaves out is added up too: where the
    # means of tiles differ by little, it decides how much.

    def _of_rows(self, tile: Tile) -> NDArray[Any]:
        """Return the means of rows and the sums of their squared deviations."""
        x, ones = tile.load(self.matrix, "x"), tile.of_columns(None, "ones")
        mean = row_dot(x, ones) / len(ones)
        centred = np.subtract(x, mean, out=tile.scratch("x"))
        left, squares = row_dot(centred, ones), row_dot(centred, centred)
        return _corrected(mean[:, 0], left[:, 0], squares[:, 0], len(ones))

    def _of_columns(self, tile: Tile) -> NDArray[Any]:
        """Return the means of columns and the sums of their squared deviations."""
        x = tile.load(self.matrix, "x")
        mean, left, squares = np.zeros((3, x.shape[1]))
        add_columns(mean, x)
        rounded = (mean / len(x)).astype(x.dtype)
        centred = np.subtract(x, rounded, out=tile.scratch("x"))
        add_columns(left, centred)
        add_columns(squares, centred, centred)
        return _corrected(rounded, left, squares, len(x))

    def normalized(
        self, mean: NDArray[Any], factor: NDArray[Any], shift: NDArray[Any]
    ) -> NDArray[Any]:
        """Return `(x - mean) * factor + shift` in the tensor's type, from (C, 1) each."""
        output = empty(self.tensor.shape, self.tensor.dtype)
        target = output.reshape(self.matrix.shape)
        layout, long = self.layout, self._has_long_rows
        repeats = (layout.samples, 1) if long else (1, layout.positions)
        along = [
            np.tile(vector, repeats) if long else vector.repeat(layout.positions)[None]
            for vector in (mean, factor, shift)
        ]

        def write(tile: Tile) -> None:
            part = (tile.rows, EVERYTHING) if long else (EVERYTHING, tile.columns)
            tile_mean, tile_factor, tile_shift = (vector[part] for vector in along)
            result = tile.load(self.matrix, "x")
            result = np.subtract(result, tile_mean, out=tile.target(target, "x"))
            result *= tile_factor
            result += tile_shift
            tile.store(target, result)

        with plain_arithmetic(element_buffer(self.rows.columns)):
            spread(write, self._tiles())
        return output


def _corrected(
    mean: NDArray[Any], left: NDArray[Any], squares: NDArray[Any], count: int
) -> NDArray[Any]:
    """Return means and sums of squared deviations in float64.

    Args:
        mean: What was subtracted.
        left: The sums of the differences.
        squares: The sums of their squares.
        count: The number of elements of each.
    """
    rest = left.astype(np.float64) / count
    return np.stack([mean + rest, squares - count * rest**2])
