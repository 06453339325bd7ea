# SPDX-License-Identifier: Apache-2.0
"""RmsNorm of a sum, as integers (CANN: aclnnAddRmsNormQuant, aclnnAddRmsNormDynamicQuant)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.added import Added
from pyaclnn.reference.arithmetic.precision import FLOAT16, rounded, wide
from pyaclnn.reference.arithmetic.quantization import INT8, quantized, quantized_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from pyaclnn.reference.arithmetic.rows import RowLayout

__all__ = [
    "AddRmsNormDynamicQuantResult",
    "AddRmsNormDynamicQuantV2Result",
    "AddRmsNormQuantResult",
    "AddRmsNormQuantV2Result",
    "add_rms_norm_dynamic_quant",
    "add_rms_norm_dynamic_quant_v2",
    "add_rms_norm_quant",
    "add_rms_norm_quant_v2",
]


class AddRmsNormQuantResult(NamedTuple):
    """Results of `add_rms_norm_quant`."""

    y1: NDArray[Any]
    y2: NDArray[Any] | None
    x: NDArray[Any]


class AddRmsNormDynamicQuantResult(NamedTuple):
    """Results of `add_rms_norm_dynamic_quant`."""

    y1: NDArray[Any]
    y2: NDArray[Any] | None
    x: NDArray[Any]
    scale1: NDArray[Any]
    scale2: NDArray[Any] | None


class AddRmsNormDynamicQuantV2Result(NamedTuple):
    """Results of `add_rms_norm_dynamic_quant_v2`; None for each that is not computed."""

    y1: NDArray[Any] | None
    y2: NDArray[Any] | None
    x: NDArray[Any]
    scale1: NDArray[Any] | None
    scale2: NDArray[Any] | None


class AddRmsNormQuantV2Result(NamedTuple):
    """Results of `add_rms_norm_quant_v2`."""

    y1: NDArray[Any]
    y2: NDArray[Any] | None
    x: NDArray[Any]
    rms_norm: NDArray[Any]


def normalized(added: Added, dtype: np.dtype[Any], *, per_tensor: bool = False) -> NDArray[Any]:
    """Return `x * rstd * gamma`, (M, N): of float16 rounded in between where the family does so."""
    y = added.x * added.rstd
    if not added.rounds or dtype != FLOAT16 or per_tensor:
        return np.asarray(y * added.gamma)
    wide_dtype = added.layout.dtype
    return wide(rounded(wide(rounded(y, dtype), wide_dtype) * added.gamma, dtype), wide_dtype)


def smoothed(
    layout: RowLayout,
    y: NDArray[Any],
    name: str,
    smooth: ArrayLike | None,
    dtype: DTypeLike = INT8,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Smooth and quantize (M, N): the integers in the tensor's shape, and a scale a row."""
    integers, scale = quantized_rows(y * layout.wide_row(name, smooth), dtype)
    packed = layout.columns // max(integers.shape[1], 1)
    shape = layout.shape if packed < 2 else (*layout.shape[:-1], layout.shape[-1] // packed)  # noqa: PLR2004
    return integers.reshape(shape), scale.reshape(layout.leading)


def row_parameter(parameter: ArrayLike, tensor: NDArray[Any]) -> NDArray[Any]:
    """Take [1, H] for (H,) where it cannot be the last axes of a tensor."""
    array = np.asarray(parameter)
    whole = tensor.shape[tensor.ndim - array.ndim :] == array.shape
    return array if whole or array.ndim == 1 or len(array) != 1 else array[0]


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
    dtype: DTypeLike = INT8,
    family: str | None = None,
) -> AddRmsNormQuantResult:
    """Add two tensors, normalize rows of the sum as `add_rms_norm` does, then quantize them.

    With y of `add_rms_norm`: `y1 = round(y / scales1 + zero_points1)`, ties to even, as far as int8
    goes, or to the nearest float8, which `dtype` says; `y2` alike. NaN becomes 0.

    ``"910b"``, ``"910_93"`` and ``"310p"`` normalize the sum rounded to the type of x1, and for
    float16 round `x * rstd` and its product with gamma.
    """
    tensor = np.asarray(x1)
    added = Added.of(tensor, x2, gamma, epsilon, family)
    layout, y = added.layout, normalized(added, tensor.dtype)

    def result(index: int, scales: ArrayLike, zero_points: ArrayLike | None) -> NDArray[Any]:
        divisor = layout.wide_row(f"scales{index}", scales)
        shift = layout.wide_row(f"zero_points{index}", zero_points, absent=0)
        return quantized(y, divisor, shift, div_mode=div_mode, dtype=dtype).reshape(layout.shape)

    return AddRmsNormQuantResult(
        result(1, scales1, zero_points1),
        None if scales2 is None else result(2, scales2, zero_points2),
        added.sum(tensor.dtype),
    )


