# SPDX-License-Identifier: Apache-2.0
"""Norms and their gradients over a batch that is spread over a cluster.

Functions that run on an NPU return two results: the first stays there, the second comes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn import ops
from pyaclnn.health.fleet.cluster import connected
from pyaclnn.health.fleet.shards import ATTEMPTS, added, compute, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "ShardedBatchNorm",
    "ShardedGradients",
    "layer_norm_backward",
    "rms_norm_grad",
    "sync_batch_norm",
    "sync_batch_norm_backward",
]


class ShardedGradients(NamedTuple):
    """Gradients of a batch that is spread over a cluster.

    Attributes:
        grad_input: A Ray reference for each shard, to the gradient of its part, which stays on the
            node that computed it.
        grad_weight: The gradient of the weight, of all shards.
        grad_bias: The gradient of the bias, of all shards; None where there is none.
    """

    grad_input: list[Any]
    grad_weight: NDArray[Any] | None
    grad_bias: NDArray[Any] | None


def layer_norm_backward(
    grad_out: Sequence[Any],
    input: Sequence[Any],
    normalized_shape: int | Sequence[int],
    mean: Sequence[Any],
    rstd: Sequence[Any],
    weight: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
    *,
    attempts: int = ATTEMPTS,
) -> ShardedGradients:
    """Compute `pyaclnn.layer_norm_backward` of rows in shards, each on an NPU of its node.

    A row's own gradient needs no other row. The gradients of weight and bias are sums over rows:
    each shard's are added in the order of the shards, in float64, so that they do not depend on
    which NPU was sooner. The process must be connected by ``ray.init``.

    Args:
        grad_out: The upstream gradient of each shard: an array, or a Ray reference to one.
        input: The rows of each shard, likewise.
        normalized_shape: The shape of a row.
        mean: The result of the forward pass for each shard, likewise.
        rstd: The same of the reciprocal standard deviations.
        weight: The weight, which all shards share.
        bias: The bias, likewise.
        attempts: Number of attempts for a shard, each on another node if there is one.

    Returns:
        References to the gradients of the rows, and the gradients of weight and bias.

    Raises:
        FleetError: Ray is not installed, or the cluster has no NPU.
        ShardLostError: A shard was lost ``attempts`` times.
        ValueError: The lists are not equally long, or empty.
    """
    shards = together(grad_out=grad_out, input=input, mean=mean, rstd=rstd)
    calls = [(dy, x, normalized_shape, m, r, weight, bias) for dy, x, m, r in shards]
    with connected() as ray:
        found = compute(ray, "layer_norm_backward", calls, 3, attempts)
    return ShardedGradients(
        [reference for reference, _ in found],
        added([parts[0] for _, parts in found]),
        added([parts[1] for _, parts in found]),
    )


def rms_norm_grad(
    dy: Sequence[Any],
    x: Sequence[Any],
    rstd: Sequence[Any],
    gamma: NDArray[Any],
    *,
    attempts: int = ATTEMPTS,
) -> ShardedGradients:
    """Compute `pyaclnn.rms_norm_grad` of rows in shards, as `layer_norm_backward` does.

    Args:
        dy: The upstream gradient of each shard: an array, or a Ray reference to one.
        x: The rows of each shard, likewise.
        rstd: The result of the forward pass for each shard, likewise.
        gamma: The weight, which all shards share.
        attempts: Number of attempts for a shard, each on another node if there is one.

    Returns:
        References to the gradients of the rows, and the gradient of the weight; there is no bias.

    Raises:
        FleetError: Ray is not installed, or the cluster has no NPU.
        ShardLostError: A shard was lost ``attempts`` times.
        ValueError: The lists are not equally long, or empty.
    """
    calls = [(*shard, gamma) for shard in together(dy=dy, x=x, rstd=rstd)]
    with connected() as ray:
        found = compute(ray, "rms_norm_grad", calls, 2, attempts)
    references = [reference for reference, _ in found]
    return ShardedGradients(references, added([parts[0] for _, parts in found]), None)


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
        attempts: Number of attempts for a shard, each on another node if there is one.

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
        attempts: Number of attempts for a shard, each on another node if there is one.

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
