# SPDX-License-Identifier: Apache-2.0
"""Statistics of a batch that is spread over devices (CANN: aclnnBatchNormStats, ...).

A forward step on each device: `batch_norm_stats`, an exchange of the results,
`batch_norm_gather_stats_with_counts`, `batch_norm_elemt`. A backward step:
`batch_norm_reduce_backward`, a sum of its results over the devices, `batch_norm_elemt_backward`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, total, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BatchNormGatherStatsResult",
    "BatchNormStatsResult",
    "SyncBatchNormGatherStatsResult",
    "batch_norm_gather_stats_with_counts",
    "batch_norm_stats",
    "sync_batch_norm_gather_stats",
]


class BatchNormStatsResult(NamedTuple):
    """Results of `batch_norm_stats`."""

    mean: NDArray[Any]
    invstd: NDArray[Any]


class BatchNormGatherStatsResult(NamedTuple):
    """Results of `batch_norm_gather_stats_with_counts`."""

    mean_all: NDArray[Any]
    invstd_all: NDArray[Any]
    running_mean: NDArray[Any] | None
    running_var: NDArray[Any] | None


class SyncBatchNormGatherStatsResult(NamedTuple):
    """Results of `sync_batch_norm_gather_stats`."""

    batch_mean: NDArray[Any]
    batch_invstd: NDArray[Any]
    mean: NDArray[Any]
    variance: NDArray[Any]


@np.errstate(all="ignore")
def batch_norm_stats(input: ArrayLike, eps: float = 1e-5) -> BatchNormStatsResult:
    """Find the mean and the reciprocal standard deviation of each channel.

    Over all samples and positions, with the biased variance: `invstd = 1 / sqrt(variance + eps)`.

    Without elements the mean is 0 and invstd is NaN, as CANN fills them.
    """
    layout = ChannelLayout.of("input", np.asarray(input))
    _, mean, variance = moments(layout.wide("input", input), (0, 2))
    return BatchNormStatsResult(mean.ravel(), (1 / np.sqrt(variance + eps)).ravel())


@np.errstate(all="ignore")
def batch_norm_gather_stats_with_counts(
    input: ArrayLike,
    mean: ArrayLike,
    invstd: ArrayLike,
    running_mean: ArrayLike | None,
    running_var: ArrayLike | None,
    momentum: float,
    eps: float,
    counts: ArrayLike,
) -> BatchNormGatherStatsResult:
    """Combine the statistics of devices into those of the whole batch, and move those that run.

    With `variance = 1 / invstd ** 2 - eps` and sums over devices, n elements in all:
    `mean_all = sum(counts * mean) / n`,
    `squares = sum(counts * (variance + (mean - mean_all) ** 2))`,
    `invstd_all = 1 / sqrt(squares / n + eps)`. Both running statistics move:
    `new = (1 - momentum) * old + momentum * batch`, where the batch's variance is the unbiased
    one, `squares / (n - 1)`.

    Without devices the mean is 0, invstd is NaN, and nothing moves, as in CANN.
    """
    channels = ChannelLayout.of("input", np.asarray(input)).channels
    given = np.asarray(mean)
    dtype = arithmetic_dtype("mean", given)
    devices = np.size(counts)
    for name, array, shape in (
        ("mean", given, (devices, channels)),
        ("invstd", invstd, (devices, channels)),
        ("counts", counts, (devices,)),
        ("running_mean", running_mean, (channels,)),
        ("running_var", running_var, (channels,)),
    ):
        if array is not None and np.shape(array) != shape:
            raise ValueError(f"{name} has the shape {np.shape(array)}; it must be {shape}")
    means, deviations = wide(given, dtype), wide(invstd, dtype)
    weights = wide(counts, dtype)[:, None]
    count = total(weights, 0)[0]
    mean_all = total(weights * means, 0) / (count if devices else 1)
    variances = 1 / (deviations * deviations) - eps
    squares = total(weights * (variances + (means - mean_all) ** 2), 0)

    def moved(running: ArrayLike | None, batch: NDArray[Any]) -> NDArray[Any] | None:
        if running is None:
            return None
        old = wide(running, dtype)
        new = (1 - momentum) * old + momentum * batch[0] if devices else old
        return rounded(new, np.asarray(running).dtype)

    return BatchNormGatherStatsResult(
        mean_all[0],
        (1 / np.sqrt(squares / count + eps))[0],
        moved(running_mean, mean_all),
        moved(running_var, squares / (count - 1)),
    )


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