@np.errstate(all="ignore")
def add_rms_norm_quant_v2(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    scales1: ArrayLike,
    scales2: ArrayLike | None = None,
    zero_points1: ArrayLike | None = None,
    zero_points2: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    epsilon: float = 1e-6,
    *,
    div_mode: bool = True,
    dtype: DTypeLike = INT8,
    family: str | None = None,
) -> AddRmsNormQuantV2Result:
    """Do what `add_rms_norm_quant` does, with a shift before the integers, and give the norm.

    Families differ as in `add_rms_norm_quant`. With a single scale for all of a row nothing but the
    sum is rounded in between.
    """
    tensor = np.asarray(x1)
    parameter = row_parameter(gamma, tensor)
    added = Added.of(tensor, x2, parameter, epsilon, family)
    layout = added.layout
    y = normalized(added, tensor.dtype, per_tensor=np.size(scales1) == 1 < parameter.size)
    shifted = y
    if beta is not None:
        shifted = y + layout.wide_row("beta", row_parameter(beta, tensor))

    def result(index: int, scales: ArrayLike, zero_points: ArrayLike | None) -> NDArray[Any]:
        return quantized(
            shifted,
            layout.wide_scale(f"scales{index}", scales),
            0 if zero_points is None else layout.wide_scale(f"zero_points{index}", zero_points),
            div_mode=div_mode,
            dtype=dtype,
        ).reshape(layout.shape)

    return AddRmsNormQuantV2Result(
        result(1, scales1, zero_points1),
        None if scales2 is None else result(2, scales2, zero_points2),
        added.sum(tensor.dtype),
        layout.tensor(y, tensor.dtype),
    )


@np.errstate(all="ignore")
def add_rms_norm_dynamic_quant(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    smooth_scale1: ArrayLike | None = None,
    smooth_scale2: ArrayLike | None = None,
    epsilon: float = 1e-6,
    *,
    dtype: DTypeLike = INT8,
) -> AddRmsNormDynamicQuantResult:
    """Add two tensors, normalize rows of the sum, then quantize each by its largest number.

    With `x = x1 + x2`, `y = x * rstd * gamma` as in `rms_norm` and `v = y * smooth_scale`:
    `factor = 127 / max(|v|)` of a row, `y1 = round(v * factor)`, ties to even,
    `scale1 = 1 / factor`. Nothing is rounded in between; `x` is rounded on its own.
    """
    tensor = np.asarray(x1)
    added = Added.of(tensor, x2, gamma, epsilon, None)
    y = added.x * added.rstd * added.gamma
    y1, scale1 = smoothed(added.layout, y, "smooth_scale1", smooth_scale1, dtype)
    y2, scale2 = None, None
    if smooth_scale1 is not None and smooth_scale2 is not None:
        y2, scale2 = smoothed(added.layout, y, "smooth_scale2", smooth_scale2, dtype)
    return AddRmsNormDynamicQuantResult(y1, y2, added.sum(tensor.dtype), scale1, scale2)


@np.errstate(all="ignore")
def add_rms_norm_dynamic_quant_v2(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    smooth_scale1: ArrayLike | None = None,
    smooth_scale2: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    epsilon: float = 1e-6,
    output_mask: tuple[bool, bool] | None = None,
    *,
    dtype: DTypeLike = INT8,
) -> AddRmsNormDynamicQuantV2Result:
    """Do what `add_rms_norm_dynamic_quant` does, with a shift, fewer bits, and a mask.

    `dtype` is int8, int4 of ml_dtypes, int32, which packs eight integers of 4 bits along the last
    axis, the first one lowest, or one of float8 of ml_dtypes.
    """
    tensor = np.asarray(x1)
    added = Added.of(tensor, x2, gamma, epsilon, None)
    layout, y = added.layout, added.x * added.rstd * added.gamma
    if beta is not None:
        y += layout.wide_row("beta", beta)

    both = smooth_scale1 is not None and smooth_scale2 is not None
    want_first, want_second = output_mask or (True, both)
    y1, scale1, y2, scale2 = None, None, None, None
    if want_first:
        y1, scale1 = smoothed(layout, y, "smooth_scale1", smooth_scale1, dtype)
    if want_second:
        y2, scale2 = smoothed(layout, y, "smooth_scale2", smooth_scale2, dtype)
    return AddRmsNormDynamicQuantV2Result(y1, y2, added.sum(tensor.dtype), scale1, scale2)
