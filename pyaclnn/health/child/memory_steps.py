# SPDX-License-Identifier: Apache-2.0
"""Step of a child that fills most of a device's memory with patterns and reads them back."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from pyaclnn.base.errors import OutOfMemoryError
from pyaclnn.health.checks.finding import Finding, found, ok, value
from pyaclnn.health.child.patterns import PATTERNS, WORD, BitError, bit_errors, words_of
from pyaclnn.health.report.record import Figure
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.pinned import pinned_empty
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.health.child.patterns import Pattern
    from pyaclnn.health.child.session import Session
    from pyaclnn.health.report.record import Evidence

__all__ = ["STEPS"]

_SHARE: Final = 0.9
"""The share of the free memory that is tested by default."""
_CHUNKS_OF_A_SIMULATION: Final = 4
"""The memory of a simulated device is this machine's: a few chunks of it are tested."""
_MOST_EXAMPLES: Final = 16


@dataclass
class _Tally:
    """Result of the passes so far."""

    passes: int = 0
    bits: int = 0
    examples: list[tuple[BitError, str, bool]] = field(default_factory=list)


def _memory(session: Session) -> Finding:
    task, device = session.task, session.device
    chunk, share = task.figure_bytes // WORD * WORD, task.memory_share
    free = device.memory_info().free
    wanted = int(free * (_SHARE if share is None else share))
    if share is None and task.simulated:
        wanted = min(wanted, _CHUNKS_OF_A_SIMULATION * chunk)
    chunks = _allocated(session, max(wanted, WORD), chunk)
    size = sum(array.nbytes for array in chunks)
    tally, until = _Tally(), time.monotonic() + task.memory_seconds
    with Stream(device) as stream:
        host = pinned_empty(chunk // WORD, np.uint64, device)
        longest = 0.0
        for pattern in PATTERNS:
            begun = time.monotonic()
            # Without the first two not every bit has been 0 and 1.
            if tally.passes > 1 and begun + longest > until:
                break
            _pass(pattern, chunks, host, stream, tally)
            longest = max(longest, time.monotonic() - begun)
            tally.passes += 1
    for array in chunks:
        array.close()
    return _finding(tally, size, free, simulated=task.simulated)


def _allocated(session: Session, wanted: int, chunk: int) -> list[DeviceArray]:
    """Allocate as many chunks as there is memory for."""
    arrays: list[DeviceArray] = []
    while wanted >= WORD:
        words = min(chunk, wanted) // WORD
        try:
            arrays.append(DeviceArray.empty((words,), np.uint64, session.device))
        except OutOfMemoryError:
            if not arrays:
                raise
            break
        wanted -= words * WORD
    return arrays


def _pass(
    pattern: Pattern,
    chunks: list[DeviceArray],
    host: np.ndarray,
    stream: Stream,
    tally: _Tally,
) -> None:
    """Write everything, then read everything, so that a fault of an address line shows."""
    for array in chunks:
        part = host[: array.size]
        part[:] = words_of(pattern, array.address, array.size)
        array.copy_from(part, stream)
        stream.synchronize()
    for array in chunks:
        part = host[: array.size]
        wanted = words_of(pattern, array.address, array.size)
        count, errors = _read(array, part, wanted, stream)
        if not count:
            continue
        again = set(_read(array, part, wanted, stream)[1])
        tally.bits += count
        for error in errors[: _MOST_EXAMPLES - len(tally.examples)]:
            tally.examples.append((error, pattern.name, error in again))


def _read(
    array: DeviceArray, part: np.ndarray, wanted: np.ndarray, stream: Stream
) -> tuple[int, list[BitError]]:
    array.copy_to(part, stream)
    stream.synchronize()
    return bit_errors(array.address, wanted, part, _MOST_EXAMPLES)


def _finding(tally: _Tally, size: int, free: int, *, simulated: bool) -> Finding:
    names = ", ".join(pattern.name for pattern in PATTERNS[: tally.passes])
    what = f"{size / 2**20:.1f} of {free / 2**20:.1f} MiB that were free"
    what += " on the simulated NPU" if simulated else ""
    evidence: tuple[Evidence, ...] = (value("patterns", names),)
    figures = (
        Figure("memory_tested", size, "bytes", "neither"),
        Figure("memory_bit_errors", tally.bits, "count", "less"),
    )
    if not tally.bits:
        return replace(ok(f"{what} hold {tally.passes} patterns", *evidence), figures=figures)
    lasting = [error for error, _, again in tally.examples if again]
    evidence += tuple(
        value(str(error), f"with {pattern}; {'again' if again else 'right'} when read once more")
        for error, pattern, again in tally.examples
    )
    places = sorted({(error.address, error.bit) for error, _, _ in tally.examples})
    wrong = (
        f"{tally.bits} bits are wrong, at {len(places)} places or more, of {what}; first "
        f"{tally.examples[0][0]}"
    )
    finding = found("MEM-101.cells" if lasting else "MEM-101.link", *evidence, wrong=wrong)
    return replace(finding, figures=figures)


STEPS: Final[dict[str, Callable[[Session], Finding]]] = {"MEM-101": _memory}
"""The function of each check."""
