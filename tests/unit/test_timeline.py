# SPDX-License-Identifier: Apache-2.0
"""Timelines, the memory that work in flight keeps, workspaces and pools: counted, not computed."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

from pyaclnn.cann import raw
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.memory import Memory
from pyaclnn.runtime.submission import Submission
from pyaclnn.runtime.timeline import Timeline
from pyaclnn.runtime.timelines import borrowed_timeline, forget_timeline

CONTEXT, STREAM = raw.pointer_to(16), raw.pointer_to(32)


@pytest.fixture
def released() -> list[int]:
    return []


def block(released: list[int], address: int = 4096, nbytes: int = 64) -> Memory:
    def release(pointer: Any) -> None:
        released.append(raw.address_of(pointer))

    return Memory("memory", raw.pointer_to(address), nbytes, release)


def spans_of(*memories: Memory, first: int = 0, end: int = 64) -> Any:
    words = [(memory.block, first, end) for memory in memories]
    return raw.ffi.new("struct binding_span[]", words)


def submit(timeline: Timeline, *memories: Memory) -> int:
    """Submit work that uses memory, and return its number."""
    begun = Submission(timeline)
    assert begun.begin(spans_of(*memories), len(memories)) == 0
    begun.end()
    return timeline.sync_point


def test_memory_is_released_once_its_timeline_has_passed_the_last_use(released: list[int]) -> None:
    timeline, memory = Timeline(CONTEXT, STREAM), block(released)
    first = submit(timeline, memory)
    last = submit(timeline, memory)
    memory.let_go()
    timeline.passed(first)
    assert released == []
    timeline.passed(last)
    assert released == [4096]


def test_memory_without_uses_is_released_at_once(released: list[int]) -> None:
    memory = block(released)
    memory.let_go()
    memory.let_go()
    assert released == [4096]


def test_memory_waits_for_every_timeline_that_uses_it(released: list[int]) -> None:
    timelines, memory = [Timeline(CONTEXT, STREAM) for _ in range(4)], block(released)
    marks = [submit(timeline, memory) for timeline in timelines]
    memory.let_go()
    for timeline, mark in zip(timelines, marks, strict=True):
        assert released == []
        timeline.passed(mark)
    assert released == [4096]


def test_a_fifth_timeline_needs_room_and_none_is_forgotten(released: list[int]) -> None:
    timelines, memory = [Timeline(CONTEXT, STREAM) for _ in range(5)], block(released)
    marks = [submit(timeline, memory) for timeline in timelines[:4]]
    refused = Submission(timelines[4]).begin(spans_of(memory), 1)
    assert refused == raw.BINDING_BUSY
    assert timelines[4].sync_point == 0
    memory.make_room()
    marks.append(submit(timelines[4], memory))
    memory.let_go()
    for timeline, mark in zip(timelines, marks, strict=True):
        assert released == []
        timeline.passed(mark)
    assert released == [4096]


def test_a_timeline_that_is_gone_holds_nothing_up(released: list[int]) -> None:
    timeline, memory = Timeline(CONTEXT, STREAM), block(released)
    submit(timeline, memory)
    del timeline
    memory.let_go()
    assert released == [4096]


def test_closed_memory_is_not_accepted_any_more(released: list[int]) -> None:
    timeline, memory = Timeline(CONTEXT, STREAM), block(released)
    memory.let_go()
    assert Submission(timeline).begin(spans_of(memory), 1) == raw.BINDING_CLOSED


def test_a_mark_stops_before_submissions_that_are_not_queued_yet(released: list[int]) -> None:
    timeline, memory = Timeline(CONTEXT, STREAM), block(released)
    submit(timeline, memory)
    begun = Submission(timeline)
    begun.begin(spans_of(memory), 1)
    assert timeline.sync_point == 1
    begun.end()
    assert timeline.sync_point == 2
    timeline.passed(2)
    memory.let_go()


def write(timeline: Timeline, memory: Memory, first: int, end: int) -> int:
    """Submit work that writes bytes of memory, and return its number."""
    begun = Submission(timeline)
    assert begun.begin(spans_of(memory, first=first, end=end), 1, writes=True) == 0
    begun.end()
    return timeline.sync_point


def test_who_has_still_to_write_bytes_is_known(released: list[int]) -> None:
    timeline, other, memory = *(Timeline(CONTEXT, STREAM) for _ in range(2)), block(released)
    first = write(timeline, memory, 8, 16)
    second = write(timeline, memory, 24, 32)
    submit(timeline, memory)
    write(other, memory, 16, 24)

    def writers(first: int, end: int) -> set[Timeline]:
        return {use.timeline for use in memory.writers(first, end)}

    cases: dict[tuple[int, int], set[Timeline]] = {
        (0, 8): set(), (15, 16): {timeline}, (31, 64): {timeline}, (16, 24): {other},
    }  # fmt: skip
    assert {place: writers(*place) for place in cases} == cases
    memory.make_room()
    assert writers(0, 64) == {timeline, other}
    timeline.passed(first)
    assert timeline in writers(24, 32)
    timeline.passed(second)
    assert writers(0, 64) == {other}
    # Earlier writes have completed, and do not count.
    last = write(timeline, memory, 40, 48)
    assert writers(8, 16) == set()
    timeline.passed(last)
    other.passed(1)
    memory.let_go()


def test_who_has_still_to_use_bytes_is_known(released: list[int]) -> None:
    timeline, other, memory = *(Timeline(CONTEXT, STREAM) for _ in range(2)), block(released)
    for first in (8, 24):
        begun = Submission(timeline)
        assert begun.begin(spans_of(memory, first=first, end=first + 8), 1) == 0
        begun.end()
    write(other, memory, 40, 48)

    def users(first: int, end: int) -> set[Timeline]:
        return {use.timeline for use in memory.users(first, end)}

    cases: dict[tuple[int, int], set[Timeline]] = {
        (0, 8): set(), (8, 9): {timeline}, (31, 40): {timeline}, (32, 40): set(),
        (47, 64): {other}, (31, 41): {timeline, other},
    }  # fmt: skip
    assert {place: users(*place) for place in cases} == cases
    assert memory.writers(0, 40) == []
    memory.make_room()
    assert users(0, 64) == {timeline, other}
    timeline.passed(timeline.sync_point)
    assert users(0, 64) == {other}
    # Earlier uses have completed, and do not count.
    begun = Submission(timeline)
    assert begun.begin(spans_of(memory, first=48, end=56), 1) == 0
    begun.end()
    assert users(0, 40) == set()
    timeline.passed(timeline.sync_point)
    other.passed(1)
    memory.let_go()


def test_uses_of_several_parts_are_passed_one_by_one(released: list[int]) -> None:
    timeline, other, memory = *(Timeline(CONTEXT, STREAM) for _ in range(2)), block(released)
    marks = [write(timeline, memory, first, first + 8) for first in (0, 16, 32)]
    write(other, memory, 48, 56)

    def users(first: int, end: int) -> list[int]:
        return [use.submission for use in memory.users(first, end)]

    assert [users(at, at + 8) for at in range(0, 64, 8)] == [[1], [], [2], [], [3], [], [1], []]
    timeline.passed(marks[0])
    assert [users(at, at + 8) for at in range(0, 64, 8)] == [[], [], [2], [], [3], [], [1], []]
    # A fourth part shares an entry with another; none is forgotten.
    for first in (0, 8, 24):
        write(timeline, memory, first, first + 8)
    write(timeline, memory, 40, 40)
    assert [at for at in range(0, 64, 8) if users(at, at + 8)] == [0, 8, 16, 24, 32, 48]
    timeline.passed(timeline.sync_point)
    assert users(0, 48) == []
    other.passed(1)
    memory.let_go()


def test_what_a_stream_has_waited_for_has_passed_with_it() -> None:
    chain = [Timeline(CONTEXT, STREAM) for _ in range(3000)]
    for timeline in chain:
        submit(timeline)
    for before, timeline in itertools.pairwise(chain):
        timeline.follows(submit(timeline), before, before.sync_point)
    # Not with what was submitted before the wait.
    chain[-1].passed(1)
    assert not chain[0].has_passed(1)
    chain[-1].passed(chain[-1].sync_point)
    assert all(timeline.has_passed(1) for timeline in chain)


def test_a_mark_stops_before_the_first_that_is_not_queued_yet() -> None:
    timeline = Timeline(CONTEXT, STREAM)
    begun = [Submission(timeline) for _ in range(4)]
    marks = []
    for submission in begun:
        submission.begin()
        marks.append(timeline.sync_point)
    for number in (1, 0, 0, 3, 2):
        begun[number].end()
        marks.append(timeline.sync_point)
    assert marks == [0, 0, 0, 0, 0, 2, 2, 2, 4]


def test_what_was_queued_beside_an_unfinished_submission_passes_without_it(
    released: list[int],
) -> None:
    timeline = Timeline(CONTEXT, STREAM)
    memory, slow = block(released), Submission(timeline)
    slow.begin(spans_of(memory), 1)
    write(timeline, memory, 0, 8)
    mark = timeline.sync_point
    memory.let_go()
    slow.end()
    timeline.passed(mark)
    assert [timeline.is_complete(number) for number in (1, 2, 3)] == [False, True, False]
    assert memory.writers(0, 8) == []
    assert released == []  # the first needs it
    timeline.passed(timeline.sync_point)
    assert released == [4096]


def test_many_waiting_blocks_make_a_timeline_crowded(released: list[int]) -> None:
    timeline = Timeline(CONTEXT, STREAM)
    for number in range(64):
        memory = block(released, 4096 * (number + 1))
        submit(timeline, memory)
        assert not timeline.crowded
        memory.let_go()
    assert timeline.crowded
    timeline.passed(timeline.sync_point)
    assert not timeline.crowded
    assert len(released) == 64


def test_a_workspace_grows_and_the_old_one_waits_for_its_last_use(released: list[int]) -> None:
    timeline, other = Timeline(CONTEXT, STREAM), block([])

    def allocate(nbytes: int, address: int) -> Memory:
        return block(released, address, nbytes)

    timeline.grow(100, functools.partial(allocate, address=1024))
    timeline.grow(60, functools.partial(allocate, address=2048))
    assert timeline.struct.capacity == 100
    submit(timeline, other)
    timeline.grow(200, functools.partial(allocate, address=4096))
    assert raw.address_of(timeline.struct.workspace) == 4096
    assert released == []
    timeline.passed(timeline.sync_point)
    assert released == [1024]
    assert timeline.stats() == (200, 2, None)
    timeline.retire()
    other.let_go()
    assert released == [1024, 4096]


def test_a_workspace_never_grows_beyond_its_cap() -> None:
    timeline = Timeline(CONTEXT, STREAM)
    timeline.cap = 50
    with pytest.raises(MemoryError, match="workspace of 51 bytes, not 50"):
        timeline.grow(51, lambda nbytes: block([], 1024, nbytes))
    assert timeline.struct.capacity == 0


def test_borrowers_of_one_stream_share_its_timeline() -> None:
    context, others = raw.pointer_to(1), [raw.pointer_to(2), raw.pointer_to(3)]
    timeline = borrowed_timeline(context, others[0])
    assert borrowed_timeline(context, others[0]) is timeline
    assert borrowed_timeline(context, others[1]) is not timeline
    assert forget_timeline(context, others[0]) is timeline
    assert borrowed_timeline(context, others[0]) is not timeline
    for stream in others:
        forget_timeline(context, stream)
    assert forget_timeline(context, others[0]) is None


def test_equal_layouts_are_one_object() -> None:
    float32 = np.dtype(np.float32)
    layout = Layout.of(1, float32, (2, 3), (12, 4))
    assert Layout.dense(1, float32, (2, 3)) is layout
    assert Layout.of(2, float32, (2, 3), (12, 4)) is not layout
    assert Layout.of(1, float32, (2, 3), (24, 8)) is not layout
    assert layout.is_contiguous
    assert layout.span == 24
    assert not Layout.of(1, float32, (2, 3), (24, 8)).is_contiguous
