# SPDX-License-Identifier: Apache-2.0
"""Comparison of two traces of the same program: two machines, two releases, two chips."""

from __future__ import annotations

import itertools
from array import array
from typing import TYPE_CHECKING, NamedTuple

from pyaclnn.base.printable import harmless
from pyaclnn.capture.contents import AFTER, ContentsOf
from pyaclnn.capture.masks import Masks
from pyaclnn.capture.roles import role_of
from pyaclnn.capture.trace import Call, Chip, read_trace
from pyaclnn.capture.verdict import TIMED_OUT, Answer, CallId, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["compare"]


def compare(one: Path, other: Path, *, exact: bool = False) -> Outcome:
    """Compare the calls of two traces, thread by thread, in the order of each.

    Calls whose answers depend on time are left out, and so are waits that reached their limit and
    what asks for the current context. Results that an operator's mask turns off are not compared.
    Threads with the same functions belong together, the others in the order of their first calls.
    The first call that is another ends a thread.

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
        for threads in _pairs(ones, others):
            for (call, answer), (twin, here) in itertools.zip_longest(*threads, fillvalue=_END):
                if call.name != twin.name:
                    present = twin if call is _END[0] else call
                    text = "the rest of their threads is not compared"
                    outcome.note(present, "calls", call.name, twin.name, text=text)
                    break
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


_END = (CallId(0, "no more calls"), Answer())


class _Thread(NamedTuple):
    """Calls of a thread whose answers do not depend on time; each takes a few bytes."""

    names: list[str]
    numbers: array[int]
    answers: list[Answer]

    def add(self, call: Call, shared: dict[Answer, Answer]) -> None:
        """Add a call; most calls share an answer."""
        answer = Answer.of(call)
        self.names.append(call.name)
        self.numbers.append(call.number)
        self.answers.append(shared.setdefault(answer, answer))

    def calls(self) -> Iterator[tuple[CallId, Answer]]:
        """Yield the calls and their answers."""
        return zip(map(CallId, self.numbers, self.names), self.answers, strict=True)


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
                thread = threads.setdefault(record.thread, _Thread([], array("Q"), []))
                thread.add(record, shared)
    return threads, chip


def _pairs(
    ones: dict[int, _Thread], others: dict[int, _Thread]
) -> Iterator[tuple[Iterator[tuple[CallId, Answer]], Iterator[tuple[CallId, Answer]]]]:
    """Yield the calls of each thread of one trace, and those of its twin in the other.

    Threads are numbered by their first calls, and which of several comes first is chance.
    """
    free = dict(sorted(others.items()))
    twins: dict[int, int] = {}
    for thread, own in sorted(ones.items()):
        equal = next((n for n, each in free.items() if each.names == own.names), None)
        if equal is not None:
            twins[thread] = equal
            del free[equal]
    rest = iter([*free])
    for thread, own in sorted(ones.items()):
        twin = twins.get(thread) or next(rest, None)
        yield own.calls(), iter(()) if twin is None else others[twin].calls()
    for thread in rest:
        yield iter(()), others[thread].calls()
