# SPDX-License-Identifier: Apache-2.0
"""Comparison of two traces of the same program: two machines, two releases, two chips."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from typing import TYPE_CHECKING

from pyaclnn.capture.contents import AFTER, ContentsOf
from pyaclnn.capture.functions import recorded
from pyaclnn.capture.trace import Call, read_trace
from pyaclnn.capture.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["compare"]


def compare(one: Path, other: Path, *, exact: bool = False) -> Outcome:
    """Compare the calls of two traces, thread by thread, in the order of each.

    Calls whose answers depend on time are left out. The first call that is another ends a thread.

    Args:
        one: The first trace, whose answers are the recorded ones of the result.
        other: The second trace.
        exact: Whether results must have the same bits.
    """
    outcome = Outcome(one.name, other.name, "compared")
    with ContentsOf(one) as first, ContentsOf(other) as second:
        for call, twin in _pairs(_calls(one), _calls(other)):
            if call is None or twin is None or call.name != twin.name:
                names = [each.name if each else "no more calls" for each in (call, twin)]
                present = call or twin
                if present is not None:
                    outcome.note(present, "calls", names[0], names[1])
                continue
            outcome.calls += 1
            _compare_answers(outcome, call, twin)
            answers = {(c.place, c.element): c for c in second.take(twin.number, AFTER)}
            for contents in first.take(call.number, AFTER):
                answer = answers.get((contents.place, contents.element))
                if answer is None:
                    outcome.unjudged[call.name] += 1
                else:
                    outcome.compare_contents(call, contents, answer.hash, answer.data, exact=exact)
    return outcome


def _pairs(
    ones: Iterator[Call], others: Iterator[Call]
) -> Iterator[tuple[Call | None, Call | None]]:
    """Yield the calls of each thread in both, and of each the first that has no equal."""
    waiting: tuple[dict[int, deque[Call]], ...] = (defaultdict(deque), defaultdict(deque))
    parted: set[int] = set()
    for pair in itertools.zip_longest(ones, others):
        for side, call in enumerate(pair):
            if call is None or call.thread in parted:
                continue
            twins = waiting[1 - side][call.thread]
            if not twins:
                waiting[side][call.thread].append(call)
                continue
            found = (call, twins.popleft())
            if found[0].name != found[1].name:
                parted.add(call.thread)
            yield found[side], found[1 - side]
    for side, rest in enumerate(waiting):
        for thread, calls in sorted(rest.items()):
            if calls and thread not in parted:
                yield (calls[0], None) if side == 0 else (None, calls[0])


def _calls(path: Path) -> Iterator[Call]:
    for record in read_trace(path):
        if isinstance(record, Call):
            known = recorded(record.name)
            if known is not None and "run" in known.role and "loose" not in known.role:
                yield record


def _compare_answers(outcome: Outcome, call: Call, twin: Call) -> None:
    if call.failed or twin.failed:
        outcome.compare_status(call, twin.result if isinstance(twin.result, int) else 0)
    elif "workspaceSize" in call.arguments and call.letters["workspaceSize"].startswith("o"):
        outcome.compare_workspace(call, twin.handle("workspaceSize"))
