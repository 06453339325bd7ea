# SPDX-License-Identifier: Apache-2.0
"""The normalizing step of a BatchNorm over devices, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout, WholeChannels
from pyaclnn.reference.arithmetic.precision import rounded, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from pyaclnn.reference.arithmetic.channels import Channels

__all__ = [
    "batch_norm_elemt",
    "batch_norm_elemt_backward",
]


def batch_norm_elemt(
    input: ArrayLike,
    weight: ArrayLike | None,
    bias: ArrayLike | None,
    mean: ArrayLike,
    invstd: ArrayLike,
    eps: float = 1e-5,
    *,
    family: str | None = None,
) -> NDArray[Any]:
    """Normalize channels with given statistics, then scale and shift them.

    `output = (input - mean) * invstd * weight + bias`.

    All families use the variance, `1 / (invstd * invstd) - eps` in the data type of invstd, so
    that `invstd` is what is left of it after `1 / sqrt(variance + eps)`.
    """
    tensor = np.asarray(input)
    channels = WholeChannels(ChannelLayout.of("input", tensor), tensor)
    return of_channels(channels, weight, bias, mean, invstd, eps, family=family)


@np.errstate(all="ignore")
def of_channels(
    channels: Channels,
    weight: ArrayLike | None,
    bias: ArrayLike | None,
    mean: ArrayLike,
    invstd: ArrayLike,
    eps: float,
    *,
    family: str | None,
) -> NDArray[Any]:
    """Do what `batch_norm_elemt` does, with channels that compute their results."""
    layout = channels.layout
    deviation = layout.per_channel("invstd", invstd, 1)
    if family is not None:
        dtype = np.asarray(invstd).dtype
        one, small = dtype.type(1), np.asarray(eps, dtype)
        given = deviation.astype(dtype)
        variance = wide(one / (given * given) - small, layout.dtype)
        deviation = 1 / np.sqrt(variance + eps)
    factor = deviation * layout.per_channel("weight", weight, 1)
    shift = layout.per_channel("bias", bias, 0)
    return channels.normalized(layout.per_channel("mean", mean, 0), factor, shift)


@np.errstate(all="ignore")
def batch_norm_elemt_backward(
    grad_out: ArrayLike,
    input: ArrayLike,
    mean: ArrayLike,
    invstd: ArrayLike,
    weight: ArrayLike | None,
    sum_dy: ArrayLike,
    sum_dy_xmu: ArrayLike,
    counter: ArrayLike,
    *,
    dtype: DTypeLike | None = None,
) -> NDArray[Any]:
    """Propagate a gradient back to one device's part of the input of a batch normalization.

    With the sums of the whole batch and its number n of elements a channel, `sum(counter)`:
    `grad_input = (grad_out - sum_dy / n - (input - mean) * invstd ** 2 * sum_dy_xmu / n) * invstd *
    weight`.
    """
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    count = np.add.reduce(wide(counter, layout.dtype), axis=None, dtype=layout.dtype)
    deviation = layout.per_channel("invstd", invstd, 1)
    grad = layout.wide("grad_out", grad_out) - layout.per_channel("sum_dy", sum_dy, 0) / count
    slope = deviation * deviation * (layout.per_channel("sum_dy_xmu", sum_dy_xmu, 0) / count)
    centred = layout.wide("input", tensor) - layout.per_channel("mean", mean, 0)
    grad_input = (grad - centred * slope) * (deviation * layout.per_channel("weight", weight, 1))
    target = tensor.dtype if dtype is None else np.dtype(dtype)
    return rounded(grad_input, target).reshape(layout.shape)
