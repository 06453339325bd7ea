# SPDX-License-Identifier: Apache-2.0
"""The mathematics of a batch in shards: each shard is computed here, one after the other."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn import reference
from pyaclnn.facts.accuracy import judge
from pyaclnn.health.fleet import batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CUTS = [15, 20, 27]
"""Shards of 15, 5, 7 and 3 samples."""


def here(
    _: Any, work: Callable[..., Any], calls: Sequence[Sequence[Any]], *__: int
) -> list[tuple[Any, Any]]:
    """Compute the results of shards without a cluster."""
    return [(first, tuple(others)) for first, *others in (work(*call) for call in calls)]


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(batches, "connected", nullcontext)
    monkeypatch.setattr(batches, "compute", here)
    pyaclnn.select_backend("mock")
    with pyaclnn.Device(0):
        yield


def problem(dtype: str = "float32") -> tuple[Any, ...]:
    chance = np.random.default_rng(11)
    x, dy = chance.normal(0.5, 2, (2, 30, 5, 3, 2)).astype(dtype)
    return x, dy, chance.normal(1, 0.2, 5).astype(np.float32)


def gradients(x: Any, dy: Any, weight: Any) -> tuple[Any, Any, Any]:
    shards, slopes = np.split(x, CUTS), np.split(dy, CUTS)
    forward = batches.sync_batch_norm(shards, weight=weight)
    found = batches.sync_batch_norm_backward(
        slopes, shards, forward.save_mean, forward.save_invstd, weight
    )
    return np.concatenate(found.grad_input), found.grad_weight, found.grad_bias


@pytest.mark.sampled(1)
@pytest.mark.parametrize("weighted", [True, False])
def test_gradients_of_shards_are_those_that_pytorch_finds_of_the_batch(
    weighted: bool, torch: Any
) -> None:
    x, dy, weight = problem()
    samples = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    scale = torch.tensor(weight if weighted else np.ones(5), dtype=torch.float64)
    scale.requires_grad_()
    shift = torch.zeros(5, dtype=torch.float64, requires_grad=True)
    torch.nn.functional.batch_norm(samples, None, None, scale, shift, training=True).backward(
        torch.tensor(dy, dtype=torch.float64)
    )
    expected = (samples.grad, scale.grad, shift.grad)
    for actual, golden in zip(
        gradients(x, dy, weight if weighted else None), expected, strict=True
    ):
        assert judge(actual, golden.numpy()).passed


def test_gradients_are_the_slopes_of_the_whole_batch_s_loss() -> None:
    x, dy, weight = problem()

    def loss(samples: Any, scale: Any) -> float:
        over = samples.astype(np.float64)
        mean = over.mean((0, 2, 3), keepdims=True)
        spread = np.sqrt(over.var((0, 2, 3), keepdims=True) + 1e-5)
        return float((dy * ((over - mean) / spread * scale[:, None, None])).sum())

    grad_input, grad_weight, _ = gradients(x, dy, weight)
    step = 1e-5
    for place in [(0, 0, 0, 0), (16, 2, 1, 1), (21, 3, 2, 0), (29, 4, 0, 1)]:  # one in each shard
        more, less = x.astype(np.float64), x.astype(np.float64)
        more[place] += step
        less[place] -= step
        slope = (loss(more, weight) - loss(less, weight)) / (2 * step)
        assert grad_input[place] == pytest.approx(slope, rel=1e-3, abs=1e-4)
    for channel in range(5):
        change = np.eye(5)[channel] * step
        slope = (loss(x, weight + change) - loss(x, weight - change)) / (2 * step)
        assert grad_weight[channel] == pytest.approx(slope, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_gradients_of_shards_are_of_the_dtype_of_the_batch(dtype: str) -> None:
    x, dy, weight = problem(dtype)
    wide = x.astype(np.float64)
    mean, spread = wide.mean((0, 2, 3)), np.sqrt(wide.var((0, 2, 3)) + 1e-5)
    golden = reference.batch_norm_backward(dy, wide, weight, None, None, mean, 1 / spread)
    found = gradients(x, dy, weight)
    assert found[0].dtype == dtype
    assert judge(found[0], np.asarray(golden.grad_input)).passed


def test_lists_that_do_not_fit_together_are_refused_by_their_names() -> None:
    x, dy, weight = problem()
    with pytest.raises(ValueError, match="grad_out has 2, input has 1"):
        batches.sync_batch_norm_backward([dy, dy], [x], weight, weight)
