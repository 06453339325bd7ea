# SPDX-License-Identifier: Apache-2.0
"""BatchNorm (CANN: aclnnBatchNorm)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import rounded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["BatchNormResult", "batch_norm"]

RECIPROCAL_DEVIATION = (None, "950")
"""Whose save_invstd is what its name says; that of the other families is the variance."""


class BatchNormResult(NamedTuple):
    """What `batch_norm` returns.

    Attributes:
        output: The normalized tensor: the input's shape and data type.
        save_mean: The mean of each channel of this batch: (C,), float32 (float64 for float64
            input); None unless training.
        save_invstd: The reciprocal standard deviation of each channel of this batch, or its biased
            variance where the family gives that instead; like `save_mean`.
        running_mean: The new running mean: the shape and data type of the one given, None if there
            was none. Not training, it is the one given.
        running_var: The new running variance, like `running_mean`.
    """

    output: NDArray[Any]
    save_mean: NDArray[Any] | None
    save_invstd: NDArray[Any] | None
    running_mean: NDArray[Any] | None
    running_var: NDArray[Any] | None


@np.errstate(all="ignore")
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

    Args:
        input: A float16, bfloat16, float32 or float64 tensor (N, C, ...) of any rank from 2.
        running_mean: (C,), any float type; None means zeros. It is not written to.
        running_var: (C,), any float type; None means ones. It is not written to.
        weight: (C,), any float type; None means ones.
        bias: (C,), any float type; None means zeros.
        training: Whether to normalize with the statistics of this batch.
        momentum: How much this batch moves the running statistics.
        eps: Added to the variance.
        family: The family of chips. All but ``"950"`` give the variance, without eps, for
            `save_invstd`.

    Returns:
        `output`, `save_mean`, `save_invstd`, `running_mean` and `running_var`. Without elements
        the mean of a batch is 0, its reciprocal deviation NaN, and nothing runs along, as in CANN.

    Raises:
        TypeError: The input's data type is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/batch_norm_v3.
    """
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    scale = layout.per_channel("weight", weight, 1)
    shift = layout.per_channel("bias", bias, 0)
    mean = old_mean = layout.per_channel("running_mean", running_mean, 0)
    variance = old_variance = layout.per_channel("running_var", running_var, 1)
    x = layout.wide("input", tensor)
    count = layout.samples * layout.positions
    if training:
        centred, mean, variance = moments(x, (0, 2))
        mean, variance = mean[0], variance[0]
    else:
        centred = x - mean
    invstd = 1 / np.sqrt(variance + eps)
    output = rounded(centred * invstd * scale + shift, tensor.dtype).reshape(tensor.shape)

    def moved(
        given: ArrayLike | None, old: NDArray[Any], batch: NDArray[Any]
    ) -> NDArray[Any] | None:
        if given is None:
            return None
        new = (1 - momentum) * old + momentum * batch if training and count else old
        return rounded(new[:, 0], np.asarray(given).dtype)

    saved = invstd if family in RECIPROCAL_DEVIATION or not count else variance
    return BatchNormResult(
        output,
        mean[:, 0] if training else None,
        saved[:, 0] if training else None,
        moved(running_mean, old_mean, mean),
        moved(running_var, old_variance, variance * (count / max(count - 1, 1))),
    )
