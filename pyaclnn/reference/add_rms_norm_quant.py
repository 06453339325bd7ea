# SPDX-License-Identifier: Apache-2.0
"""RmsNorm of a sum, as integers (CANN: aclnnAddRmsNormQuant, aclnnAddRmsNormDynamicQuant)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.added import Added
from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.precision import FLOAT16, rounded, wide
from pyaclnn.reference.arithmetic.quantization import quantized, quantized_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SCALED = "x1, x2, gamma, scales1, scales2=None, zero_points1=None, zero_points2=None"
SMOOTHED = "x1, x2, gamma, smooth_scale1=None, smooth_scale2=None"


def normalized(added: Added, *, per_tensor: bool = False) -> NDArray[Any]:
    """Return `x * rstd * gamma`, (M, N): of float16 rounded in between where the family does so."""
    y, dtype, kind = added.x * added.rstd, added.rows.dtype, added.rows.layout.dtype
    if not added.rounds or dtype != FLOAT16 or per_tensor:
        return np.asarray(y * added.gamma)
    return wide(rounded(wide(rounded(y, dtype), kind) * added.gamma, dtype), kind)


def scaled(
    given: Given, added: Added, y: NDArray[Any], *, one: bool = False
) -> list[NDArray[Any] | None]:
    """Quantize (M, N) by the first scales, and by the second ones; there may be one for all."""
    rows = added.rows
    of_row = rows.scale if one else rows.row
    return [
        None
        if index == 2 and given.scales2 is None  # noqa: PLR2004
        else quantized(
            y,
            of_row(f"scales{index}"),
            of_row(f"zero_points{index}", 0),
            div_mode=given.div_mode,
            dtype=given.dtype,
        ).reshape(rows.layout.shape)
        for index in (1, 2)
    ]


def smoothed(given: Given, added: Added, y: NDArray[Any], wanted: tuple[bool, bool]) -> Any:
    """Smooth and quantize (M, N): twice integers in the tensor's shape, and a scale a row."""
    rows = added.rows
    found: list[tuple[Any, Any]] = []
    for name, is_wanted in zip(("smooth_scale1", "smooth_scale2"), wanted, strict=True):
        if not is_wanted:
            found.append((None, None))
            continue
        integers, scale = quantized_rows(y * rows.row(name), given.dtype)
        packed = rows.layout.columns // max(integers.shape[1], 1)
        shape = rows.layout.shape
        shape = shape if packed < 2 else (*shape[:-1], shape[-1] // packed)  # noqa: PLR2004
        found.append((integers.reshape(shape), scale.reshape(rows.layout.leading)))
    (y1, scale1), (y2, scale2) = found
    return y1, y2, added.sum, scale1, scale2


def row_parameter(parameter: ArrayLike, tensor: NDArray[Any]) -> NDArray[Any]:
    """Take [1, H] for (H,) where it cannot be the last axes of a tensor."""
    array = np.asarray(parameter)
    whole = tensor.shape[tensor.ndim - array.ndim :] == array.shape
    return array if whole or array.ndim == 1 or len(array) != 1 else array[0]


@defined(
    f"{SCALED}, epsilon=1e-6, *, div_mode=True, dtype='int8', family=None",
    "AddRmsNormQuantResult: y1 y2 x",
)
def add_rms_norm_quant(given: Given) -> Any:
    """Add two tensors, normalize rows of the sum as `add_rms_norm` does, then quantize them.

    With y of `add_rms_norm`: `y1 = round(y / scales1 + zero_points1)`, ties to even, as far as int8
    goes, or to the nearest float8, which `dtype` says; `y2` alike. NaN becomes 0.

    ``"910b"``, ``"910_93"`` and ``"310p"`` normalize the sum rounded to the type of x1, and for
    float16 round `x * rstd` and its product with gamma.
    """
    added = Added.of(given)
    return *scaled(given, added, normalized(added)), added.sum


@defined(
    f"{SCALED}, beta=None, epsilon=1e-6, *, div_mode=True, dtype='int8', family=None",
    "AddRmsNormQuantV2Result: y1 y2 x rms_norm",
)
def add_rms_norm_quant_v2(given: Given) -> Any:
    """Do what `add_rms_norm_quant` does, with a shift before the integers, and give the norm.

    Families differ as in `add_rms_norm_quant`. With a single scale for all of a row nothing but the
    sum is rounded in between.
    """
    given.gamma = row_parameter(given.gamma, given.array("x1"))
    added = Added.of(given)
    y = normalized(added, per_tensor=np.size(given.scales1) == 1 < given.gamma.size)
    shifted = y
    if given.beta is not None:
        given.beta = row_parameter(given.beta, given.array("x1"))
        shifted = y + added.rows.row("beta")
    return *scaled(given, added, shifted, one=True), added.sum, added.rows.tensor(y)


@defined(
    f"{SMOOTHED}, epsilon=1e-6, *, dtype='int8'",
    "AddRmsNormDynamicQuantResult: y1 y2 x scale1 scale2",
)
def add_rms_norm_dynamic_quant(given: Given) -> Any:
    """Add two tensors, normalize rows of the sum, then quantize each by its largest number.

    With `x = x1 + x2`, `y = x * rstd * gamma` as in `rms_norm` and `v = y * smooth_scale`:
    `factor = 127 / max(|v|)` of a row, `y1 = round(v * factor)`, ties to even,
    `scale1 = 1 / factor`. Nothing is rounded in between; `x` is rounded on its own.
    """
    return given.passed_to(add_rms_norm_dynamic_quant_v2)


@defined(
    f"{SMOOTHED}, beta=None, epsilon=1e-6, output_mask=None, *, dtype='int8'",
    "AddRmsNormDynamicQuantV2Result: y1 y2 x scale1 scale2",
)
def add_rms_norm_dynamic_quant_v2(given: Given) -> Any:
    """Do what `add_rms_norm_dynamic_quant` does, with a shift, fewer bits, and a mask.

    `dtype` is int8, int4 of ml_dtypes, int32, which packs eight integers of 4 bits along the last
    axis, the first one lowest, or one of float8 of ml_dtypes.
    """
    added = Added.of(given)
    y = added.x * added.rstd * added.gamma
    if given.beta is not None:
        y += added.rows.row("beta")
    both = given.smooth_scale1 is not None and given.smooth_scale2 is not None
    return smoothed(given, added, y, given.output_mask or (True, both))
