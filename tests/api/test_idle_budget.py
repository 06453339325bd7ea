# SPDX-License-Identifier: Apache-2.0
"""Idle budget of a pool: memory that loops reuse is kept, other memory is freed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.ops import rms_norm
from pyaclnn.runtime.array import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyaclnn.runtime.stream import Stream


class Sizes:
    """Launches whose result has a size that is chosen."""

    def __init__(self, stream: Stream) -> None:
        self._values = DeviceArray.empty((1, 1000 << 8), np.float32, stream.device)
        self._rstd = DeviceArray.empty((1, 1), np.float32, stream.device)
        self._stream = stream

    def close(self) -> None:
        self._values.close()
        self._rstd.close()

    def result(self, kibibytes: int) -> DeviceArray:
        x = self._values[:, : kibibytes << 8]
        return rms_norm(x, x[0], stream=self._stream, out=(None, self._rstd)).y

    def asked_of_cann(self, *kibibytes: int, held: bool = False) -> int:
        """Count how often CANN is asked for memory of results, held to the last or not at all."""
        before = self._stream.pool.stats().allocations
        kept = [self.result(each) if held else self.result(each).shape for each in kibibytes]
        self._stream.synchronize()
        del kept
        return self._stream.pool.stats().allocations - before


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch, stream: Stream) -> Iterator[Sizes]:
    monkeypatch.setattr("pyaclnn.runtime.idle_budget._LEAST", 64 << 10)
    given = Sizes(stream)
    yield given
    given.close()


UNEQUAL = range(8, 40)
EQUAL = [8] * 16


@pytest.mark.parametrize("loop", [UNEQUAL, EQUAL, [*EQUAL, *UNEQUAL], [1, 1000]])
def test_a_loop_whose_results_are_held_to_its_end_asks_cann_once(
    sizes: Sizes, loop: Sequence[int]
) -> None:
    assert sizes.asked_of_cann(*loop, held=True) == len(loop)
    assert [sizes.asked_of_cann(*loop, held=True) for _ in range(3)] == [0] * 3
    assert sizes.asked_of_cann(*reversed(loop)) == 0


@pytest.mark.parametrize("loop", [UNEQUAL, range(39, 7, -1), range(30, 46)])
def test_a_loop_whose_results_are_held_by_nobody_comes_to_ask_for_nothing(
    sizes: Sizes, loop: Sequence[int]
) -> None:
    # Many times what the pool keeps of what is in use: it learns that this is missed.
    asked = [sizes.asked_of_cann(*loop) for _ in range(8)]
    assert asked[0] == len(loop)
    assert asked[-3:] == [0] * 3


def test_what_a_loop_needs_stays_while_other_sizes_come_and_go(
    sizes: Sizes, stream: Stream
) -> None:
    sizes.asked_of_cann(*EQUAL, held=True)
    asked = []
    for other in range(20, 44):
        asked.append(sizes.asked_of_cann(*EQUAL, held=True))
        assert sizes.asked_of_cann(other) == 1
    assert sum(asked) <= len(asked)
    assert stream.pool.stats().cached <= (2 * sum(EQUAL)) << 10


def test_sizes_that_are_never_seen_again_are_given_back(sizes: Sizes, stream: Stream) -> None:
    for size in range(1, 150):
        assert sizes.asked_of_cann(size) == 1
    assert stream.pool.stats().cached <= (2 * 150) << 10
    assert len(stream.pool._free) <= 3
    assert sizes.asked_of_cann(149) == 0


def test_what_was_used_longest_ago_is_given_back_first(sizes: Sizes) -> None:
    # The last one is too much beside the others.
    assert [sizes.asked_of_cann(k) for k in (16, 17, 18, 16, 19, 20)] == [1, 1, 1, 0, 1, 1]
    assert [sizes.asked_of_cann(k) for k in (16, 18, 19, 20)] == [0, 0, 0, 0]
    assert sizes.asked_of_cann(17) == 1


def test_what_was_needed_once_is_forgotten_as_cann_is_asked_for_other_sizes(
    sizes: Sizes, stream: Stream
) -> None:
    sizes.asked_of_cann(*EQUAL * 2, held=True)
    held = sum(EQUAL * 2) << 10
    assert stream.pool.stats().cached == held
    for size in range(9, 50):
        assert sizes.asked_of_cann(size) == 1
    assert stream.pool.stats().cached < held // 2
