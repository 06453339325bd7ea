# SPDX-License-Identifier: Apache-2.0
"""RmsNorm that gives integers (CANN: aclnnRmsNormQuant, aclnnRmsNormDynamicQuant, ...)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.precision import total, wide
from pyaclnn.reference.arithmetic.quantization import INT8, quantized, quantized_rows
from pyaclnn.reference.arithmetic.rows import RowLayout
from pyaclnn.reference.rms_norm import rms_norm_grad

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "RmsNormDynamicQuantResult",
    "RmsNormGradQuantResult",
    "RmsNormQuantV3Result",
    "rms_norm_dynamic_quant",
    "rms_norm_grad_quant",
    "rms_norm_quant",
    "rms_norm_quant_v3",
]


class RmsNormQuantV3Result(NamedTuple):
    """Results of `rms_norm_quant_v3`."""

    y: NDArray[Any]
    rstd: NDArray[Any] | None


class RmsNormDynamicQuantResult(NamedTuple):
    """Results of `rms_norm_dynamic_quant`."""

    y: NDArray[np.int8]
    scale: NDArray[Any]


class RmsNormGradQuantResult(NamedTuple):
    """Results of `rms_norm_grad_quant`."""

    dx: NDArray[np.int8]
    dgamma: NDArray[Any]


def normalized(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike | None, epsilon: float
) -> tuple[RowLayout, NDArray[Any], NDArray[Any]]:
    """Normalize rows of the last axis: the layout, `x * rstd * gamma + beta`, and rstd, (M, 1)."""
    tensor, scale = np.asarray(x), np.asarray(gamma)
    if scale.ndim > 1 and len(scale) == 1:
        scale = scale[0]
    layout = RowLayout.of("x", tensor, "the shape of gamma", scale.shape)
    row = layout.wide_matrix("x", tensor)
    rstd = 1 / np.sqrt(total(row * row, 1) / layout.columns + epsilon)
    y = row * rstd * layout.wide_row("gamma", scale)
    if beta is not None:
        y = y + layout.wide_row("beta", np.reshape(beta, np.shape(beta)[-1:]))
    return layout, y, rstd


@np.errstate(all="ignore")
def rms_norm_quant_v3(
    x: ArrayLike,
    gamma: ArrayLike,
    scale: ArrayLike,
    offset: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    epsilon: float = 1e-6,
    div_mode: bool = True,
    output_rstd: bool = False,
    *,
    dtype: DTypeLike = INT8,
) -> RmsNormQuantV3Result:
    """Normalize rows as `rms_norm` does, shift them, then quantize them by one scale.

    `v = x * rstd * gamma + beta`, `y = round(v / scale + offset)`, ties to even, as far as the type
    of the integers goes. NaN becomes 0.

    `dtype` is int8, int4 of ml_dtypes, int32, which packs eight integers of 4 bits along the last
    axis, the first one lowest, or one of float8 of ml_dtypes, for the nearest numbers. A scale and
    an offset of the shape of gamma are those of each channel.
    """
    layout, v, rstd = normalized(x, gamma, beta, epsilon)
    step, shift = (
        0 if part is None else layout.wide_scale(name, np.reshape(part, np.shape(part)[-1:]))
        for name, part in (("scale", scale), ("offset", offset))
    )
    y = quantized(v, step, shift, div_mode=div_mode, dtype=dtype)
    return RmsNormQuantV3Result(
        y.reshape(*layout.leading, y.shape[1]), layout.statistic(rstd) if output_rstd else None
    )


def rms_norm_quant(
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    scale: ArrayLike,
    offset: ArrayLike,
    epsilon: float = 1e-6,
    *,
    dtype: DTypeLike = INT8,
) -> NDArray[Any]:
    """Do what `rms_norm_quant_v3` does, always dividing by the scale."""
    return rms_norm_quant_v3(x, gamma, scale, offset, beta, epsilon, dtype=dtype).y


@np.errstate(all="ignore")
def rms_norm_dynamic_quant(
    x: ArrayLike,
    gamma: ArrayLike,
    smooth_scales: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    epsilon: float = 1e-6,
) -> RmsNormDynamicQuantResult:
    """Normalize rows as `rms_norm` does, shift them, then quantize each by its largest number.

    With `v = (x * rstd * gamma + beta) * smooth_scales`: `factor = 127 / max(|v|)` of a row,
    `y = round(v * factor)`, ties to even, `scale = 1 / factor`.
    """
    layout, y, _ = normalized(x, gamma, beta, epsilon)
    integers, scale = quantized_rows(y * layout.wide_row("smooth_scales", smooth_scales))
    return RmsNormDynamicQuantResult(integers.reshape(layout.shape), scale.reshape(layout.leading))


@np.errstate(all="ignore")
def rms_norm_grad_quant(
    dy: ArrayLike,
    x: ArrayLike,
    rstd: ArrayLike,
    gamma: ArrayLike,
    scales_x: ArrayLike,
    offset_x: ArrayLike | None = None,
    div_mode: bool = True,
) -> RmsNormGradQuantResult:
    """Propagate a gradient back as `rms_norm_grad` does, then quantize that of x.

    `dx` becomes `round(dx / scales_x + offset_x)`, ties to even, as far as int8 goes. It is not
    rounded before.
    """
    tensor = np.asarray(x)
    layout = RowLayout.of("x", tensor, "the shape of gamma", np.shape(gamma))
    dx, dgamma = rms_norm_grad(dy, wide(tensor, layout.dtype), rstd, gamma)
    step, shift = (
        0 if part is None else layout.wide_scale(name, part)
        for name, part in (("scales_x", scales_x), ("offset_x", offset_x))
    )
    rows = dx.reshape(layout.rows, layout.columns)
    integers = quantized(rows, step, shift, div_mode=div_mode)
    return RmsNormGradQuantResult(integers.reshape(layout.shape), dgamma)
