# SPDX-License-Identifier: Apache-2.0
"""RmsNorm of a sum, as integers (CANN: aclnnAddRmsNormQuant, aclnnAddRmsNormDynamicQuant)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.added import Added
from pyaclnn.reference.arithmetic.precision import FLOAT16, rounded, wide
from pyaclnn.reference.arithmetic.quantization import quantized, quantized_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "AddRmsNormDynamicQuantResult",
    "AddRmsNormQuantResult",
    "add_rms_norm_dynamic_quant",
    "add_rms_norm_quant",
]


class AddRmsNormQuantResult(NamedTuple):
    """What `add_rms_norm_quant` returns.

    Attributes:
        y1: The normalized sum as int8, by the first scale: the shape of x1.
        y2: The same by the second scale; None if there is none.
        x: The sum: the shape and data type of x1.
    """

    y1: NDArray[np.int8]
    y2: NDArray[np.int8] | None
    x: NDArray[Any]


class AddRmsNormDynamicQuantResult(NamedTuple):
    """What `add_rms_norm_dynamic_quant` returns.

    Attributes:
        y1: The normalized sum as int8, smoothed the first way: the shape of x1.
        y2: The same smoothed the second way; None unless there are both.
        x: The sum: the shape and data type of x1.
        scale1: What one step of `y1` is worth in each row: the leading axes; float32 (float64 for
            float64 x1).
        scale2: The same of `y2`; None unless there are both.
    """

    y1: NDArray[np.int8]
    y2: NDArray[np.int8] | None
    x: NDArray[Any]
    scale1: NDArray[Any]
    scale2: NDArray[Any] | None


@np.errstate(all="ignore")
def add_rms_norm_quant(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    scales1: ArrayLike,
    scales2: ArrayLike | None = None,
    zero_points1: ArrayLike | None = None,
    zero_points2: ArrayLike | None = None,
    epsilon: float = 1e-6,
    *,
    div_mode: bool = True,
    family: str | None = None,
) -> AddRmsNormQuantResult:
    """Add two tensors, normalize rows of the sum as `add_rms_norm` does, then quantize them.

    With y of `add_rms_norm`: `y1 = round(y / scales1 + zero_points1)`, ties to even, as far as int8
    goes; `y2` alike. NaN becomes 0.

    Args:
        x1: A float16, bfloat16, float32 or float64 tensor of any rank from 1.
        x2: The other summand; the shape of x1, any float type.
        gamma: The scale of the norm, any float type; the shape of x1 must end in that of gamma.
        scales1: The shape of gamma, any float type.
        scales2: Like `scales1`; None means that there is no second result.
        zero_points1: The shape of gamma, any number type; None means zeros.
        zero_points2: Like `zero_points1`.
        epsilon: Added to the mean of squares.
        div_mode: Whether scales divide; else they multiply.
        family: The family of chips. ``"910b"``, ``"910_93"`` and ``"310p"`` normalize the sum
            rounded to the type of x1, and for float16 round `x * rstd` and its product with gamma.

    Returns:
        `y1`, `y2` and `x`.

    Raises:
        TypeError: The data type of x1 is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/add_rms_norm_quant.
    """
    tensor = np.asarray(x1)
    added = Added.of(tensor, x2, gamma, epsilon, family)
    layout, y, scale = added.layout, added.x * added.rstd, added.gamma
    if added.rounds and tensor.dtype == FLOAT16:
        y = wide(rounded(wide(rounded(y, FLOAT16), layout.dtype) * scale, FLOAT16), layout.dtype)
    else:
        y = y * scale

    def result(index: int, scales: ArrayLike, zero_points: ArrayLike | None) -> NDArray[np.int8]:
        divisor = layout.wide_row(f"scales{index}", scales)
        shift = layout.wide_row(f"zero_points{index}", zero_points, absent=0)
        return quantized(y, divisor, shift, div_mode=div_mode).reshape(layout.shape)

    return AddRmsNormQuantResult(
        result(1, scales1, zero_points1),
        None if scales2 is None else result(2, scales2, zero_points2),
        added.sum(tensor.dtype),
    )


@np.errstate(all="ignore")
def add_rms_norm_dynamic_quant(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    smooth_scale1: ArrayLike | None = None,
    smooth_scale2: ArrayLike | None = None,
    epsilon: float = 1e-6,
) -> AddRmsNormDynamicQuantResult:
    """Add two tensors, normalize rows of the sum, then quantize each by its largest number.

    With `x = x1 + x2`, `y = x * rstd * gamma` as in `rms_norm` and `v = y * smooth_scale`:
    `factor = 127 / max(|v|)` of a row, `y1 = round(v * factor)`, ties to even,
    `scale1 = 1 / factor`. Nothing is rounded in between; `x` is rounded on its own.

    Args:
        x1: A float16, bfloat16, float32 or float64 tensor of any rank from 1.
        x2: The other summand; the shape of x1, any float type.
        gamma: The scale of the norm, any float type; the shape of x1 must end in that of gamma.
        smooth_scale1: The shape of gamma, any float type; None means ones.
        smooth_scale2: Like `smooth_scale1`; without both there is no second result.
        epsilon: Added to the mean of squares.

    Returns:
        `y1`, `y2`, `x`, `scale1` and `scale2`.

    Raises:
        TypeError: The data type of x1 is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/add_rms_norm_dynamic_quant.
    """
    tensor = np.asarray(x1)
    added = Added.of(tensor, x2, gamma, epsilon, None)
    layout, y = added.layout, added.x * added.rstd * added.gamma

    def result(name: str, smooth: ArrayLike | None) -> tuple[NDArray[np.int8], NDArray[Any]]:
        integers, scale = quantized_rows(y * layout.wide_row(name, smooth))
        return integers.reshape(layout.shape), scale.reshape(layout.leading)

    y1, scale1 = result("smooth_scale1", smooth_scale1)
    y2, scale2 = None, None
    if smooth_scale1 is not None and smooth_scale2 is not None:
        y2, scale2 = result("smooth_scale2", smooth_scale2)
    return AddRmsNormDynamicQuantResult(y1, y2, added.sum(tensor.dtype), scale1, scale2)
