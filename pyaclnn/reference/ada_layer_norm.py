# SPDX-License-Identifier: Apache-2.0
"""LayerNorm that each sample scales and shifts (CANN: aclnnAdaLayerNorm, ...Backward, ...Quant)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.moments import moments, standardized_gradient
from pyaclnn.reference.arithmetic.precision import rounded, total, wide
from pyaclnn.reference.arithmetic.quantization import INT8, quantized_rows
from pyaclnn.reference.arithmetic.rows import RowLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "AdaLayerNormGrads",
    "AdaLayerNormQuantResult",
    "AdaLayerNormV2Result",
    "ada_layer_norm",
    "ada_layer_norm_backward",
    "ada_layer_norm_quant",
    "ada_layer_norm_v2",
]

FEWEST_AXES = 2


class AdaLayerNormV2Result(NamedTuple):
    """Results of `ada_layer_norm_v2`."""

    out: NDArray[Any]
    mean: NDArray[Any]
    rstd: NDArray[Any]


class AdaLayerNormQuantResult(NamedTuple):
    """Results of `ada_layer_norm_quant`."""

    out: NDArray[Any]
    quant_scale: NDArray[Any]


class AdaLayerNormGrads(NamedTuple):
    """Results of `ada_layer_norm_backward`."""

    grad_input: NDArray[Any]
    grad_scale: NDArray[Any]
    grad_shift: NDArray[Any]
    grad_weight: NDArray[Any]
    grad_bias: NDArray[Any]


class Samples(NamedTuple):
    """A tensor [B..., S, H] as B samples of S rows.

    Attributes:
        layout: The layout of its rows.
    """

    layout: RowLayout

    @classmethod
    def of(cls, name: str, tensor: NDArray[Any]) -> Samples:
        if tensor.ndim < FEWEST_AXES:
            raise ValueError(f"{name} has the shape {tensor.shape}; it must have two axes or more")
        return cls(RowLayout.of(name, tensor, "its last axis", tensor.shape[-1:]))

    def split(self, rows: NDArray[Any]) -> NDArray[Any]:
        """View (M, H) as (B, S, H)."""
        batch = self.layout.rows // max(self.layout.leading[-1], 1)
        return rows.reshape(batch, self.layout.leading[-1], self.layout.columns)

    def per_sample(self, name: str, tensor: ArrayLike) -> NDArray[Any]:
        """Bring a tensor [B..., H] or [B..., 1, H] to (B, 1, H), in the arithmetic's data type."""
        array, lead = np.asarray(tensor), self.layout.leading[:-1]
        shapes = (*lead, self.layout.columns), (*lead, 1, self.layout.columns)
        if array.shape not in shapes:
            raise ValueError(
                f"{name} has the shape {array.shape}; it must be {shapes[0]} or {shapes[1]}"
            )
        return wide(array, self.layout.dtype).reshape(-1, 1, self.layout.columns)


