# SPDX-License-Identifier: Apache-2.0
"""The normalizing step of a BatchNorm over devices, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.channels import WholeChannels
from pyaclnn.reference.arithmetic.definition import ChannelsGiven, Given, defined
from pyaclnn.reference.arithmetic.precision import wide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.reference.arithmetic.channels import Channels


@defined("input, weight, bias, mean, invstd, eps=1e-5, *, family=None")
def batch_norm_elemt(given: Given) -> Any:
    """Normalize channels with given statistics, then scale and shift them.

    `output = (input - mean) * invstd * weight + bias`.

    All families use the variance, `1 / (invstd * invstd) - eps` in the data type of invstd, so
    that `invstd` is what is left of it after `1 / sqrt(variance + eps)`.
    """
    return of_channels(given, WholeChannels.of("input", given.array("input")))


def of_channels(given: Given, channels: Channels) -> NDArray[Any]:
    """Do what `batch_norm_elemt` does, with channels that compute their results."""
    each = ChannelsGiven(given, channels.layout, channels.tensor.dtype).each
    deviation = each("invstd", 1)
    if given.family is not None:
        dtype = given.array("invstd").dtype
        one, small = dtype.type(1), np.asarray(given.eps, dtype)
        rounded = deviation.astype(dtype)
        variance = wide(one / (rounded * rounded) - small, channels.layout.dtype)
        deviation = 1 / np.sqrt(variance + given.eps)
    factor, shift = deviation * each("weight", 1), each("bias", 0)
    return channels.normalized(each("mean", 0), factor, shift)


@defined("grad_out, input, mean, invstd, weight, sum_dy, sum_dy_xmu, counter, *, dtype=None")
def batch_norm_elemt_backward(given: Given) -> Any:
    """Propagate a gradient back to one device's part of the input of a batch normalization.

    With the sums of the whole batch and its number n of elements a channel, `sum(counter)`:
    `grad_input = (grad_out - sum_dy / n - (input - mean) * invstd ** 2 * sum_dy_xmu / n) * invstd *
    weight`.
    """
    channels = given.channels("input")
    kind = channels.layout.dtype
    count = np.add.reduce(wide(given.counter, kind), axis=None, dtype=kind)
    deviation = channels.each("invstd", 1)
    grad = channels.wide("grad_out") - channels.each("sum_dy", 0) / count
    slope = deviation * deviation * (channels.each("sum_dy_xmu", 0) / count)
    centred = channels.wide("input") - channels.each("mean", 0)
    grad_input = (grad - centred * slope) * (deviation * channels.each("weight", 1))
    return channels.tensor(grad_input, given.dtype)
