# SPDX-License-Identifier: Apache-2.0
"""LayerNorm and its gradient in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, chosen, same
from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.sweep import combine_moments, sweep
from pyaclnn.reference.fast.tiled_rows import TiledRows
from pyaclnn.reference.fast.tiles import add_columns, row_dot
from pyaclnn.reference.layer_norm import (
    check_impl_mode,
    layer_norm as definition,
    layer_norm_backward as gradient,
    layer_norm_with_impl_mode as with_impl_mode,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.reference.fast.sweep import Sums, Totals
    from pyaclnn.reference.fast.tiles import Tile


def rows_of(given: Given) -> TiledRows:
    """Cut the input into tiles of rows."""
    return TiledRows.of("input", given.array("input"), "normalized_shape", given.normalized_shape)


def row_of(layout: TiledRows, given: Given, name: str) -> NDArray[Any] | None:
    """View a tensor of the normalized shape as (N,), if it is there."""
    value = getattr(given, name)
    return None if value is None else layout.row_vector(name, value)


@same(definition)
def layer_norm(given: Given) -> Any:
    """Compute the same as `definition("layer_norm")`, tile by tile."""
    layout = rows_of(given)
    x = layout.matrix("input", given.input)
    scale, shift = (row_of(layout, given, name) for name in ("weight", "bias"))
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
        rstd[tile.rows] = row_rstd = 1 / np.sqrt(squares / layout.columns + float(given.eps))
        result = np.multiply(normalized, row_rstd, out=tile.target(out, "x"))
        if scale is not None:
            result *= tile.of_columns(scale, "scale")
        if shift is not None:
            result += tile.of_columns(shift, "shift")
        tile.store(out, result)
        return ()

    sweep(layout, visit, combine=combine_moments)
    shape = layout.statistic_shape
    return out.reshape(layout.shape), mean.reshape(shape), rstd.reshape(shape)


fast_layer_norm = layer_norm  # of another operator with the same results


@same(with_impl_mode)
def layer_norm_with_impl_mode(given: Given) -> Any:
    """Compute the same as `definition("layer_norm_with_impl_mode")`, tile by tile."""
    check_impl_mode(given)
    return given.passed_to(layer_norm)


@same(gradient)
def layer_norm_backward(given: Given) -> Any:
    """Compute the same as `definition("layer_norm_backward")`, tile by tile."""
    layout = rows_of(given)
    x, dy = layout.matrix("input", given.input), layout.matrix("grad_out", given.grad_out)
    row_means = layout.column_vector("mean", given.mean)
    row_rstds = layout.column_vector("rstd", given.rstd)
    scale, _ = (row_of(layout, given, name) for name in ("weight", "bias"))
    want_input, want_weight, want_bias = chosen(given.output_mask, *[True] * 3)
    grad_input = empty(x.shape, x.dtype) if want_input else None
    grad_weight = np.zeros(layout.columns, layout.dtype) if want_weight else None
    grad_bias = np.zeros(layout.columns, layout.dtype) if want_bias else None
    if any(given.output_mask):
        gradient = Gradient(layout, dy, x, row_means, row_rstds, scale, grad_input)
        sweep(layout, gradient.visit, (grad_weight, grad_bias))
    return (
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
