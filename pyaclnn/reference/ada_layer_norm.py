# SPDX-License-Identifier: Apache-2.0
"""LayerNorm that each sample scales and shifts (CANN: aclnnAdaLayerNorm, ...Backward, ...Quant)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, RowsGiven, defined
from pyaclnn.reference.arithmetic.moments import moments, standardized_gradient
from pyaclnn.reference.arithmetic.precision import rounded, total, wide
from pyaclnn.reference.arithmetic.quantization import quantized_rows
from pyaclnn.reference.arithmetic.rows import RowLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST_AXES = 2
PARAMETERS = "x, scale, shift, weight=None, bias=None, epsilon=1e-5"


class Samples(NamedTuple):
    """A tensor [B..., S, H] as B samples of S rows.

    Attributes:
        rows: Its rows.
    """

    rows: RowsGiven

    @classmethod
    def of(cls, given: Given, name: str) -> Samples:
        """Split a tensor that is given."""
        tensor = given.array(name)
        if tensor.ndim < FEWEST_AXES:
            raise ValueError(f"{name} has the shape {tensor.shape}; it must have two axes or more")
        layout = RowLayout.of(name, tensor, "its last axis", tensor.shape[-1:])
        return cls(RowsGiven(given, layout, tensor.dtype))

    def split(self, rows: NDArray[Any]) -> NDArray[Any]:
        """View (M, H) as (B, S, H)."""
        layout = self.rows.layout
        batch = layout.rows // max(layout.leading[-1], 1)
        return rows.reshape(batch, layout.leading[-1], layout.columns)

    def of_each(self, name: str) -> NDArray[Any]:
        """Bring a tensor [B..., H] or [B..., 1, H] to (B, 1, H), in the arithmetic's data type."""
        layout, array = self.rows.layout, self.rows.given.array(name)
        lead = layout.leading[:-1]
        shapes = (*lead, layout.columns), (*lead, 1, layout.columns)
        if array.shape not in shapes:
            raise ValueError(
                f"{name} has the shape {array.shape}; it must be {shapes[0]} or {shapes[1]}"
            )
        return wide(array, layout.dtype).reshape(-1, 1, layout.columns)

    def normalized(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return the result, not rounded yet, (M, H), and the statistics, (M, 1)."""
        rows = self.rows
        centred, mean, variance = moments(rows.matrix("x"), 1)
        rstd = 1 / np.sqrt(variance + rows.given.epsilon)
        y = self.split(centred * rstd * rows.row("weight") + rows.row("bias", 0))
        y = y * (1 + self.of_each("scale"))
        y += self.of_each("shift")
        return y.reshape(centred.shape), mean, rstd


@defined(PARAMETERS, "AdaLayerNormV2Result: out mean rstd")
def ada_layer_norm_v2(given: Given) -> Any:
    """Normalize rows as `layer_norm` does, then scale and shift the rows of each sample alike.

    With the mean and the biased variance of each row, which is the last axis:
    `rstd = 1 / sqrt(variance + epsilon)`,
    `out = ((x - mean) * rstd * weight + bias) * (1 + scale) + shift`.
    """
    samples = Samples.of(given, "x")
    rows, (y, *statistics) = samples.rows, samples.normalized()
    return rows.tensor(y), *rows.statistics(*(rounded(part, rows.dtype) for part in statistics))


@defined(PARAMETERS)
def ada_layer_norm(given: Given) -> Any:
    """Do what `ada_layer_norm_v2` does, without the statistics."""
    return given.passed_to(ada_layer_norm_v2).out


@defined(
    "x, scale, shift, weight=None, bias=None, smooth_scales=None, epsilon=1e-5, *, dtype='int8'",
    "AdaLayerNormQuantResult: out quant_scale",
)
def ada_layer_norm_quant(given: Given) -> Any:
    """Do what `ada_layer_norm_v2` does, then quantize each row by its largest number.

    With v, its `out` times `smooth_scales`: `factor = 127 / max(|v|)` of a row,
    `out = round(v * factor)`, ties to even, `quant_scale = 1 / factor`.
    """
    samples = Samples.of(given, "x")
    y, layout = samples.normalized()[0], samples.rows.layout
    out, step = quantized_rows(y * samples.rows.row("smooth_scales"), given.dtype)
    return out.reshape(layout.shape), step.reshape(layout.leading)


@defined(
    "grad_out, input, normalized_shape, rstd, mean, scale, shift, weight=None, bias=None",
    "AdaLayerNormGrads: grad_input grad_scale grad_shift grad_weight grad_bias",
)
def ada_layer_norm_backward(given: Given) -> Any:
    """Propagate a gradient back through `ada_layer_norm_v2`.

    With `xhat = (input - mean) * rstd`, `d = grad_out * (1 + scale)` and `g = d * weight`, means
    over a row: `grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd`; summed over the rows of
    a sample `grad_scale = sum(grad_out * (xhat * weight + bias))`, `grad_shift = sum(grad_out)`;
    over all rows `grad_weight = sum(d * xhat)`, `grad_bias = sum(d)`. Mean and rstd are used as
    they are.
    """
    samples = Samples.of(given, "input")
    rows, axes = samples.rows, tuple(given.normalized_shape)
    if axes != rows.layout.normalized:
        raise ValueError(
            f"normalized_shape is {axes}; it must be {rows.layout.normalized}, "
            "the last axis of input"
        )
    grad, rstd = rows.matrix("grad_out"), rows.columns("rstd")
    xhat = (rows.matrix("input") - rows.columns("mean")) * rstd
    gain, offset = rows.row("weight"), rows.row("bias", 0)
    samples.of_each("shift")  # its shape must fit
    d = (samples.split(grad) * (1 + samples.of_each("scale"))).reshape(grad.shape)
    parts = zip(("scale", "shift"), (grad * (xhat * gain + offset), grad), strict=True)
    sums = ((given.array(name), total(samples.split(part), 1)) for name, part in parts)
    tensors = [getattr(given, name) for name in ("weight", "bias")]
    dtype = next((np.asarray(one).dtype for one in tensors if one is not None), rows.layout.dtype)
    return (
        rows.tensor(standardized_gradient(d * gain, xhat, rstd)),
        *(rounded(sum_, own.dtype).reshape(own.shape) for own, sum_ in sums),
        *(rounded(part, dtype) for part in rows.parameters(d * xhat, d)),
    )
