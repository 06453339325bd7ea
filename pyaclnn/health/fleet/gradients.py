# SPDX-License-Identifier: Apache-2.0
"""Gradients of norms over rows that are spread over a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pyaclnn.health.fleet.cluster import connected
from pyaclnn.health.fleet.shards import ATTEMPTS, added, compute, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["ShardedGradients", "layer_norm_backward", "rms_norm_grad"]


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
        attempts: How often a shard is tried, each time on another node if there is one.

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
        attempts: How often a shard is tried, each time on another node if there is one.

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
