# SPDX-License-Identifier: Apache-2.0
"""Gradients of a batch normalization whose samples are spread over a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn import ops
from pyaclnn.health.fleet.cluster import connected
from pyaclnn.health.fleet.gradients import ShardedGradients
from pyaclnn.health.fleet.shards import ATTEMPTS, added, compute, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["sync_batch_norm_backward"]


def sync_batch_norm_backward(
    grad_out: Sequence[Any],
    input: Sequence[Any],
    save_mean: NDArray[Any],
    save_invstd: NDArray[Any],
    weight: NDArray[Any] | None = None,
    *,
    attempts: int = ATTEMPTS,
) -> ShardedGradients:
    """Compute the gradients of `sync_batch_norm`, each shard's on an NPU of its node.

    A sample's gradient needs two sums over the whole batch, of the upstream gradient and of its
    product with what the input is above the mean. Each shard's part of them is found on its node
    (`pyaclnn.batch_norm_reduce_backward`) and travels, a number for each channel; the parts are
    added in the order of the shards, in float64; then each shard's gradient is computed with the
    sums (`pyaclnn.batch_norm_elemt_backward`) and stays. The process must be connected by
    ``ray.init``.

    Args:
        grad_out: The upstream gradient of each shard: an array, or a Ray reference to one.
        input: The samples of each shard, (N, C, ...), likewise.
        save_mean: The mean of each channel over all shards, (C,), which `sync_batch_norm` found.
        save_invstd: The reciprocal standard deviation, likewise.
        weight: The weight, (C,), which all shards share; ones if None.
        attempts: How often a shard is tried, each time on another node if there is one.

    Returns:
        References to the gradients of the samples, and the gradients of weight and bias.

    Raises:
        FleetError: Ray is not installed, or the cluster has no NPU.
        ShardLostError: A shard was lost ``attempts`` times.
        ValueError: The lists are not equally long, or empty.
    """
    shards = together(grad_out=grad_out, input=input)
    with connected() as ray:
        calls = [(*shard, save_mean, save_invstd) for shard in shards]
        found = [own for _, (own,) in compute(ray, _sums, calls, 2, attempts)]
        counts = np.array([count for count, *_ in found], np.float32)
        sums = [added(parts) for parts in zip(*(own for _, *own in found), strict=True)]
        sum_dy, sum_dy_xmu, grad_weight, grad_bias = sums
        calls = [
            (*shard, save_mean, save_invstd, sum_dy, sum_dy_xmu, counts, weight) for shard in shards
        ]
        gradients = compute(ray, _gradient, calls, 2, attempts)
    return ShardedGradients([reference for reference, _ in gradients], grad_weight, grad_bias)


# Functions that run on an NPU: the first result stays there, the second comes back.


def _sums(dy: Any, x: Any, mean: Any, invstd: Any) -> tuple[None, tuple[Any, ...]]:
    return None, (x.size / x.shape[1], *ops.batch_norm_reduce_backward(dy, x, mean, invstd))


def _gradient(*arguments: Any) -> tuple[Any, None]:
    return ops.batch_norm_elemt_backward(*arguments), None
