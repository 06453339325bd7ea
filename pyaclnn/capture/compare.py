# SPDX-License-Identifier: Apache-2.0
"""Comparison of two traces of the same program: two machines, two releases, two chips."""

from __future__ import annotations

import itertools
import zlib
from collections import defaultdict, deque
from typing import TYPE_CHECKING

from pyaclnn.capture.contents import AFTER, ContentsOf
from pyaclnn.capture.functions import recorded
from pyaclnn.capture.trace import Call, read_trace
from pyaclnn.capture.verdict import TIMED_OUT, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["compare"]


def compare(one: Path, other: Path, *, exact: bool = False) -> Outcome:
    """Compare the calls of two traces, thread by thread, in the order of each.

    Calls whose answers depend on time are left out, and so are waits that reached their limit and
    what asks for the current context.
    Threads with the same functions belong together, the others in the order of their first calls.
    The first call that is another ends a thread.

    Args:
        one: The first trace, whose answers are the recorded ones of the result.
        other: The second trace.
        exact: Whether results must have the same bits.
    """
    outcome = Outcome(one.name, other.name, "compared")
    with ContentsOf(one) as first, ContentsOf(other) as second:
        for call, twin in _pairs(_calls(one), _calls(other, _twins(one, other))):
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


def _calls(path: Path, twins: Mapping[int, int] | None = None) -> Iterator[Call]:
    """Yield the calls that do not depend on time, those of each thread under its twin's number."""
    for record in read_trace(path):
        if isinstance(record, Call) and record.result != TIMED_OUT:
            known = recorded(record.name)
            if known is not None and "run" in known.role and not known.role & {"loose", "finds"}:
                yield record._replace(thread=twins[record.thread]) if twins else record


def _twins(one: Path, other: Path) -> dict[int, int]:
    """Return the thread of one trace that each thread of the other belongs to.

    Threads are numbered by their first calls, and which of several comes first is chance.
    """
    named: list[dict[int, int]] = []
    for path in (one, other):
        hashes: dict[int, int] = {}
        for call in _calls(path):
            hashes[call.thread] = zlib.crc32(call.name.encode(), hashes.get(call.thread, 0))
        named.append(hashes)
    free = [*named[0]]
    twins = {}
    for thread, functions in named[1].items():
        twin = next((each for each in free if named[0][each] == functions), None)
        if twin is not None:
            twins[thread] = twin
            free.remove(twin)
    rest = (thread for thread in sorted(named[1]) if thread not in twins)
    unused = itertools.count(max(named[0], default=0) + 1)
    return twins | dict(zip(rest, itertools.chain(sorted(free), unused), strict=False))


def _compare_answers(outcome: Outcome, call: Call, twin: Call) -> None:
    if call.failed or twin.failed:
        outcome.compare_status(call, twin.result if isinstance(twin.result, int) else 0)
    elif "workspaceSize" in call.arguments and call.letters["workspaceSize"].startswith("o"):
        outcome.compare_workspace(call, twin.handle("workspaceSize"))
