# SPDX-License-Identifier: Apache-2.0
"""LayerNorm and its gradient (CANN: aclnnLayerNorm, aclnnLayerNormBackward)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.rows import RowLayout
from pyaclnn.reference.sweep import sweep
from pyaclnn.reference.tiles import add_columns, row_dot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from pyaclnn.reference.sweep import Sums, Totals
    from pyaclnn.reference.tiles import Tile

__all__ = ["LayerNormGrads", "LayerNormResult", "layer_norm", "layer_norm_backward"]


class LayerNormResult(NamedTuple):
    """What `layer_norm` returns.

    Attributes:
        out: The normalized tensor: the input's shape and data type.
        mean: The mean of each row: the leading axes, then ones; float32 (float64 for float64
            input).
        rstd: The reciprocal standard deviation of each row; shape and data type as `mean`.
    """

    out: NDArray[Any]
    mean: NDArray[Any]
    rstd: NDArray[Any]


class LayerNormGrads(NamedTuple):
    """What `layer_norm_backward` returns; None stands for an output that was masked off.

    Attributes:
        grad_input: The gradient of the input: the input's shape and data type.
        grad_weight: The gradient of the weight: the normalized shape; float32 (float64 for float64
            input).
        grad_bias: The gradient of the bias; shape and data type as `grad_weight`.
    """

    grad_input: NDArray[Any] | None
    grad_weight: NDArray[Any] | None
    grad_bias: NDArray[Any] | None


def layer_norm(
    input: ArrayLike,
    normalized_shape: Sequence[int],
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
) -> LayerNormResult:
    """Normalize rows to mean 0 and variance 1, then scale and shift them.

    With the mean and the biased variance taken over the normalized axes:
    `rstd = 1 / sqrt(variance + eps)`, `out = (input - mean) * rstd * weight + bias`.

    Args:
        input: A float16, bfloat16, float32 or float64 tensor of any rank from 1.
        normalized_shape: The sizes of the trailing axes that are normalized together, at least one.
        weight: A tensor of the normalized shape, any float type; None means ones.
        bias: A tensor of the normalized shape, any float type; None means zeros.
        eps: Added to the variance.

    Returns:
        `out`, `mean` and `rstd`. If the normalized shape holds no elements, the mean is 0 and rstd
        is NaN, as CANN fills them.

    Raises:
        TypeError: The input's data type is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/layer_norm_v4.
    """
    tensor = np.asarray(input)
    layout = RowLayout.of("input", tensor, "normalized_shape", normalized_shape)
    x = layout.matrix("input", tensor)
    scale = None if weight is None else layout.row_vector("weight", weight)
    shift = None if bias is None else layout.row_vector("bias", bias)
    out = np.empty_like(x, order="C", subok=False)
    mean = np.zeros((layout.rows, 1), layout.dtype)
    rstd = np.full((layout.rows, 1), np.nan, layout.dtype)

    def visit(tile: Tile, _: Sums, totals: Totals | None) -> Totals:
        normalized = tile.load(x, "x")
        if totals is None:
            ones = tile.of_columns(None, "ones")
            row_mean = row_dot(normalized, ones) / len(ones)
        else:
            row_mean, squares = totals
        normalized = np.subtract(normalized, row_mean, out=tile.scratch("x"))
        if totals is None:
            squares = row_dot(normalized, normalized)
            if not tile.spans_rows:
                return row_mean, squares
        mean[tile.rows] = row_mean
        rstd[tile.rows] = row_rstd = 1 / np.sqrt(squares / layout.columns + float(eps))
        result = np.multiply(normalized, row_rstd, out=tile.target(out, "x"))
        if scale is not None:
            result *= tile.of_columns(scale, "scale")
        if shift is not None:
            result += tile.of_columns(shift, "shift")
        tile.store(out, result)
        return ()

    sweep(layout, visit, combine=combine_moments)
    return LayerNormResult(
        out.reshape(layout.shape),
        mean.reshape(layout.statistic_shape),
        rstd.reshape(layout.statistic_shape),
    )


def layer_norm_backward(
    grad_out: ArrayLike,
    input: ArrayLike,
    normalized_shape: Sequence[int],
    mean: ArrayLike,
    rstd: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    *,
    output_mask: tuple[bool, bool, bool] = (True, True, True),
) -> LayerNormGrads:
    """Propagate a gradient back through `layer_norm`.

    With `xhat = (input - mean) * rstd` and `g = grad_out * weight`, means taken over a row and sums
    over all rows:
    `grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd`,
    `grad_weight = sum(grad_out * xhat)`, `grad_bias = sum(grad_out)`.

    The given `mean` and `rstd` are used as they are, also where they are not those of the input.

    Args:
        grad_out: The gradient of the forward output; the input's shape, any float type.
        input: The forward input: float16, bfloat16, float32 or float64, of any rank from 1.
        normalized_shape: The sizes of the trailing axes that were normalized together.
        mean: The mean of each row: as many elements as there are rows, in any shape and float type.
        rstd: The reciprocal standard deviation of each row, like `mean`.
        weight: A tensor of the normalized shape, any float type; None means ones.
        bias: A tensor of the normalized shape or None; no gradient depends on its values.
        output_mask: Which of grad_input, grad_weight and grad_bias to compute.

    Returns:
        The three gradients, None where masked off. Without rows, those of weight and bias are 0.

    Raises:
        TypeError: The input's data type is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/layer_norm_grad_v3.
    """
    tensor = np.asarray(input)
    layout = RowLayout.of("input", tensor, "normalized_shape", normalized_shape)
    x = layout.matrix("input", tensor)
    dy = layout.matrix("grad_out", grad_out)
    row_means = layout.column_vector("mean", mean)
    row_rstds = layout.column_vector("rstd", rstd)
    scale = None if weight is None else layout.row_vector("weight", weight)
    if bias is not None:
        layout.row_vector("bias", bias)
    if len(output_mask) != len(LayerNormGrads._fields):
        raise ValueError(
            f"output_mask has {len(output_mask)} elements; it must have one for each of "
            f"{', '.join(LayerNormGrads._fields)}"
        )
    want_input, want_weight, want_bias = output_mask
    grad_input = np.empty_like(x, order="C", subok=False) if want_input else None
    grad_weight = np.zeros(layout.columns, layout.dtype) if want_weight else None
    grad_bias = np.zeros(layout.columns, layout.dtype) if want_bias else None
    if any(output_mask):
        gradient = Gradient(layout, dy, x, row_means, row_rstds, scale, grad_input)
        sweep(layout, gradient.visit, (grad_weight, grad_bias))
    return LayerNormGrads(
        None if grad_input is None else grad_input.reshape(layout.shape),
        None if grad_weight is None else grad_weight.reshape(layout.normalized),
        None if grad_bias is None else grad_bias.reshape(layout.normalized),
    )


class Gradient(NamedTuple):
    """The operands of `layer_norm_backward` as matrices, and where its result goes."""

    layout: RowLayout
    grad_out: NDArray[Any]
    input: NDArray[Any]
    mean: NDArray[Any]
    rstd: NDArray[Any]
    weight: NDArray[Any] | None
    grad_input: NDArray[Any] | None

    def visit(self, tile: Tile, sums: Sums, totals: Totals | None) -> Totals:
        """Do a tile; `sums` are those for the weight and for the bias."""
        grad = tile.load(self.grad_out, "grad")
        weight_sum, bias_sum = sums or (None, None)
        if bias_sum is not None:
            add_columns(bias_sum, grad)
        if self.grad_input is None and weight_sum is None:
            return ()
        rstd = tile.of_rows(self.rstd)
        grad = np.multiply(grad, rstd, out=tile.scratch("grad"))
        centred = tile.load(self.input, "input")
        centred = np.subtract(centred, tile.of_rows(self.mean), out=tile.scratch("input"))
        if weight_sum is not None:
            add_columns(weight_sum, grad, centred)
        if self.grad_input is None:
            return ()
        if self.weight is not None:
            grad *= tile.of_columns(self.weight, "weight")
        if totals is None:
            totals = row_dot(grad, tile.of_columns(None, "ones")), row_dot(grad, centred)
            if not tile.spans_rows:
                return totals
        along_ones, along_xhat = totals
        centred *= along_xhat / self.layout.columns * rstd * rstd
        centred += along_ones / self.layout.columns
        result = np.subtract(grad, centred, out=tile.target(self.grad_input, "grad"))
        tile.store(self.grad_input, result)
        return ()


def combine_moments(found: NDArray[Any], widths: NDArray[Any]) -> Totals:
    """Make means and sums of squared deviations of whole rows out of those of panels."""
    means, squares = np.moveaxis(found.astype(np.float64), 1, 0)
    weights = widths[:, None, None]
    mean = (means * weights).sum(axis=0) / widths.sum()
    return mean, (squares + (means - mean) ** 2 * weights).sum(axis=0)
