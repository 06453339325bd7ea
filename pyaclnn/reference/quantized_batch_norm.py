# SPDX-License-Identifier: Apache-2.0
"""BatchNorm from integers to integers (CANN: aclnnQuantizedBatchNorm)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.definition import ChannelsGiven, Given, defined
from pyaclnn.reference.arithmetic.precision import FLOAT32

INTEGERS = tuple(map(np.dtype, (np.int8, np.uint8, np.int32)))


@defined(
    "input, mean, var, input_scale, input_zero_point, output_scale, output_zero_point, "
    "weight=None, bias=None, epsilon=1e-5, *, dtype=None"
)
def quantized_batch_norm(given: Given) -> Any:
    """Normalize channels of integers with given statistics, in float32, then quantize them again.

    `x = (input - input_zero_point) * input_scale`,
    `y = (x - mean) / sqrt(var + epsilon) * weight + bias`, and
    `round(y / output_scale + output_zero_point)`, ties to even, as far as the type goes.

    `dtype` is int8, uint8 or int32; None stands for the data type of the input.
    """
    tensor, target = given.array("input"), given.dtype_like("input")
    for name, found in (("input", tensor.dtype), ("the output", target)):
        if found not in INTEGERS:
            raise TypeError(f"{name} has the data type {found}; it must be int8, uint8 or int32")
    # The layout follows from its shape alone, in the type that arithmetic runs in.
    layout = ChannelLayout.of("input", np.broadcast_to(FLOAT32.type(0), tensor.shape))
    channels = ChannelsGiven(given, layout, tensor.dtype)
    x = channels.wide("input") - np.float32(given.input_zero_point)
    x = x * np.float32(given.input_scale)
    deviation = np.sqrt(channels.each("var", 1) + np.float32(given.epsilon))
    y = (x - channels.each("mean", 0)) / deviation
    y = y * channels.each("weight", 1) + channels.each("bias", 0)
    whole = np.rint(y / np.float32(given.output_scale) + np.float32(given.output_zero_point))
    limits = np.iinfo(target)
    # float32 has no largest int32; float64 has.
    inside = np.clip(np.nan_to_num(whole.astype(np.float64), nan=0), limits.min, limits.max)
    return np.asarray(inside.astype(target).reshape(layout.shape))
