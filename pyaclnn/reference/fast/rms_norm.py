# SPDX-License-Identifier: Apache-2.0
"""RmsNorm and its gradient in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.sweep import sweep
from pyaclnn.reference.fast.tiled_rows import TiledRows
from pyaclnn.reference.fast.tiles import add_columns, row_dot
from pyaclnn.reference.rms_norm import RmsNormGrads, RmsNormResult

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pyaclnn.reference.fast.sweep import Sums, Totals
    from pyaclnn.reference.fast.tiles import Tile

__all__ = ["rms_norm", "rms_norm_grad"]


def rms_norm(x: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-6) -> RmsNormResult:
    """Compute the same as `definition("rms_norm")`, tile by tile."""
    tensor, parameter = np.asarray(x), np.asarray(gamma)
    layout = TiledRows.of("x", tensor, "the shape of gamma", parameter.shape)
    x = layout.matrix("x", tensor)
    scale = layout.row_vector("gamma", parameter)
    y = empty(x.shape, x.dtype)
    rstd = np.full((layout.rows, 1), np.nan, layout.dtype)

    def visit(tile: Tile, _: Sums, totals: Totals | None) -> Totals:
        row = tile.load(x, "x")
        (squares,) = totals or (row_dot(row, row),)
        if totals is None and not tile.spans_rows:
            return (squares,)
        rstd[tile.rows] = 1 / np.sqrt(squares / layout.columns + float(epsilon))
        result = np.multiply(row, rstd[tile.rows], out=tile.target(y, "x"))
        result *= tile.of_columns(scale, "scale")
        tile.store(y, result)
        return ()

    sweep(layout, visit)
    return RmsNormResult(y.reshape(layout.shape), rstd.reshape(layout.statistic_shape))


def rms_norm_grad(dy: ArrayLike, x: ArrayLike, rstd: ArrayLike, gamma: ArrayLike) -> RmsNormGrads:
    """Compute the same as `definition("rms_norm_grad")`, tile by tile."""
    tensor, parameter = np.asarray(x), np.asarray(gamma)
    layout = TiledRows.of("x", tensor, "the shape of gamma", parameter.shape)
    x = layout.matrix("x", tensor)
    dy = layout.matrix("dy", dy)
    row_rstds = layout.column_vector("rstd", rstd)
    scale = layout.row_vector("gamma", parameter)
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
    return RmsNormGrads(dx.reshape(layout.shape), dgamma.reshape(layout.normalized))
