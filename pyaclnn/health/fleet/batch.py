# SPDX-License-Identifier: Apache-2.0
"""Batch normalization of one batch whose samples are spread over a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn import ops
from pyaclnn.health.fleet.cluster import connected
from pyaclnn.health.fleet.shards import ATTEMPTS, compute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["ShardedBatchNorm", "sync_batch_norm"]


class ShardedBatchNorm(NamedTuple):
    """A batch that is normalized, and spread over a cluster.

    Attributes:
        output: A Ray reference for each shard, to its normalized samples, which stay on the node
            that computed them.
        save_mean: The mean of each channel over all shards; float32 of shape (C).
        save_invstd: The reciprocal standard deviation of each channel, likewise.
    """

    output: list[Any]
    save_mean: NDArray[Any]
    save_invstd: NDArray[Any]


def sync_batch_norm(
    input: Sequence[Any],
    running_mean: NDArray[Any] | None = None,
    running_var: NDArray[Any] | None = None,
    weight: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *,
    attempts: int = ATTEMPTS,
) -> ShardedBatchNorm:
    """Normalize a batch in shards with the statistics of all of it, as in training.

    Each shard's statistics are found on an NPU of its node (`pyaclnn.batch_norm_stats`), combined
    on one NPU (`pyaclnn.batch_norm_gather_stats_with_counts`), and each shard is normalized with
    them (`pyaclnn.batch_norm_elemt`): a mean and a deviation for each channel travel, the samples
    do not. The process must be connected by ``ray.init``.

    Args:
        input: The samples of each shard, (N, C, ...): an array, or a Ray reference to one. An array
            is sent twice, a reference not at all if its node has an NPU.
        running_mean: The running mean, (C,), updated in place when all is done; None moves none.
        running_var: The running variance, likewise; it moves by the unbiased variance.
        weight: The weight, (C,), which all shards share; ones if None.
        bias: The bias, likewise; zeros if None.
        momentum: The share of this batch in the running statistics.
        eps: Added to the variance.
        attempts: How often a shard is tried, each time on another node if there is one.

    Returns:
        References to the normalized samples, and the statistics of the batch.

    Raises:
        FleetError: Ray is not installed, or the cluster has no NPU.
        ShardLostError: A shard was lost ``attempts`` times.
        ValueError: There are no shards.
    """
    if not input:
        raise ValueError("input has no shards; there must be at least one")
    with connected() as ray:
        found = compute(ray, _statistics, [(x, eps) for x in input], 2, attempts)
        counts, means, invstds = zip(*(own for _, (own,) in found), strict=True)
        gathered = (
            np.stack(means),
            np.stack(invstds),
            np.array(counts, np.float32),
            running_mean,
            running_var,
            momentum,
            eps,
        )
        ((_, (combined,)),) = compute(ray, _combined, [gathered], 2, attempts)
        mean, invstd, moved_mean, moved_var = combined
        calls = [(x, mean, invstd, weight, bias, eps) for x in input]
        outputs = compute(ray, _normalized, calls, 2, attempts)
    if running_mean is not None and running_var is not None:
        running_mean[...] = moved_mean
        running_var[...] = moved_var
    return ShardedBatchNorm([reference for reference, _ in outputs], mean, invstd)


# Functions that run on an NPU: the first result stays there, the second comes back.


def _statistics(x: Any, eps: float) -> tuple[None, tuple[float, Any, Any]]:
    mean, invstd = ops.batch_norm_stats(x, eps)
    return None, (x.size / x.shape[1], mean, invstd)


def _combined(
    means: NDArray[Any],
    invstds: NDArray[Any],
    counts: NDArray[Any],
    running_mean: NDArray[Any] | None,
    running_var: NDArray[Any] | None,
    momentum: float,
    eps: float,
) -> tuple[None, tuple[Any, ...]]:
    # Ray's arrays cannot be written to.
    moved_mean = None if running_mean is None else running_mean.copy()
    moved_var = None if running_var is None else running_var.copy()
    channels = np.zeros((1, means.shape[1]), np.float32)
    mean, invstd = ops.batch_norm_gather_stats_with_counts(
        channels, means, invstds, counts, moved_mean, moved_var, momentum, eps
    )
    return None, (mean, invstd, moved_mean, moved_var)


def _normalized(x: Any, *arguments: Any) -> tuple[Any, None]:
    return ops.batch_norm_elemt(x, *arguments), None
