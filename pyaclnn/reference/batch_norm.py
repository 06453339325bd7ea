# SPDX-License-Identifier: Apache-2.0
"""BatchNorm and its gradient (CANN: aclnnBatchNorm, aclnnBatchNormBackward)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout, WholeChannels
from pyaclnn.reference.arithmetic.precision import rounded, total

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pyaclnn.reference.arithmetic.channels import Channels

__all__ = [
    "BatchNormGrads",
    "BatchNormResult",
    "batch_norm",
    "batch_norm_backward",
    "fast_batch_norm_backward",
]

RECIPROCAL_DEVIATION = (None, "950")
"""Families whose save_invstd is the inverse deviation; elsewhere it is the variance."""


class BatchNormResult(NamedTuple):
    """Results of `batch_norm`."""

    output: NDArray[Any]
    save_mean: NDArray[Any] | None
    save_invstd: NDArray[Any] | None
    running_mean: NDArray[Any] | None
    running_var: NDArray[Any] | None


class BatchNormGrads(NamedTuple):
    """Results of `batch_norm_backward`; None for each that is not computed."""

    grad_input: NDArray[Any] | None
    grad_weight: NDArray[Any] | None
    grad_bias: NDArray[Any] | None


def batch_norm(
    input: ArrayLike,
    running_mean: ArrayLike | None,
    running_var: ArrayLike | None,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *,
    family: str | None = None,
) -> BatchNormResult:
    """Normalize channels over all samples, then scale and shift them.

    With the mean and the biased variance of this batch if training, else those that run along:
    `output = (input - mean) / sqrt(variance + eps) * weight + bias`.
    Training, both running statistics move: `new = (1 - momentum) * old + momentum * batch`, where
    the batch's variance is the unbiased one, n / (n - 1) times the biased.

    Without elements the mean of a batch is 0, its reciprocal deviation NaN, and nothing runs along,
    as in CANN. All families but ``"950"`` give the variance, without eps, for `save_invstd`.

    Source: CANN: ops-nn norm/batch_norm_v3.
    """
    tensor = np.asarray(input)
    channels = WholeChannels(ChannelLayout.of("input", tensor), tensor)
    statistics = running_mean, running_var, weight, bias
    return of_channels(channels, *statistics, training, momentum, eps, family=family)


@np.errstate(all="ignore")
def of_channels(
    channels: Channels,
    running_mean: ArrayLike | None,
    running_var: ArrayLike | None,
    weight: ArrayLike | None,
    bias: ArrayLike | None,
    training: bool,
    momentum: float,
    eps: float,
    *,
    family: str | None,
) -> BatchNormResult:
    """Do what `batch_norm` does, with channels that compute their moments and results."""
    layout = channels.layout
    scale = layout.per_channel("weight", weight, 1)
    shift = layout.per_channel("bias", bias, 0)
    mean = old_mean = layout.per_channel("running_mean", running_mean, 0)
    variance = old_variance = layout.per_channel("running_var", running_var, 1)
    count = layout.samples * layout.positions
    if training:
        mean, variance = channels.moments()
    invstd = 1 / np.sqrt(variance + eps)
    output = channels.normalized(mean, invstd * scale, shift)

    def moved(
        given: ArrayLike | None, old: NDArray[Any], batch: NDArray[Any]
    ) -> NDArray[Any] | None:
        if given is None:
            return None
        new = (1 - momentum) * old + momentum * batch if training and count else old
        return np.array(rounded(new[:, 0], np.asarray(given).dtype))

    saved = invstd if family in RECIPROCAL_DEVIATION or not count else variance
    return BatchNormResult(
        output,
        mean[:, 0] if training else None,
        saved[:, 0] if training else None,
        moved(running_mean, old_mean, mean),
        moved(running_var, old_variance, variance * (count / max(count - 1, 1))),
    )


@np.errstate(all="ignore")
def batch_norm_backward(
    grad_out: ArrayLike,
    input: ArrayLike,
    weight: ArrayLike | None,
    running_mean: ArrayLike | None,
    running_var: ArrayLike | None,
    save_mean: ArrayLike | None,
    save_invstd: ArrayLike | None,
    training: bool = True,
    eps: float = 1e-5,
    *,
    output_mask: tuple[bool, bool, bool] = (True, True, True),
    family: str | None = None,
) -> BatchNormGrads:
    """Propagate a gradient back through `batch_norm`.

    With `xhat = (input - mean) * invstd` and sums over all samples and positions, n of them:
    `grad_bias = sum(grad_out)`, `grad_weight = sum(grad_out * xhat)`. If training,
    `grad_input = weight * invstd * (grad_out - grad_bias / n - xhat * grad_weight / n)`, where mean
    and invstd are those saved, as they are; else `grad_input = weight * invstd * grad_out`, where
    they are the running mean and `1 / sqrt(running_var + eps)`.

    All families but ``"950"`` take `save_invstd` for a variance, which they return there, and add
    eps to it.
    """
    tensor, grads = np.asarray(input), np.asarray(grad_out)
    layout = ChannelLayout.of("input", tensor)
    grad, x = layout.wide("grad_out", grads), layout.wide("input", tensor)
    scale = layout.per_channel("weight", weight, 1)
    if training:
        mean = layout.per_channel("save_mean", save_mean, 0)
        invstd = layout.per_channel("save_invstd", save_invstd, 1)
        if family not in RECIPROCAL_DEVIATION:
            invstd = 1 / np.sqrt(invstd + eps)
    else:
        mean = layout.per_channel("running_mean", running_mean, 0)
        invstd = 1 / np.sqrt(layout.per_channel("running_var", running_var, 1) + eps)
    xhat = (x - mean) * invstd
    grad_weight, grad_bias = (total(part, (0, 2))[0] for part in (grad * xhat, grad))
    grad_input = grad
    if training:
        count = layout.samples * layout.positions
        grad_input = grad - grad_bias / count - xhat * (grad_weight / count)
    grad_input = rounded(grad_input * (invstd * scale), grads.dtype).reshape(layout.shape)
    want_input, want_weight, want_bias = output_mask
    return BatchNormGrads(
        grad_input if want_input else None,
        grad_weight[:, 0] if want_weight else None,
        grad_bias[:, 0] if want_bias else None,
    )


fast_batch_norm_backward = batch_norm_backward  # of another operator with the same results
