# SPDX-License-Identifier: Apache-2.0
"""RmsNorm and its gradient in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, same
from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.sweep import sweep
from pyaclnn.reference.fast.tiled_rows import TiledRows
from pyaclnn.reference.fast.tiles import add_columns, row_dot
from pyaclnn.reference.rms_norm import rms_norm as definition, rms_norm_grad as gradient

if TYPE_CHECKING:
    from pyaclnn.reference.fast.sweep import Sums, Totals
    from pyaclnn.reference.fast.tiles import Tile


@same(definition)
def rms_norm(given: Given) -> Any:
    """Compute the same as `definition("rms_norm")`, tile by tile."""
    layout = TiledRows.of("x", given.array("x"), "the shape of gamma", np.shape(given.gamma))
    x, scale = layout.matrix("x", given.x), layout.row_vector("gamma", given.gamma)
    y = empty(x.shape, x.dtype)
    rstd = np.full((layout.rows, 1), np.nan, layout.dtype)

    def visit(tile: Tile, _: Sums, totals: Totals | None) -> Totals:
        row = tile.load(x, "x")
        (squares,) = totals or (row_dot(row, row),)
        if totals is None and not tile.spans_rows:
            return (squares,)
        rstd[tile.rows] = 1 / np.sqrt(squares / layout.columns + float(given.epsilon))
        result = np.multiply(row, rstd[tile.rows], out=tile.target(y, "x"))
        result *= tile.of_columns(scale, "scale")
        tile.store(y, result)
        return ()

    sweep(layout, visit)
    return y.reshape(layout.shape), rstd.reshape(layout.statistic_shape)


@same(gradient)
def rms_norm_grad(given: Given) -> Any:
    """Compute the same as `definition("rms_norm_grad")`, tile by tile."""
    layout = TiledRows.of("x", given.array("x"), "the shape of gamma", np.shape(given.gamma))
    x, dy = layout.matrix("x", given.x), layout.matrix("dy", given.dy)
    row_rstds = layout.column_vector("rstd", given.rstd)
    scale = layout.row_vector("gamma", given.gamma)
    dx = empty(x.shape, x.dtype)
    dgamma = np.zeros(layout.columns, layout.dtype)

    def visit(tile: Tile, sums: Sums, totals: Totals | None) -> Totals:
        row = tile.load(x, "x")
        row_rstd = tile.of_rows(row_rstds)
        weights = tile.of_columns(scale, "scale")
        grad = np.multiply(tile.load(dy, "grad"), row_rstd, out=tile.scratch("grad"))
        (dgamma_sum,) = sums or (None,)
        if dgamma_sum is not None:
            add_columns(dgamma_sum, grad, row)
        grad *= weights
        if totals is None:
            totals = (row_dot(grad, row),)
            if not tile.spans_rows:
                return totals
        (along_xhat,) = totals
        factor = along_xhat / layout.columns * row_rstd * row_rstd
        projection = np.multiply(row, factor, out=tile.scratch("x"))
        result = np.subtract(grad, projection, out=tile.target(dx, "grad"))
        tile.store(dx, result)
        return ()

    sweep(layout, visit, (dgamma,))
    return dx.reshape(layout.shape), dgamma.reshape(layout.normalized)
