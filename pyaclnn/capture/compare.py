# SPDX-License-Identifier: Apache-2.0
"""Comparison of two traces of the same program: two machines, two releases, two chips."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.base.printable import harmless
from pyaclnn.capture.contents import AFTER, ContentsOf
from pyaclnn.capture.masks import Masks
from pyaclnn.capture.roles import role_of
from pyaclnn.capture.trace import Call, Chip, read_trace
from pyaclnn.capture.verdict import TIMED_OUT, Answer, CallId, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typing_extensions import Self

__all__ = ["compare"]


def compare(one: Path, other: Path, *, exact: bool = False) -> Outcome:
    """Compare the calls of two traces, thread by thread, in the order of each.

    Calls whose answers depend on time are left out, and so are waits that reached their limit and
    what asks for the current context. Results that an operator's mask turns off are not compared.
    Threads with the same inputs or functions belong together, the others in the order of their
    first calls.
    Where the functions of two threads part, the calls up to the next ones in common are left out.

    Args:
        one: The first trace, whose answers are the recorded ones of the result.
        other: The second trace.
        exact: True if results must have the same bits.

    Raises:
        TraceError: A file is no trace.
    """
    outcome = Outcome(harmless(one.name), harmless(other.name), "compared")
    with ContentsOf() as first, ContentsOf() as second:
        masks = Masks()
        (ones, chip), (others, twin_chip) = _threads(one, first, masks), _threads(other, second)
        outcome.chips = (chip, twin_chip)
        outcome.note_end(outcome.trace, first.incomplete)
        outcome.note_end(outcome.backend, second.incomplete)
        inputs = {n: first.given(thread.numbers) for n, thread in ones.items()}
        other_inputs = {n: second.given(thread.numbers) for n, thread in others.items()}
        for thread, other_thread in _pairs(ones, others, inputs, other_inputs):
            for at, beside in _in_common(thread, other_thread, outcome):
                (call, answer), (twin, here) = thread.call(at), other_thread.call(beside)
                outcome.calls += 1
                outcome.compare_answers(call, answer, here)
                results = {(c.place, c.element): c for c in second.take(twin.number, AFTER)}
                off = masks.turned_off(call.number)
                for contents in first.take(call.number, AFTER):
                    result = results.get((contents.place, contents.element))
                    if result is None or contents.name in off:
                        outcome.unjudged[call.name] += 1
                    else:
                        given = (call, contents, result.hash, result.data)
                        outcome.compare_contents(*given, exact=exact)
    outcome.divergences.sort(key=lambda divergence: divergence.call)
    outcome.describe(one)
    return outcome


_AHEAD: Final = 256
"""The calls of each thread among which the next ones in common are looked for."""
_ALIKE: Final = 3
"""So many calls on end have the same functions where two threads go on together."""


class _Thread(NamedTuple):
    """Calls of a thread whose answers do not depend on time; each takes a few bytes."""

    names: list[str]
    numbers: array[int]
    answers: list[Answer]

    @classmethod
    def empty(cls) -> Self:
        """Return a thread without calls."""
        return cls([], array("Q"), [])

    def add(self, call: Call, shared: dict[Answer, Answer]) -> None:
        """Add a call; most calls share an answer."""
        answer = Answer.of(call)
        self.names.append(call.name)
        self.numbers.append(call.number)
        self.answers.append(shared.setdefault(answer, answer))

    def call(self, at: int) -> tuple[CallId, Answer]:
        """Return a call and its answer."""
        return CallId(self.numbers[at], self.names[at]), self.answers[at]


def _in_common(one: _Thread, other: _Thread, outcome: Outcome) -> Iterator[tuple[int, int]]:
    """Yield the places of calls that both threads have, and note where calls are left out."""
    at = beside = 0
    while at < len(one.names) or beside < len(other.names):
        ids = [
            thread.call(place)[0] if place < len(thread.names) else CallId(0, "no more calls")
            for thread, place in ((one, at), (other, beside))
        ]
        if ids[0].name == ids[1].name:
            yield at, beside
            at, beside = at + 1, beside + 1
            continue
        ends = len(one.names), len(other.names)
        next_at, next_beside = _next_in_common(one.names, at, other.names, beside) or ends
        part = "the rest of the thread" if (next_at, next_beside) == ends else "these calls"
        text = f"without {part}: {next_at - at} recorded, {next_beside - beside} here"
        present = ids[0] if at < ends[0] else ids[1]
        outcome.note(present, "calls", ids[0].name, ids[1].name, text=text)
        at, beside = next_at, next_beside


def _next_in_common(
    one: list[str], at: int, other: list[str], beside: int
) -> tuple[int, int] | None:
    """Return the nearest places from which on both lists have the same names."""
    for distance in range(1, 2 * _AHEAD):
        for skipped in range(max(0, distance - _AHEAD), min(distance, _AHEAD) + 1):
            first, second = at + skipped, beside + distance - skipped
            alike = one[first : first + _ALIKE]
            if alike and alike == other[second : second + _ALIKE]:
                return first, second
    return None


def _threads(
    path: Path, contents: ContentsOf, masks: Masks | None = None
) -> tuple[dict[int, _Thread], str]:
    """Read a trace once: its contents, its masks, its calls by thread, and the chip."""
    threads: dict[int, _Thread] = {}
    chip = ""
    shared: dict[Answer, Answer] = {}
    for record in read_trace(path):
        contents.add(record)
        chip = record.name if isinstance(record, Chip) else chip
        if masks is not None and isinstance(record, Call):
            masks.add(record)
        if isinstance(record, Call) and record.result != TIMED_OUT:
            role = role_of(record.name)
            if "run" in role and not role & {"loose", "finds"}:
                thread = threads.setdefault(record.thread, _Thread.empty())
                thread.add(record, shared)
    return threads, chip


def _pairs(
    ones: dict[int, _Thread],
    others: dict[int, _Thread],
    inputs: dict[int, int],
    other_inputs: dict[int, int],
) -> Iterator[tuple[_Thread, _Thread]]:
    """Yield each thread of one trace, and its twin in the other.

    Threads are numbered by their first calls, and which of several comes first is chance. Memory
    that one of them gives back for another to take changes their functions, but not their inputs.
    """
    free = dict(sorted(others.items()))
    twins: dict[int, int] = {}

    def same_names(thread: int, other: int) -> bool:
        return ones[thread].names == others[other].names

    def same_inputs(thread: int, other: int) -> bool:
        return inputs[thread] == other_inputs[other] != 0

    def same(thread: int, other: int) -> bool:
        return same_names(thread, other) and same_inputs(thread, other)

    for alike in (same, same_inputs, same_names):
        for thread in sorted(ones.keys() - twins.keys()):
            equal = next((n for n in free if alike(thread, n)), None)
            if equal is not None:
                twins[thread] = equal
                del free[equal]
    rest = iter([*free])
    for thread, own in sorted(ones.items()):
        twin = twins.get(thread) or next(rest, None)
        yield own, _Thread.empty() if twin is None else others[twin]
    for thread in rest:
        yield _Thread.empty(), others[thread]
