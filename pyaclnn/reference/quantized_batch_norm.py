# SPDX-License-Identifier: Apache-2.0
"""BatchNorm from integers to integers (CANN: aclnnQuantizedBatchNorm)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.precision import FLOAT32

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["quantized_batch_norm"]

INTEGERS = tuple(map(np.dtype, (np.int8, np.uint8, np.int32)))


@np.errstate(all="ignore")
def quantized_batch_norm(
    input: ArrayLike,
    mean: ArrayLike,
    var: ArrayLike,
    input_scale: float,
    input_zero_point: int,
    output_scale: float,
    output_zero_point: int,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    epsilon: float = 1e-5,
    *,
    dtype: DTypeLike | None = None,
) -> NDArray[Any]:
    """Normalize channels of integers with given statistics, in float32, then quantize them again.

    `x = (input - input_zero_point) * input_scale`,
    `y = (x - mean) / sqrt(var + epsilon) * weight + bias`, and
    `round(y / output_scale + output_zero_point)`, ties to even, as far as the type goes.

    `dtype` is int8, uint8 or int32; None stands for the data type of the input.
    """
    tensor = np.asarray(input)
    target = tensor.dtype if dtype is None else np.dtype(dtype)
    for name, found in (("input", tensor.dtype), ("the output", target)):
        if found not in INTEGERS:
            raise TypeError(f"{name} has the data type {found}; it must be int8, uint8 or int32")
    # Of its shape alone, in the type that arithmetic runs in.
    layout = ChannelLayout.of("input", np.broadcast_to(FLOAT32.type(0), tensor.shape))
    x = (layout.wide("input", tensor) - np.float32(input_zero_point)) * np.float32(input_scale)
    deviation = np.sqrt(layout.per_channel("var", var, 1) + np.float32(epsilon))
    y = (x - layout.per_channel("mean", mean, 0)) / deviation
    y = y * layout.per_channel("weight", weight, 1) + layout.per_channel("bias", bias, 0)
    whole = np.rint(y / np.float32(output_scale) + np.float32(output_zero_point))
    limits = np.iinfo(target)
    # float32 has no largest int32; float64 has.
    inside = np.clip(np.nan_to_num(whole.astype(np.float64), nan=0), limits.min, limits.max)
    return np.asarray(inside.astype(target).reshape(layout.shape))
