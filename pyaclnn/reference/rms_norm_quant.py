# SPDX-License-Identifier: Apache-2.0
"""RmsNorm that gives integers (CANN: aclnnRmsNormQuant, aclnnRmsNormDynamicQuant, ...)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, RowsGiven, defined
from pyaclnn.reference.arithmetic.precision import average, wide
from pyaclnn.reference.arithmetic.quantization import quantized, quantized_rows
from pyaclnn.reference.rms_norm import rms_norm_grad

if TYPE_CHECKING:
    from numpy.typing import NDArray


def normalized(given: Given) -> tuple[RowsGiven, NDArray[Any], NDArray[Any]]:
    """Normalize rows of the last axis: the rows, `x * rstd * gamma + beta`, and rstd, (M, 1)."""
    if np.ndim(given.gamma) > 1 and len(given.gamma) == 1:
        given.gamma = given.array("gamma")[0]
    rows = given.rows("x")
    row = rows.matrix("x")
    rstd = 1 / np.sqrt(average(row * row, 1) + given.epsilon)
    y = row * rstd * rows.row("gamma")
    if given.beta is not None:
        given.beta = np.reshape(given.beta, np.shape(given.beta)[-1:])
        y = y + rows.row("beta")
    return rows, y, rstd


@defined(
    "x, gamma, scale, offset=None, beta=None, epsilon=1e-6, div_mode=True, output_rstd=False, *, "
    "dtype='int8'",
    "RmsNormQuantV3Result: y rstd",
)
def rms_norm_quant_v3(given: Given) -> Any:
    """Normalize rows as `rms_norm` does, shift them, then quantize them by one scale.

    `v = x * rstd * gamma + beta`, `y = round(v / scale + offset)`, ties to even, as far as the type
    of the integers goes. NaN becomes 0.

    `dtype` is int8, int4 of ml_dtypes, int32, which packs eight integers of 4 bits along the last
    axis, the first one lowest, or one of float8 of ml_dtypes, for the nearest numbers. A scale and
    an offset of the shape of gamma are those of each channel.
    """
    rows, v, rstd = normalized(given)
    for name in ("scale", "offset"):
        if (part := getattr(given, name)) is not None:
            setattr(given, name, np.reshape(part, np.shape(part)[-1:]))
    step, shift = rows.scale("scale"), rows.scale("offset")
    y = quantized(v, step, shift, div_mode=given.div_mode, dtype=given.dtype)
    (statistic,) = rows.statistics(rstd) if given.output_rstd else (None,)
    return y.reshape(*rows.layout.leading, y.shape[1]), statistic


@defined("x, gamma, beta, scale, offset, epsilon=1e-6, *, dtype='int8'")
def rms_norm_quant(given: Given) -> Any:
    """Do what `rms_norm_quant_v3` does, always dividing by the scale."""
    return given.passed_to(rms_norm_quant_v3).y


@defined(
    "x, gamma, smooth_scales=None, beta=None, epsilon=1e-6", "RmsNormDynamicQuantResult: y scale"
)
def rms_norm_dynamic_quant(given: Given) -> Any:
    """Normalize rows as `rms_norm` does, shift them, then quantize each by its largest number.

    With `v = (x * rstd * gamma + beta) * smooth_scales`: `factor = 127 / max(|v|)` of a row,
    `y = round(v * factor)`, ties to even, `scale = 1 / factor`.
    """
    rows, y, _ = normalized(given)
    integers, scale = quantized_rows(y * rows.row("smooth_scales"))
    return integers.reshape(rows.layout.shape), scale.reshape(rows.layout.leading)


@defined(
    "dy, x, rstd, gamma, scales_x, offset_x=None, div_mode=True",
    "RmsNormGradQuantResult: dx dgamma",
)
def rms_norm_grad_quant(given: Given) -> Any:
    """Propagate a gradient back as `rms_norm_grad` does, then quantize that of x.

    `dx` becomes `round(dx / scales_x + offset_x)`, ties to even, as far as int8 goes. It is not
    rounded before.
    """
    rows = given.rows("x")
    layout = rows.layout
    dx, dgamma = given.passed_to(rms_norm_grad, x=wide(given.x, layout.dtype))
    step, shift = rows.scale("scales_x"), rows.scale("offset_x")
    matrix = dx.reshape(layout.rows, layout.columns)
    integers = quantized(matrix, step, shift, div_mode=given.div_mode)
    return integers.reshape(layout.shape), dgamma
