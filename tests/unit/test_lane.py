# SPDX-License-Identifier: Apache-2.0
"""Lanes, the memory that work in flight keeps, workspaces and pools: counted, not computed."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from pyaclnn import raw
from pyaclnn._binding import lib
from pyaclnn.lane import Lane, borrowed_lane, forget_lane
from pyaclnn.layout import Layout
from pyaclnn.memory import Memory

CONTEXT, STREAM = raw.pointer_to(16), raw.pointer_to(32)


@pytest.fixture
def released() -> list[int]:
    return []


def block(released: list[int], address: int = 4096, nbytes: int = 64) -> Memory:
    def release(pointer: Any) -> None:
        released.append(raw.address_of(pointer))

    return Memory("memory", raw.pointer_to(address), nbytes, release)


def submit(lane: Lane, *memories: Memory) -> int:
    """Submit work that uses memory, and return its number."""
    blocks = raw.ffi.new("struct binding_block *[]", [memory.block for memory in memories])
    assert lib.binding_lane_reserve(lane.struct, blocks, len(memories)) == 0
    lib.binding_lane_settle(lane.struct)
    return lane.mark


def test_memory_is_released_once_its_lane_has_passed_the_last_use(released: list[int]) -> None:
    lane, memory = Lane(CONTEXT, STREAM), block(released)
    first = submit(lane, memory)
    last = submit(lane, memory)
    memory.let_go()
    lane.passed(first)
    assert released == []
    lane.passed(last)
    assert released == [4096]


def test_memory_without_uses_is_released_at_once(released: list[int]) -> None:
    memory = block(released)
    memory.let_go()
    memory.let_go()
    assert released == [4096]


def test_memory_waits_for_every_lane_that_uses_it(released: list[int]) -> None:
    lanes, memory = [Lane(CONTEXT, STREAM) for _ in range(4)], block(released)
    marks = [submit(lane, memory) for lane in lanes]
    memory.let_go()
    for lane, mark in zip(lanes, marks, strict=True):
        assert released == []
        lane.passed(mark)
    assert released == [4096]


def test_a_fifth_lane_needs_room_and_none_is_forgotten(released: list[int]) -> None:
    lanes, memory = [Lane(CONTEXT, STREAM) for _ in range(5)], block(released)
    marks = [submit(lane, memory) for lane in lanes[:4]]
    blocks = raw.ffi.new("struct binding_block *[]", [memory.block])
    refused = lib.binding_lane_reserve(lanes[4].struct, blocks, 1)
    assert refused == raw.BINDING_BUSY
    assert lanes[4].mark == 0
    memory.make_room()
    marks.append(submit(lanes[4], memory))
    memory.let_go()
    for lane, mark in zip(lanes, marks, strict=True):
        assert released == []
        lane.passed(mark)
    assert released == [4096]


def test_a_lane_that_is_gone_holds_nothing_up(released: list[int]) -> None:
    lane, memory = Lane(CONTEXT, STREAM), block(released)
    submit(lane, memory)
    del lane
    memory.let_go()
    assert released == [4096]


def test_closed_memory_is_not_accepted_any_more(released: list[int]) -> None:
    lane, memory = Lane(CONTEXT, STREAM), block(released)
    memory.let_go()
    blocks = raw.ffi.new("struct binding_block *[]", [memory.block])
    assert lib.binding_lane_reserve(lane.struct, blocks, 1) == raw.BINDING_CLOSED


def test_a_mark_stops_before_submissions_that_are_not_queued_yet(released: list[int]) -> None:
    lane, memory = Lane(CONTEXT, STREAM), block(released)
    submit(lane, memory)
    blocks = raw.ffi.new("struct binding_block *[]", [memory.block])
    lib.binding_lane_reserve(lane.struct, blocks, 1)
    assert lane.mark == 1
    lib.binding_lane_settle(lane.struct)
    assert lane.mark == 2
    lane.passed(2)
    memory.let_go()


def test_many_waiting_blocks_make_a_lane_crowded(released: list[int]) -> None:
    lane = Lane(CONTEXT, STREAM)
    for number in range(64):
        memory = block(released, 4096 * (number + 1))
        submit(lane, memory)
        assert not lane.crowded
        memory.let_go()
    assert lane.crowded
    lane.passed(lane.mark)
    assert not lane.crowded
    assert len(released) == 64


def test_a_workspace_grows_and_the_old_one_waits_for_its_last_use(released: list[int]) -> None:
    lane, other = Lane(CONTEXT, STREAM), block([])

    def allocate(nbytes: int, address: int) -> Memory:
        return block(released, address, nbytes)

    lane.grow(100, functools.partial(allocate, address=1024))
    lane.grow(60, functools.partial(allocate, address=2048))
    assert lane.struct.capacity == 100
    submit(lane, other)
    lane.grow(200, functools.partial(allocate, address=4096))
    assert raw.address_of(lane.struct.workspace) == 4096
    assert released == []
    lane.passed(lane.mark)
    assert released == [1024]
    assert lane.stats() == (200, 2, None)
    lane.retire()
    other.let_go()
    assert released == [1024, 4096]


def test_a_workspace_never_grows_beyond_its_cap() -> None:
    lane = Lane(CONTEXT, STREAM)
    lane.cap = 50
    with pytest.raises(MemoryError, match="workspace of 51 bytes, not 50"):
        lane.grow(51, lambda nbytes: block([], 1024, nbytes))
    assert lane.struct.capacity == 0


def test_borrowers_of_one_stream_share_its_lane() -> None:
    context, others = raw.pointer_to(1), [raw.pointer_to(2), raw.pointer_to(3)]
    lane = borrowed_lane(context, others[0])
    assert borrowed_lane(context, others[0]) is lane
    assert borrowed_lane(context, others[1]) is not lane
    assert forget_lane(context, others[0]) is lane
    assert borrowed_lane(context, others[0]) is not lane
    for stream in others:
        forget_lane(context, stream)
    assert forget_lane(context, others[0]) is None


def test_equal_layouts_are_one_object() -> None:
    float32 = np.dtype(np.float32)
    layout = Layout.of(1, float32, (2, 3), (12, 4))
    assert Layout.dense(1, float32, (2, 3)) is layout
    assert Layout.of(2, float32, (2, 3), (12, 4)) is not layout
    assert Layout.of(1, float32, (2, 3), (24, 8)) is not layout
    assert layout.is_contiguous
    assert layout.span == 24
    assert not Layout.of(1, float32, (2, 3), (24, 8)).is_contiguous
