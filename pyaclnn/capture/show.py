# SPDX-License-Identifier: Apache-2.0
"""Text of a trace: its calls, operators, streams and memory."""

from __future__ import annotations

import json
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

from pyaclnn.base.printable import harmless
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.cann.signatures import PHASE_1
from pyaclnn.cann.status import meaning
from pyaclnn.capture.descriptors import Descriptors, is_number, shown
from pyaclnn.capture.places import Places
from pyaclnn.capture.roles import role_of
from pyaclnn.capture.trace import (
    Call,
    Chip,
    Contents,
    Ended,
    TraceError,
    Unrecorded,
    Unreturned,
    incomplete,
    read_trace,
    traces_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyaclnn.capture.places import Place

__all__ = ["lines_of"]


def lines_of(
    path: Path, *, operator: str | None = None, failed: bool = False, as_json: bool = False
) -> Iterator[str]:
    """Yield a line for each call, and the totals.

    Args:
        path: The trace of one process.
        operator: The C name of an operator, whose calls alone are listed.
        failed: True if failed calls alone are listed.
        as_json: True if each line is JSON.

    Raises:
        TraceError: The trace cannot be read, or has no call of the operator.
    """
    totals, descriptors, places = _Totals(), Descriptors(), Places()
    for record in read_trace(path):
        totals.add(record)
        if not isinstance(record, Call):
            continue
        descriptors.learn(record)
        place = places.learn(record)
        wanted = operator is None or record.name.removesuffix(PHASE_1) == operator
        if wanted and (record.failed or not failed):
            write = _row if as_json else _line
            yield write(record, place, descriptors)
    names = {name.removesuffix(PHASE_1) for name in totals.calls}
    if operator is not None and operator not in names:
        from pyaclnn.calling.by_name import c_spelling  # noqa: PLC0415  # only the error needs it

        hint = did_you_mean(c_spelling(operator), names) or "without --operator all are listed"
        raise TraceError(f"{path.name} has no call of {operator!r}; {hint}")
    totals.others = [harmless(each.name) for each in traces_of(path)[1:]]
    if as_json:
        yield json.dumps(totals.as_json())
    else:
        yield from totals.lines()


def _line(call: Call, place: Place, descriptors: Descriptors) -> str:
    words = descriptors.words(call, descriptors.launch(call, first_only=True))
    answer = f"{call.status} {meaning(call.status).name}" if call.failed else f"{call.result!s}"
    if call.name.startswith("aclCreate"):
        answer = shown(call.result, "h")
    where = f"t{call.thread}" + ("" if place.device is None else f" d{place.device}")
    text = f"{call.number:>7} {where} {call.name}({words}) = {answer}"
    return text + (f"\n        {call.message.strip()}" if call.message else "")


def _row(call: Call, place: Place, descriptors: Descriptors) -> str:
    """Return a call as JSON; tensors have their layouts beside their handles."""
    row: dict[str, Any] = call._asdict() | place._asdict()
    letters = row.pop("letters")
    row["arguments"] = {
        name: call.handle(name) if is_number(value, letters[name]) else value
        for name, value in call.arguments.items()
    }
    launch = descriptors.launch(call, first_only=True)
    row["tensors"] = [
        {"name": each.name, "element": each.element, "dtype": str(each.tensor.dtype)}
        | each.tensor._asdict()
        for each in (() if launch is None else launch.operands)
    ]
    return json.dumps(row, default=bytes.hex)


class _Totals:
    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.unrecorded: Counter[str] = Counter()
        self.streams: Counter[int] = Counter()
        self.threads: set[int] = set()
        self.placing: set[int] = set()
        self.sizes: dict[int, int] = {}
        self.bytes = self.most = 0
        self.contents = 0
        self.chip = ""
        self.unreturned: dict[int, Unreturned] = {}
        self.end: Ended | None = None
        self.others: list[str] = []

    def add(self, record: object) -> None:
        if isinstance(record, Call):
            if "places" in role_of(record.name):
                if record.number in self.placing:
                    return  # a part of a trace repeats it before the calls of each thread
                self.placing.add(record.number)
            self.unreturned.pop(record.number, None)
            self.calls[record.name] += 1
            self.failed[record.name] += record.failed
            self.threads.add(record.thread)
            if "stream" in record.arguments and record.letters["stream"] == "h":
                self.streams[record.handle("stream")] += 1
            self._memory(record)
        elif isinstance(record, Contents):
            self.contents += 1
        elif isinstance(record, Unrecorded):
            self.unrecorded[record.name] += record.calls
        elif isinstance(record, Chip):
            self.chip = record.name
        elif isinstance(record, Unreturned):
            self.unreturned[record.number] = record
        elif isinstance(record, Ended):
            self.end = record

    def _memory(self, call: Call) -> None:
        if call.failed:
            return
        if call.name.startswith("aclrtMalloc") and "devPtr" in call.arguments:
            size = call.handle("size")
            self.sizes[call.handle("devPtr")] = size
            self.bytes += size
            self.most = max(self.most, self.bytes)
        elif call.name.startswith("aclrtFree") and "devPtr" in call.arguments:
            self.bytes -= self.sizes.pop(call.handle("devPtr"), 0)

    def as_json(self) -> dict[str, Any]:
        return {
            "calls": dict(self.calls),
            "failed": {name: n for name, n in self.failed.items() if n},
            "unrecorded": dict(self.unrecorded),
            "unreturned": [[each.number, each.name] for each in self.unreturned.values()],
            "chip": self.chip,
            "streams": len(self.streams),
            "threads": len(self.threads),
            "most_device_memory": self.most,
            "contents": self.contents,
            "signal": None if self.end is None else self.end.signal,
            "error": None if self.end is None else self.end.error,
            "other_processes": self.others,
        }

    def lines(self) -> Iterator[str]:
        operators = {n: c for n, c in self.calls.items() if f"{n}{PHASE_1}" in self.calls}
        yield (
            f"{self.calls.total()} calls of {len(self.calls)} functions, "
            f"{self.failed.total()} failed, in {len(self.threads)} threads and "
            f"{len(self.streams)} streams{self.chip and f' on {self.chip}'}; "
            f"{self.contents} contents; at most {self.most} bytes of device memory"
        )
        if operators:
            counts = sorted(operators.items(), key=lambda item: (-item[1], item[0]))
            yield "operators: " + ", ".join(f"{name} {count}" for name, count in counts)
        if self.unrecorded:
            counted = (f"{name} {count}" for name, count in sorted(self.unrecorded.items()))
            yield "not recorded: " + ", ".join(counted)
        for each in self.unreturned.values():
            yield f"not returned: call {each.number} {each.name} of thread {each.thread}"
        if self.others:
            yield f"other processes of the program: {', '.join(self.others)}"
        if reason := incomplete(self.end):
            yield f"incomplete: {reason}"
        elif self.end is not None and self.end.signal:
            names = {each.value: each.name for each in signal.Signals}
            yield f"ended by {names.get(self.end.signal, f'signal {self.end.signal}')}"
