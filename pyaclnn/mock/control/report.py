# SPDX-License-Identifier: Apache-2.0
"""Reports of the simulated NPU: broken rules, calls, and live objects."""

from __future__ import annotations

import ctypes
import json
from collections import Counter
from dataclasses import dataclass
from functools import partial

from pyaclnn.mock.control.tools import lines_of, loaded, read_text

__all__ = [
    "Living",
    "Violation",
    "alive",
    "calls",
    "clear_violations",
    "reset_calls",
    "violation_count",
    "violations",
]


@dataclass(frozen=True)
class Violation:
    """One broken rule.

    Attributes:
        rule: The rule's id; `pyaclnn.mock.contract.RULES` has the full text.
        title: The mistake in general.
        detail: The mistake of this call.
        function: The C function in which it was noticed; None outside of any.
        at: That function and where it was called from: in the process, and for which line of Python
            if that is known.
        what: The kind of thing `handle` is.
        handle: The handle or address concerned, as text; None if there is none.
        created: Where that was made, as far as it is known.
        destroyed: Where it was destroyed, if it was.
        fix: The correct way.
        pid: The process.
    """

    rule: str
    title: str
    detail: str
    function: str | None
    at: str | None
    what: str | None
    handle: str | None
    created: str | None
    destroyed: str | None
    fix: str
    pid: int

    def __str__(self) -> str:
        lines = [f"[{self.rule}] {self.title}", self.detail]
        lines += [f"in {self.at}"] if self.at else []
        lines += [f"{self.what} {self.handle}"] if self.handle else []
        lines += [f"created in {self.created}"] if self.created else []
        lines += [f"destroyed in {self.destroyed}"] if self.destroyed else []
        return "\n    ".join([*lines, f"do this: {self.fix}"])


@dataclass(frozen=True)
class Living:
    """A live object of the program.

    Attributes:
        kind: ``"aclTensor"``, ``"stream"``, ``"device_memory"``, ``"device"`` …
        handle: Its handle, address or number, as text.
        function: The C function that made it; ``"-"`` if that is not known.
        line: The line of Python for which it was made, as ``"file:line"``; ``"-"`` if the call did
            not come from this library.

    ``str`` describes it in one line.
    """

    kind: str
    handle: str
    function: str
    line: str

    def __str__(self) -> str:
        return f"{self.kind} {self.handle}, created in {self.function} at {self.line}"


def violation_count() -> int:
    """Return the number of broken rules: the length of `violations`, without their texts."""
    return sum(_count(library) for library in loaded())


def _count(library: ctypes.CDLL) -> int:
    count = library.pyaclnn_mock_violation_count
    count.restype = ctypes.c_size_t
    return int(count())


def violations() -> list[Violation]:
    """Every rule this process has broken, in order; empty if no simulated NPU is loaded."""
    found = []
    for library in loaded():
        read = library.pyaclnn_mock_violation_read
        read.restype = ctypes.c_size_t
        read.argtypes = [ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
        for index in range(_count(library)):
            text = read_text(partial(read, index))
            found.append(Violation(**json.loads(text)))
    return found


def clear_violations() -> None:
    """Forget every broken rule."""
    for library in loaded():
        library.pyaclnn_mock_violation_clear()


def calls() -> Counter[str]:
    """Return the calls of each C function since `reset_calls`; 0 for one never called."""
    counts: Counter[str] = Counter()
    for name, number in (line.split() for line in lines_of("pyaclnn_mock_call_counts")):
        counts[name] += int(number)
    return counts


def reset_calls() -> None:
    """Count calls from 0 again."""
    for library in loaded():
        library.pyaclnn_mock_call_counts_reset()


def alive() -> list[Living]:
    """List the live objects of the program.

    Returns:
        Objects, explicit contexts and streams, pinned memory, then devices and their memory. What
        the runtime makes for itself, such as default streams, is left out.
    """
    return [Living(*line.split(" ", 3)) for line in lines_of("pyaclnn_mock_alive")]
