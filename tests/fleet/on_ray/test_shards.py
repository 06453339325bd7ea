# SPDX-License-Identifier: Apache-2.0
"""A batch in shards: computed where it lies, and elsewhere if that fails."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from pyaclnn import reference
from pyaclnn.facts.accuracy import judge
from pyaclnn.health import fleet

from .nodes import MARKS, PATIENCE, another, id_of

pytestmark = MARKS


def batch() -> tuple[Any, ...]:
    chance = np.random.default_rng(7)
    x, dy = chance.normal(size=(2, 900, 48)).astype(np.float32)
    weight = chance.normal(1, 0.1, 48).astype(np.float32)
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return dy, x, mean, (1 / np.sqrt(variance + 1e-5)).astype(np.float32), weight


CUTS = [300, 350, 700]


@pytest.mark.usefixtures("cluster")
def test_gradients_of_shards_are_those_of_one_device() -> None:
    import ray  # noqa: PLC0415  # where it is

    dy, x, mean, rstd, weight = batch()
    slopes, rows, means, rstds = (np.split(array, CUTS) for array in (dy, x, mean, rstd))
    found = fleet.layer_norm_backward(
        [ray.put(part) for part in slopes], rows, 48, means, rstds, weight, np.zeros_like(weight)
    )
    golden = reference.layer_norm_backward(dy, x, (48,), mean, rstd, weight, np.zeros_like(weight))
    given = (np.concatenate(ray.get(found.grad_input)), found.grad_weight, found.grad_bias)
    for actual, expected in zip(given, golden, strict=True):
        assert judge(np.asarray(actual), np.asarray(expected)).passed
    rms = fleet.rms_norm_grad(slopes, rows, rstds, weight)
    for actual, expected in zip(
        (np.concatenate(ray.get(rms.grad_input)), rms.grad_weight),
        reference.rms_norm_grad(dy, x, rstd, weight),
        strict=True,
    ):
        assert judge(np.asarray(actual), np.asarray(expected)).passed


def test_a_shard_that_a_device_loses_is_computed_again_elsewhere_or_named(cluster: Any) -> None:
    dy, x, mean, rstd, weight = batch()
    with another(cluster, "lossy", 1, PYACLNN_MOCK_FAULTS="aclnnRmsNormGrad=lost"):
        import ray  # noqa: PLC0415  # where it is

        lossy = id_of("lossy")
        nodes = sorted(n["NodeID"] for n in ray.nodes() if n["Alive"])
        # As many shards as nodes: one of them is tried on the node that loses it.
        slopes, rows, rstds = (np.array_split(array, len(nodes)) for array in (dy, x, rstd))
        found = fleet.rms_norm_grad(slopes, rows, rstds, weight)
        with pytest.raises(fleet.ShardLostError, match=f"shard {nodes.index(lossy)} of 4"):
            fleet.rms_norm_grad(slopes, rows, rstds, weight, attempts=1)
    golden = reference.rms_norm_grad(dy, x, rstd, weight)[1]
    assert found.grad_weight is not None
    assert judge(found.grad_weight, golden).passed
    assert mean.shape == (900, 1)


def test_batch_norm_of_shards_is_that_of_the_whole_batch_and_outlives_a_device(
    cluster: Any,
) -> None:
    chance = np.random.default_rng(8)
    batch = chance.normal(3, 2, (30, 5, 4, 4)).astype(np.float32)
    shards = np.split(batch, [15, 20, 27])
    weight, bias = chance.normal(1, 0.1, (2, 5)).astype(np.float32)
    mean, variance = np.zeros(5, np.float32), np.ones(5, np.float32)
    golden = reference.batch_norm(batch, mean, variance, weight, bias, training=True)
    faults = "aclnnBatchNormStats=lost; aclnnBatchNormElemt=lost"
    with another(cluster, "lossy", 1, PYACLNN_MOCK_FAULTS=faults):
        import ray  # noqa: PLC0415  # where it is

        lossy = id_of("lossy")
        # A shard without a location runs on the node of its number.
        hit = sorted(n["NodeID"] for n in ray.nodes() if n["Alive"]).index(lossy)
        given = [part if n == hit else ray.put(part) for n, part in enumerate(shards)]
        found = fleet.sync_batch_norm(given, mean, variance, weight, bias)
        with pytest.raises(fleet.ShardLostError, match=f"shard {hit} of 4 of statistics"):
            fleet.sync_batch_norm(given, attempts=1)
        output = np.concatenate(ray.get(found.output))
    actual = (output, found.save_mean, found.save_invstd, mean, variance)
    for one, expected in zip(actual, golden, strict=True):
        assert judge(np.asarray(one), np.asarray(expected)).passed


def samples() -> tuple[Any, ...]:
    """A batch of which a shard is too large to travel with a message."""
    chance = np.random.default_rng(9)
    x, dy = chance.normal(1, 2, (2, 80, 5, 40, 8)).astype(np.float32)
    return x, dy, chance.normal(1, 0.1, 5).astype(np.float32)


def test_gradients_of_batch_norm_are_those_of_the_whole_batch_and_outlive_a_device(
    cluster: Any,
) -> None:
    x, dy, weight = samples()
    shards, slopes = (np.split(array, [20, 40, 60]) for array in (x, dy))
    mean, spread = x.mean((0, 2, 3)), np.sqrt(x.var((0, 2, 3)) + 1e-5)
    golden = reference.batch_norm_backward(dy, x, weight, None, None, mean, 1 / spread)
    faults = "aclnnBatchNormReduceBackward=lost; aclnnBatchNormElemtBackward=lost"
    with another(cluster, "lossy", 1, PYACLNN_MOCK_FAULTS=faults):
        import ray  # noqa: PLC0415  # where it is

        given = [ray.put(part) for part in slopes[:3]]
        hit = sorted(n["NodeID"] for n in ray.nodes() if n["Alive"]).index(id_of("lossy"))
        given.insert(hit, slopes[3])  # what lies nowhere is tried on the node of its number
        shards.insert(hit, shards.pop())
        forward = fleet.sync_batch_norm(shards, weight=weight)
        statistics = forward.save_mean, forward.save_invstd
        found = fleet.sync_batch_norm_backward(given, shards, *statistics, weight)
        with pytest.raises(fleet.ShardLostError, match=f"shard {hit} of 4 of sums"):
            fleet.sync_batch_norm_backward(given, shards, *statistics, weight, attempts=1)
        parts = ray.get(found.grad_input)
    parts.append(parts.pop(hit))
    actual = np.concatenate(parts), found.grad_weight, found.grad_bias
    for one, expected in zip(actual, golden, strict=True):
        assert judge(np.asarray(one), np.asarray(expected)).passed


# ---- a node that dies ---------------------------------------------------------------------------


def test_a_shard_whose_node_dies_at_work_is_computed_elsewhere(cluster: Any) -> None:
    from ray._private.state import available_resources_per_node  # noqa: PLC0415  # where it is

    dy, x, _, rstd, weight = batch()
    with another(cluster, "dying", 1, PYACLNN_MOCK_FAULTS="aclnnRmsNormGrad=hang") as node:
        dying = id_of("dying")

        def die() -> None:
            while available_resources_per_node()[dying].get("NPU"):  # until it is at work
                time.sleep(0.2)
            cluster.remove_node(node, allow_graceful=False)

        death = threading.Thread(target=die)
        death.start()
        slopes, rows, rstds = (np.array_split(array, 4) for array in (dy, x, rstd))
        found = fleet.rms_norm_grad(slopes, rows, rstds, weight)  # a shard for each node
        death.join()
    assert found.grad_weight is not None
    assert judge(found.grad_weight, reference.rms_norm_grad(dy, x, rstd, weight)[1]).passed


def test_a_gradient_that_is_lost_with_its_node_later_is_computed_again(cluster: Any) -> None:
    import ray  # noqa: PLC0415  # where it is

    x, dy, _ = samples()
    rows, slopes = x.reshape(-1, 320), dy.reshape(-1, 320)
    rstd = (1 / np.sqrt((rows**2).mean(1, keepdims=True) + 1e-6)).astype(np.float32)
    gamma = np.ones(320, np.float32)
    with another(cluster, "dying", 1) as node:
        count = len([n for n in ray.nodes() if n["Alive"]])
        dy_parts, x_parts, rstds = (np.array_split(a, count) for a in (slopes, rows, rstd))
        dying, nodes, end = id_of("dying"), set[str](), time.monotonic() + PATIENCE
        while dying not in nodes:  # another node takes its shard if its process begins too late
            assert time.monotonic() < end, "no shard was computed on the node"
            found = fleet.rms_norm_grad(dy_parts, x_parts, rstds, gamma)
            places = ray.experimental.get_object_locations(found.grad_input)
            nodes = {place for known in places.values() for place in known["node_ids"]}
        cluster.remove_node(node, allow_graceful=False)
        actual = np.concatenate(ray.get(found.grad_input, timeout=90))
    assert judge(actual, reference.rms_norm_grad(slopes, rows, rstd, gamma)[0]).passed


def test_a_shard_whose_array_is_lost_with_its_node_is_told_with_the_node(cluster: Any) -> None:
    import ray  # noqa: PLC0415  # where it is
    from ray.util.scheduling_strategies import (  # noqa: PLC0415  # likewise
        NodeAffinitySchedulingStrategy,
    )

    x, dy, _ = samples()
    rows, slopes = x.reshape(-1, 320), dy.reshape(-1, 320)
    rstds, gamma = [np.ones((80 * 5, 1), np.float32)] * 2, np.ones(320, np.float32)
    with another(cluster, "dying", 1) as node:
        there = NodeAffinitySchedulingStrategy(id_of("dying"), soft=False)
        made = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=there)(lambda: rows)
        kept = made.remote()
        ray.wait([kept], fetch_local=False)
        cluster.remove_node(node, allow_graceful=False)
        lost = r"shard 1 of 2 of rms_norm_grad cannot be computed: an array of it was lost with "
        # Once it has noticed, Ray no longer knows where the array was.
        gone = "(node 'dying'|its node or its owner)"
        with pytest.raises(fleet.ShardLostError, match=lost + gone):
            fleet.rms_norm_grad([slopes] * 2, [rows, kept], rstds, gamma)
