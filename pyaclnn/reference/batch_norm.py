# SPDX-License-Identifier: Apache-2.0
"""BatchNorm and its gradient (CANN: aclnnBatchNorm, aclnnBatchNormBackward)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.channels import WholeChannels
from pyaclnn.reference.arithmetic.definition import ChannelsGiven, Given, chosen, defined
from pyaclnn.reference.arithmetic.precision import rounded, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.reference.arithmetic.channels import Channels

RECIPROCAL_DEVIATION = (None, "950")
"""Families whose save_invstd is the inverse deviation; elsewhere it is the variance."""


@defined(
    "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, "
    "eps=1e-5, *, family=None",
    "BatchNormResult: output save_mean save_invstd running_mean running_var",
)
def batch_norm(given: Given) -> Any:
    """Normalize channels over all samples, then scale and shift them.

    With the mean and the biased variance of this batch if training, else those that run along:
    `output = (input - mean) / sqrt(variance + eps) * weight + bias`.
    Training, both running statistics move: `new = (1 - momentum) * old + momentum * batch`, where
    the batch's variance is the unbiased one, n / (n - 1) times the biased.

    Without elements the mean of a batch is 0, its reciprocal deviation NaN, and nothing runs along,
    as in CANN. All families but ``"950"`` give the variance, without eps, for `save_invstd`.

    Source: CANN: ops-nn norm/batch_norm_v3.
    """
    return of_channels(given, WholeChannels.of("input", given.array("input")))


def of_channels(given: Given, channels: Channels) -> tuple[NDArray[Any] | None, ...]:
    """Do what `batch_norm` does, with channels that compute their moments and results."""
    layout, momentum = channels.layout, given.momentum
    each = ChannelsGiven(given, layout, channels.tensor.dtype).each
    scale, shift = each("weight", 1), each("bias", 0)
    mean, variance = old = each("running_mean", 0), each("running_var", 1)
    count = layout.samples * layout.positions
    if given.training:
        mean, variance = channels.moments()
    invstd = 1 / np.sqrt(variance + given.eps)
    output = channels.normalized(mean, invstd * scale, shift)

    def moved(
        name: str, old: NDArray[Any], batch: NDArray[Any], factor: float = 1
    ) -> NDArray[Any] | None:
        if getattr(given, name) is None:
            return None
        moves = given.training and count
        new = (1 - momentum) * old + momentum * (batch * factor) if moves else old
        return np.array(rounded(new[:, 0], given.array(name).dtype))

    unbiased = count / max(count - 1, 1)
    moved_both = (
        moved("running_mean", old[0], mean),
        moved("running_var", old[1], variance, unbiased),
    )
    if not given.training:
        return output, None, None, *moved_both
    saved = invstd if given.family in RECIPROCAL_DEVIATION or not count else variance
    return output, mean[:, 0], saved[:, 0], *moved_both


@defined(
    "grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, training=True, "
    "eps=1e-5, *, output_mask=(True, True, True), family=None",
    "BatchNormGrads: grad_input grad_weight grad_bias",
)
def batch_norm_backward(given: Given) -> Any:
    """Propagate a gradient back through `batch_norm`.

    With `xhat = (input - mean) * invstd` and sums over all samples and positions, n of them:
    `grad_bias = sum(grad_out)`, `grad_weight = sum(grad_out * xhat)`. If training,
    `grad_input = weight * invstd * (grad_out - grad_bias / n - xhat * grad_weight / n)`, where mean
    and invstd are those saved, as they are; else `grad_input = weight * invstd * grad_out`, where
    they are the running mean and `1 / sqrt(running_var + eps)`.

    All families but ``"950"`` take `save_invstd` for a variance, which they return there, and add
    eps to it.
    """
    channels, training = given.channels("input"), given.training
    grad, x, scale = channels.wide("grad_out"), channels.wide("input"), channels.each("weight", 1)
    mean = channels.each("save_mean" if training else "running_mean", 0)
    invstd = channels.each("save_invstd" if training else "running_var", 1)
    if not training or given.family not in RECIPROCAL_DEVIATION:
        invstd = 1 / np.sqrt(invstd + given.eps)
    xhat = (x - mean) * invstd
    grad_weight, grad_bias = (total(part, (0, 2))[0] for part in (grad * xhat, grad))
    grad_input = grad
    if training:
        count = channels.layout.samples * channels.layout.positions
        grad_input = grad - grad_bias / count - xhat * (grad_weight / count)
    grad_input = channels.tensor(grad_input * (invstd * scale), given.array("grad_out").dtype)
    return chosen(given.output_mask, grad_input, grad_weight[:, 0], grad_bias[:, 0])


fast_batch_norm_backward = batch_norm_backward  # of another operator with the same results
