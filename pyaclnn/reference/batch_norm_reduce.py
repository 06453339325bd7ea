# SPDX-License-Identifier: Apache-2.0
"""Sums for a BatchNorm over devices (CANN: aclnnBatchNormReduce, aclnnSyncBatchNormGatherStats)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, total, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BatchNormReduceResult",
    "SyncBatchNormGatherStatsResult",
    "batch_norm_reduce",
    "sync_batch_norm_gather_stats",
]


class BatchNormReduceResult(NamedTuple):
    """What `batch_norm_reduce` returns.

    Attributes:
        sum: The sum of each channel: (C,), float32 (float64 for float64 x).
        square_sum: The sum of the squares of each channel, like `sum`.
    """

    sum: NDArray[Any]
    square_sum: NDArray[Any]


class SyncBatchNormGatherStatsResult(NamedTuple):
    """What `sync_batch_norm_gather_stats` returns, all of it (C,) and of the type of total_sum.

    Attributes:
        batch_mean: The mean of each channel of the whole batch.
        batch_invstd: The reciprocal standard deviation of each channel of the whole batch.
        mean: The new running mean.
        variance: The new running variance.
    """

    batch_mean: NDArray[Any]
    batch_invstd: NDArray[Any]
    mean: NDArray[Any]
    variance: NDArray[Any]


@np.errstate(all="ignore")
def batch_norm_reduce(x: ArrayLike) -> BatchNormReduceResult:
    """Add up each channel and its squares, over all samples and positions.

    Args:
        x: A float16, bfloat16, float32 or float64 tensor (N, C, ...) of any rank from 2.

    Returns:
        `sum` and `square_sum`. Those of nothing are 0.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: x has no axis of channels.

    Source: CANN: ops-nn norm/bn_training_reduce.
    """
    values = ChannelLayout.of("x", np.asarray(x)).wide("x", x)
    sums = (total(part, (0, 2)).ravel() for part in (values, values * values))
    return BatchNormReduceResult(*sums)


@np.errstate(all="ignore")
def sync_batch_norm_gather_stats(
    total_sum: ArrayLike,
    total_square_sum: ArrayLike,
    sample_count: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> SyncBatchNormGatherStatsResult:
    """Make statistics of the whole batch out of the sums of devices, and move those that run.

    With n elements a channel in all, `sum(sample_count)`: `batch_mean = sum(total_sum) / n`,
    `v = sum(total_square_sum) / n - batch_mean ** 2`, `batch_invstd = 1 / sqrt(v + eps)`,
    `mean = (1 - momentum) * mean + momentum * batch_mean`,
    `variance = (1 - momentum) * variance + momentum * v * n / (n - 1)`.

    Args:
        total_sum: The sum of each channel on each device: (devices, C), float16, bfloat16, float32
            or float64.
        total_square_sum: The sum of squares, like `total_sum`.
        sample_count: How many elements a channel has on each device: (devices,).
        mean: The running mean, (C,), any float type. It is not written to.
        variance: The running variance, like `mean`.
        momentum: How much this batch moves the running statistics.
        eps: Added to the variance.

    Returns:
        `batch_mean`, `batch_invstd`, `mean` and `variance`.

    Raises:
        TypeError: The data type of total_sum is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/sync_batch_norm_gather_stats.
    """
    sums = np.asarray(total_sum)
    dtype = arithmetic_dtype("total_sum", sums)
    shape = np.size(sample_count), np.size(mean)
    for name, array, expected in (
        ("total_sum", sums, shape),
        ("total_square_sum", total_square_sum, shape),
        ("sample_count", sample_count, shape[:1]),
        ("mean", mean, shape[1:]),
        ("variance", variance, shape[1:]),
    ):
        if np.shape(array) != expected:
            raise ValueError(f"{name} has the shape {np.shape(array)}; it must be {expected}")
    count = total(wide(sample_count, dtype), 0)
    batch_mean = total(wide(sums, dtype), 0)[0] / count
    v = total(wide(total_square_sum, dtype), 0)[0] / count - batch_mean * batch_mean
    unbiased = v * count / (count - 1)
    results = (
        batch_mean,
        1 / np.sqrt(v + eps),
        (1 - momentum) * wide(mean, dtype) + momentum * batch_mean,
        (1 - momentum) * wide(variance, dtype) + momentum * unbiased,
    )
    return SyncBatchNormGatherStatsResult(*(rounded(part, sums.dtype) for part in results))
