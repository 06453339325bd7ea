# SPDX-License-Identifier: Apache-2.0
"""Comparison of two traces of the same program: two machines, two releases, two chips."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.capture.contents import AFTER, ContentsOf
from pyaclnn.capture.functions import recorded
from pyaclnn.capture.tensors import Descriptors
from pyaclnn.capture.trace import Call, read_trace
from pyaclnn.capture.verdict import (
    Divergence,
    Outcome,
    compare_arrays,
    compare_status,
    hash_differs,
    workspace_differs,
)

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
    outcome = Outcome(one.name, other.name)
    with ContentsOf(one) as first, ContentsOf(other) as second:
        threads = sorted({call.thread for path in (one, other) for call in _calls(path)})
        for thread in threads:
            descriptors = Descriptors()
            pairs = itertools.zip_longest(_calls(one, thread), _calls(other, thread))
            for call, twin in pairs:
                if call is None or twin is None or call.name != twin.name:
                    outcome.divergences.append(_parted(call, twin))
                    break
                outcome.calls += 1
                descriptors.learn(call)
                outcome.divergences += _differences(call, twin)
                _compare_results(outcome, call, twin, descriptors, first, second, exact=exact)
    return outcome


def _calls(path: Path, thread: int | None = None) -> Iterator[Call]:
    for record in read_trace(path):
        if isinstance(record, Call) and thread in {None, record.thread}:
            known = recorded(record.name)
            if known is not None and "run" in known.role and "loose" not in known.role:
                yield record


def _parted(call: Call | None, twin: Call | None) -> Divergence:
    numbers = [each.number for each in (call, twin) if each is not None]
    names = [each.name if each is not None else "no more calls" for each in (call, twin)]
    return Divergence(numbers[0], names[0], "calls", "", None, names[0], names[1], "")


def _differences(call: Call, twin: Call) -> Iterator[Divergence]:
    if call.failed or twin.failed:
        results = [each.result if isinstance(each.result, int) else 0 for each in (call, twin)]
        found = compare_status(call.number, call.name, *results)
        if found is not None:
            yield found
    elif "workspaceSize" in call.arguments and call.letters["workspaceSize"].startswith("o"):
        sizes = [each.handle("workspaceSize") for each in (call, twin)]
        if sizes[0] != sizes[1]:
            yield workspace_differs(call.number, call.name, sizes[0], sizes[1])


def _compare_results(  # both calls with the contents of both
    outcome: Outcome,
    call: Call,
    twin: Call,
    descriptors: Descriptors,
    first: ContentsOf,
    second: ContentsOf,
    *,
    exact: bool,
) -> None:
    launch = descriptors.launch(call.handle("executor")) if "executor" in call.arguments else None
    if launch is None or call.name != launch.name:
        return
    tensors = {(o.parameter, o.element): o for o in launch.operands}
    there = {(c.parameter, c.element): c for c in second.take(twin.number, AFTER)}
    for contents in first.take(call.number, AFTER):
        place = (contents.parameter, contents.element)
        if place not in there or place not in tensors:
            outcome.unjudged[call.name] += 1
            continue
        outcome.judged[call.name] += 1
        operand, answer = tensors[place], there[place]
        if contents.hash == answer.hash:
            continue
        dtype = operand.tensor.dtype
        if contents.data is None or answer.data is None or dtype is None:
            outcome.divergences.append(
                hash_differs(call.number, call.name, operand.name, contents.hash, answer.hash)
            )
            continue
        arrays = [
            np.frombuffer(each.data or b"", dtype).reshape(operand.tensor.shape)
            for each in (contents, answer)
        ]
        found = compare_arrays(call.number, call.name, operand.name, *arrays, exact=exact)
        outcome.divergences += [] if found is None else [found]
