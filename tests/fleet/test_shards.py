# SPDX-License-Identifier: Apache-2.0
"""Parts of a batch: where each is tried, how sums are made, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pyaclnn.health.fleet.batches import layer_norm_backward, sync_batch_norm
from pyaclnn.health.fleet.shards import added, place

NODES = ["a", "b", "c"]


@pytest.mark.parametrize("home", NODES)
def test_a_shard_is_tried_where_it_lies_and_then_on_every_other_node(home: str) -> None:
    tried = [place(NODES, home, 5, attempt) for attempt in range(3)]
    assert tried[0] == home
    assert sorted(tried) == NODES


@pytest.mark.parametrize("home", [None, "no NPU there"])
def test_shards_that_lie_nowhere_are_spread(home: str | None) -> None:
    assert [place(NODES, home, number, 0) for number in range(4)] == ["a", "b", "c", "a"]


def test_sums_are_made_in_float64_in_the_order_of_the_shards() -> None:
    parts = [np.array([value], np.float32) for value in (1e8, 1.0, 1.0, 1.0, -1e8)]
    total = added(parts)
    assert total is not None
    assert total.dtype == np.dtype(np.float32)
    assert total[0] == 3.0
    assert added([None, None]) is None


def test_lists_that_do_not_fit_together_are_refused_by_their_names() -> None:
    rows = [np.zeros((2, 4), np.float32)]
    with pytest.raises(ValueError, match="grad_out has 2, input has 1"):
        layer_norm_backward(rows * 2, rows, 4, rows, rows)
    with pytest.raises(ValueError, match="at least one"):
        layer_norm_backward([], [], 4, [], [])
    with pytest.raises(ValueError, match="at least one"):
        sync_batch_norm([])
