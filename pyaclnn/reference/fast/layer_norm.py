# SPDX-License-Identifier: Apache-2.0
"""LayerNorm and its gradient in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.sweep import combine_moments, sweep
from pyaclnn.reference.fast.tiled_rows import TiledRows
from pyaclnn.reference.fast.tiles import add_columns, row_dot
from pyaclnn.reference.layer_norm import IMPL_MODES, LayerNormGrads, LayerNormResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from pyaclnn.reference.fast.sweep import Sums, Totals
    from pyaclnn.reference.fast.tiles import Tile

__all__ = [
    "fast_layer_norm",
    "layer_norm",
    "layer_norm_backward",
    "layer_norm_with_impl_mode",
]


def layer_norm(
    input: ArrayLike,
    normalized_shape: Sequence[int],
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
) -> LayerNormResult:
    """Compute the same as `definition("layer_norm")`, tile by tile."""
    tensor = np.asarray(input)
    layout = TiledRows.of("input", tensor, "normalized_shape", normalized_shape)
    x = layout.matrix("input", tensor)
    scale = None if weight is None else layout.row_vector("weight", weight)
    shift = None if bias is None else layout.row_vector("bias", bias)
    out = empty(x.shape, x.dtype)
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


def layer_norm_with_impl_mode(
    input: ArrayLike,
    normalized_shape: Sequence[int],
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
    impl_mode: int = 0,
) -> LayerNormResult:
    """Compute the same as `definition("layer_norm_with_impl_mode")`, tile by tile."""
    if impl_mode not in IMPL_MODES:
        raise ValueError(f"impl_mode is {impl_mode}; it must be 0, 1 or 2")
    return layer_norm(input, normalized_shape, weight, bias, eps)


def fast_layer_norm(
    input: ArrayLike,
    normalized_shape: Sequence[int],
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
) -> LayerNormResult:
    """Compute the same as `definition("fast_layer_norm")`, tile by tile."""
    return layer_norm(input, normalized_shape, weight, bias, eps)


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
    """Compute the same as `definition("layer_norm_backward")`, tile by tile."""
    tensor = np.asarray(input)
    layout = TiledRows.of("input", tensor, "normalized_shape", normalized_shape)
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
    grad_input = empty(x.shape, x.dtype) if want_input else None
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

    layout: TiledRows
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
