# SPDX-License-Identifier: Apache-2.0
"""RmsNorm and its gradient (CANN: aclnnRmsNorm, aclnnRmsNormGrad)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.rows import RowLayout
from pyaclnn.reference.sweep import sweep
from pyaclnn.reference.tiles import add_columns, row_dot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pyaclnn.reference.sweep import Sums, Totals
    from pyaclnn.reference.tiles import Tile

__all__ = ["RmsNormGrads", "RmsNormResult", "rms_norm", "rms_norm_grad"]


class RmsNormResult(NamedTuple):
    """What `rms_norm` returns.

    Attributes:
        y: The normalized tensor: the shape and data type of x.
        rstd: The reciprocal root mean square of each row: the leading axes, then ones; float32
            (float64 for float64 x).
    """

    y: NDArray[Any]
    rstd: NDArray[Any]


class RmsNormGrads(NamedTuple):
    """What `rms_norm_grad` returns.

    Attributes:
        dx: The gradient of x: its shape and data type.
        dgamma: The gradient of gamma: its shape; float32 (float64 for float64 x).
    """

    dx: NDArray[Any]
    dgamma: NDArray[Any]


def rms_norm(x: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-6) -> RmsNormResult:
    """Divide rows by their root mean square, then scale them.

    A row is what the axes of gamma span: the trailing axes of x. With the mean taken over a row:
    `rstd = 1 / sqrt(mean(x * x) + epsilon)`, `y = x * rstd * gamma`.

    Args:
        x: A float16, bfloat16, float32 or float64 tensor of any rank from 1.
        gamma: The scale, any float type; the shape of x must end in the shape of gamma.
        epsilon: Added to the mean of squares.

    Returns:
        `y` and `rstd`. If gamma holds no elements, rstd is NaN: the mean of nothing.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: The shape of gamma does not fit.

    Source: CANN: ops-nn norm/rms_norm.
    """
    tensor, parameter = np.asarray(x), np.asarray(gamma)
    layout = RowLayout.of("x", tensor, "the shape of gamma", parameter.shape)
    x = layout.matrix("x", tensor)
    scale = layout.row_vector("gamma", parameter)
    y = np.empty_like(x, order="C", subok=False)
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
    """Propagate a gradient back through `rms_norm`.

    With `xhat = x * rstd` and `g = dy * gamma`, the mean over a row and the sum over all rows:
    `dx = (g - xhat * mean(g * xhat)) * rstd`, `dgamma = sum(dy * xhat)`.

    The given `rstd` is used as it is, also where it is not that of x; there is no epsilon here.

    Args:
        dy: The gradient of the forward output; the shape of x, any float type.
        x: The forward input: float16, bfloat16, float32 or float64, of any rank from 1.
        rstd: The reciprocal root mean square of each row: as many elements as there are rows, in
            any shape and float type.
        gamma: The forward scale, any float type; the shape of x must end in the shape of gamma.

    Returns:
        `dx` and `dgamma`. Without rows dgamma is zeros, the sum of nothing.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/rms_norm_grad.
    """
    tensor, parameter = np.asarray(x), np.asarray(gamma)
    layout = RowLayout.of("x", tensor, "the shape of gamma", parameter.shape)
    x = layout.matrix("x", tensor)
    dy = layout.matrix("dy", dy)
    row_rstds = layout.column_vector("rstd", rstd)
    scale = layout.row_vector("gamma", parameter)
    dx = np.empty_like(x, order="C", subok=False)
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