def normalized(
    tensor: NDArray[Any],
    scale: ArrayLike,
    shift: ArrayLike,
    weight: ArrayLike | None,
    bias: ArrayLike | None,
    epsilon: float,
) -> tuple[RowLayout, NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Normalize, not rounded yet: the layout, (M, H), and the statistics, (M, 1)."""
    samples = Samples.of("x", tensor)
    layout = samples.layout
    centred, mean, variance = moments(layout.wide_matrix("x", tensor), 1)
    rstd = 1 / np.sqrt(variance + epsilon)
    y = centred * rstd * layout.wide_row("weight", weight) + layout.wide_row("bias", bias, absent=0)
    y = samples.split(y) * (1 + samples.per_sample("scale", scale))
    y += samples.per_sample("shift", shift)
    return layout, y.reshape(layout.rows, layout.columns), mean, rstd


@np.errstate(all="ignore")
def ada_layer_norm_v2(
    x: ArrayLike,
    scale: ArrayLike,
    shift: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    epsilon: float = 1e-5,
) -> AdaLayerNormV2Result:
    """Normalize rows as `layer_norm` does, then scale and shift the rows of each sample alike.

    With the mean and the biased variance of each row, which is the last axis:
    `rstd = 1 / sqrt(variance + epsilon)`,
    `out = ((x - mean) * rstd * weight + bias) * (1 + scale) + shift`.
    """
    tensor = np.asarray(x)
    layout, y, mean, rstd = normalized(tensor, scale, shift, weight, bias, epsilon)
    return AdaLayerNormV2Result(
        layout.tensor(y, tensor.dtype),
        *(layout.statistic(rounded(part, tensor.dtype)) for part in (mean, rstd)),
    )


def ada_layer_norm(
    x: ArrayLike,
    scale: ArrayLike,
    shift: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    epsilon: float = 1e-5,
) -> NDArray[Any]:
    """Do what `ada_layer_norm_v2` does, without the statistics."""
    return ada_layer_norm_v2(x, scale, shift, weight, bias, epsilon).out


@np.errstate(all="ignore")
def ada_layer_norm_quant(
    x: ArrayLike,
    scale: ArrayLike,
    shift: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    smooth_scales: ArrayLike | None = None,
    epsilon: float = 1e-5,
    *,
    dtype: DTypeLike = INT8,
) -> AdaLayerNormQuantResult:
    """Do what `ada_layer_norm_v2` does, then quantize each row by its largest number.

    With v, its `out` times `smooth_scales`: `factor = 127 / max(|v|)` of a row,
    `out = round(v * factor)`, ties to even, `quant_scale = 1 / factor`.
    """
    layout, y, _, _ = normalized(np.asarray(x), scale, shift, weight, bias, epsilon)
    out, step = quantized_rows(y * layout.wide_row("smooth_scales", smooth_scales), dtype)
    return AdaLayerNormQuantResult(out.reshape(layout.shape), step.reshape(layout.leading))


@np.errstate(all="ignore")
def ada_layer_norm_backward(
    grad_out: ArrayLike,
    input: ArrayLike,
    normalized_shape: Sequence[int],
    rstd: ArrayLike,
    mean: ArrayLike,
    scale: ArrayLike,
    shift: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
) -> AdaLayerNormGrads:
    """Propagate a gradient back through `ada_layer_norm_v2`.

    With `xhat = (input - mean) * rstd`, `d = grad_out * (1 + scale)` and `g = d * weight`, means
    over a row: `grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd`; summed over the rows of
    a sample `grad_scale = sum(grad_out * (xhat * weight + bias))`, `grad_shift = sum(grad_out)`;
    over all rows `grad_weight = sum(d * xhat)`, `grad_bias = sum(d)`. Mean and rstd are used as
    they are.
    """
    tensor = np.asarray(input)
    samples = Samples.of("input", tensor)
    layout = samples.layout
    if tuple(normalized_shape) != layout.normalized:
        raise ValueError(
            f"normalized_shape is {tuple(normalized_shape)}; it must be {layout.normalized}, "
            "the last axis of input"
        )
    grad, row_rstd = layout.wide_matrix("grad_out", grad_out), layout.wide_columns("rstd", rstd)
    xhat = layout.wide_matrix("input", tensor) - layout.wide_columns("mean", mean)
    xhat *= row_rstd
    gain, offset = layout.wide_row("weight", weight), layout.wide_row("bias", bias, absent=0)
    samples.per_sample("shift", shift)
    d = (samples.split(grad) * (1 + samples.per_sample("scale", scale))).reshape(grad.shape)
    given = next((part for part in (weight, bias) if part is not None), None)
    parameter = layout.dtype if given is None else np.asarray(given).dtype
    of_scale, of_shift = (
        total(samples.split(part), 1) for part in (grad * (xhat * gain + offset), grad)
    )
    return AdaLayerNormGrads(
        layout.tensor(standardized_gradient(d * gain, xhat, row_rstd), tensor.dtype),
        rounded(of_scale, np.asarray(scale).dtype).reshape(np.shape(scale)),
        rounded(of_shift, np.asarray(shift).dtype).reshape(np.shape(shift)),
        *(rounded(layout.parameter(part), parameter) for part in (d * xhat, d)),
    )
