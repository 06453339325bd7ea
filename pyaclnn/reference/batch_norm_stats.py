# SPDX-License-Identifier: Apache-2.0
"""Statistics of a batch that is spread over devices (CANN: aclnnBatchNormStats, ...).

A forward step on each device: `batch_norm_stats`, an exchange of the results,
`batch_norm_gather_stats_with_counts`, `batch_norm_elemt`. A backward step:
`batch_norm_reduce_backward`, a sum of its results over the devices, `batch_norm_elemt_backward`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, total, wide

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_shapes(given: Given, shapes: dict[str, tuple[int, ...]]) -> None:
    """Check the shapes of those arguments that are there."""
    for name, shape in shapes.items():
        array = getattr(given, name)
        if array is not None and np.shape(array) != shape:
            raise ValueError(f"{name} has the shape {np.shape(array)}; it must be {shape}")


@defined("input, eps=1e-5", "BatchNormStatsResult: mean invstd")
def batch_norm_stats(given: Given) -> Any:
    """Find the mean and the reciprocal standard deviation of each channel.

    Over all samples and positions, with the biased variance: `invstd = 1 / sqrt(variance + eps)`.

    Without elements the mean is 0 and invstd is NaN, as CANN fills them.
    """
    _, mean, variance = moments(given.channels("input").wide("input"), (0, 2))
    return mean.ravel(), (1 / np.sqrt(variance + given.eps)).ravel()


@defined(
    "input, mean, invstd, running_mean, running_var, momentum, eps, counts",
    "BatchNormGatherStatsResult: mean_all invstd_all running_mean running_var",
)
def batch_norm_gather_stats_with_counts(given: Given) -> Any:
    """Combine the statistics of devices into those of the whole batch, and move those that run.

    With `variance = 1 / invstd ** 2 - eps` and sums over devices, n elements in all:
    `mean_all = sum(counts * mean) / n`,
    `squares = sum(counts * (variance + (mean - mean_all) ** 2))`,
    `invstd_all = 1 / sqrt(squares / n + eps)`. Both running statistics move:
    `new = (1 - momentum) * old + momentum * batch`, where the batch's variance is the unbiased
    one, `squares / (n - 1)`.

    Without devices the mean is 0, invstd is NaN, and nothing moves, as in CANN.
    """
    each, devices = (given.channels("input").layout.channels,), np.size(given.counts)
    dtype = arithmetic_dtype("mean", given.array("mean"))
    shapes = {"mean": (devices, *each), "invstd": (devices, *each), "counts": (devices,)}
    check_shapes(given, {**shapes, "running_mean": each, "running_var": each})
    means, deviations = wide(given.mean, dtype), wide(given.invstd, dtype)
    weights = wide(given.counts, dtype)[:, None]
    count = total(weights, 0)[0]
    mean_all = total(weights * means, 0) / (count if devices else 1)
    variances = 1 / (deviations * deviations) - given.eps
    squares = total(weights * (variances + (means - mean_all) ** 2), 0)

    def moved(running: Any, batch: NDArray[Any]) -> NDArray[Any] | None:
        if running is None:
            return None
        old = wide(running, dtype)
        new = (1 - given.momentum) * old + given.momentum * batch[0] if devices else old
        return rounded(new, np.asarray(running).dtype)

    return (
        mean_all[0],
        (1 / np.sqrt(squares / count + given.eps))[0],
        moved(given.running_mean, mean_all),
        moved(given.running_var, squares / (count - 1)),
    )


@defined(
    "total_sum, total_square_sum, sample_count, mean, variance, momentum=0.1, eps=1e-5",
    "SyncBatchNormGatherStatsResult: batch_mean batch_invstd mean variance",
)
def sync_batch_norm_gather_stats(given: Given) -> Any:
    """Make statistics of the whole batch out of the sums of devices, and move those that run.

    With n elements a channel in all, `sum(sample_count)`: `batch_mean = sum(total_sum) / n`,
    `v = sum(total_square_sum) / n - batch_mean ** 2`, `batch_invstd = 1 / sqrt(v + eps)`,
    `mean = (1 - momentum) * mean + momentum * batch_mean`,
    `variance = (1 - momentum) * variance + momentum * v * n / (n - 1)`.
    """
    sums, momentum = given.array("total_sum"), given.momentum
    dtype = arithmetic_dtype("total_sum", sums)
    shape = np.size(given.sample_count), np.size(given.mean)
    shapes = {"total_sum": shape, "total_square_sum": shape, "sample_count": shape[:1]}
    check_shapes(given, {**shapes, "mean": shape[1:], "variance": shape[1:]})
    count = total(wide(given.sample_count, dtype), 0)
    batch_mean = total(wide(sums, dtype), 0)[0] / count
    v = total(wide(given.total_square_sum, dtype), 0)[0] / count - batch_mean * batch_mean
    unbiased = v * count / (count - 1)
    results = (
        batch_mean,
        1 / np.sqrt(v + given.eps),
        (1 - momentum) * wide(given.mean, dtype) + momentum * batch_mean,
        (1 - momentum) * wide(given.variance, dtype) + momentum * unbiased,
    )
    return [rounded(part, sums.dtype) for part in results]
