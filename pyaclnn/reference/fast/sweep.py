# SPDX-License-Identifier: Apache-2.0
"""The walk over a matrix that all normalizations share.

A normalization needs something of a whole row, such as its mean, before it can write any of it. A
*visit* to a tile of whole rows finds that out and writes at once. Rows too wide for a tile are
visited twice, panel by panel: first to find out, then, with that known, to write.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pyaclnn.reference.fast.workers import plain_arithmetic, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from pyaclnn.reference.fast.tiled_rows import TiledRows
    from pyaclnn.reference.fast.tiles import Tile

    Sums: TypeAlias = Sequence[NDArray[np.float64] | None]
    Totals: TypeAlias = Sequence[NDArray[Any]]

__all__ = ["EVERYTHING", "Visit", "combine_moments", "element_buffer", "sweep"]

# NumPy copies operands that it broadcasts over rows, except where rows do not fit its buffers. Only
# rows that are too short for a loop of their own gain by that.
SHORT_ROW = 384
BUFFERED, UNBUFFERED = 1024, 16

EVERYTHING = slice(None)


class Visit(Protocol):
    """The work of an operator on a tile."""

    def __call__(self, tile: Tile, sums: Sums, totals: Totals | None, /) -> Totals:
        """Visit a tile.

        Args:
            tile: The tile.
            sums: On the first visit, where to add sums over rows, (columns of the tile,) each;
                None for one that nobody wants.
            totals: On the second visit, what the first ones found out, (rows, 1) each.

        Returns:
            On the first visit to a tile of a panel, what it found out about the rows: (rows, 1)
            each. Nothing if there is no need for a second.
        """


def element_buffer(columns: int) -> int:
    """Return the number of elements of NumPy's buffers that suits rows of so many columns."""
    return BUFFERED if columns < SHORT_ROW else UNBUFFERED


def add(found: NDArray[Any], widths: NDArray[Any]) -> Totals:
    """Combine what was found out about panels where that is sums, of any widths."""
    del widths
    return list(found.sum(axis=0, dtype=np.float64))


def combine_moments(found: NDArray[Any], widths: NDArray[Any]) -> Totals:
    """Make means and sums of squared deviations of whole rows out of those of panels."""
    means, squares = np.moveaxis(found.astype(np.float64), 1, 0)
    weights = widths[:, None, None]
    mean = (means * weights).sum(axis=0) / widths.sum()
    return mean, (squares + (means - mean) ** 2 * weights).sum(axis=0)


def sweep(
    layout: TiledRows,
    visit: Visit,
    outputs: Sequence[NDArray[Any] | None] = (),
    combine: Callable[[NDArray[Any], NDArray[Any]], Totals] = add,
) -> None:
    """Visit a whole matrix.

    Args:
        layout: The matrix.
        visit: The function for each tile.
        outputs: Where the sums over all rows go, (N,) each; None for one that nobody wants. They
            are left alone if there are no rows.
        combine: Makes what was found out about rows out of what was found out about panels:
            an array of (panels, things found out, M, 1), given the number of columns of each.
    """
    groups, whole_rows = layout.tiles(), layout.spans_rows

    def first_visits(tiles: list[Tile]) -> tuple[Sums, list[Totals]]:
        columns = tiles[0].columns
        width = columns.stop - columns.start
        sums = [None if output is None else np.zeros(width) for output in outputs]
        found = [visit(tile, sums, None) for tile in tiles]
        if whole_rows:
            return sums, []
        put(outputs, sums, columns)
        return (), found

    def second_visits(tiles: list[Tile]) -> None:
        for tile in tiles:
            visit(tile, (), [total[tile.rows].astype(tile.dtype) for total in totals])

    if not groups:
        return
    with plain_arithmetic(element_buffer(layout.columns)):
        visited = spread(first_visits, groups)
        if whole_rows:
            every_sums = [sums for sums, _ in visited]
            # In the order of the groups, whichever was faster.
            put(outputs, [together(parts) for parts in zip(*every_sums, strict=True)])
        elif visited[0][1][0]:
            panels: list[NDArray[Any]] = [np.concatenate(found, axis=1) for _, found in visited]
            widths = np.array([tile.columns.stop - tile.columns.start for tile, *_ in groups])
            totals = combine(np.stack(panels), widths)
            spread(second_visits, groups)


def together(parts: Sequence[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    """Add up the sums of all groups, if they were wanted."""
    wanted = [part for part in parts if part is not None]
    return functools.reduce(np.add, wanted) if wanted else None


def put(outputs: Sequence[NDArray[Any] | None], sums: Sums, columns: slice = EVERYTHING) -> None:
    """Round sums to the columns of the outputs that they are for."""
    for output, total in zip(outputs, sums, strict=True):
        if output is not None:
            output[columns] = total
