# SPDX-License-Identifier: Apache-2.0
"""Step that fills most of a device's memory with patterns and reads them back.

Each word of a pattern follows from its address alone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from pyaclnn.base.errors import OutOfMemoryError
from pyaclnn.health.checks.finding import Finding, found, ok, value
from pyaclnn.health.report.record import Figure
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.pinned import pinned_empty
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pyaclnn.health.child.session import Session
    from pyaclnn.health.report.record import Evidence

__all__ = ["PATTERNS", "WORD", "BitError", "bit_errors", "words_of"]

WORD: Final = 8
"""Bytes of a word."""
_BITS: Final = 64
_WALKS: Final = 8
_ALL: Final = np.uint64(2**64 - 1)

Words: TypeAlias = "NDArray[np.uint64]"


@dataclass(frozen=True)
class Pattern:
    """A pattern.

    Attributes:
        name: Its name.
        of: Computes the words at addresses.
    """

    name: str
    of: Callable[[Words], Words]


@dataclass(frozen=True)
class BitError:
    """A bit that differs from what was written.

    Attributes:
        address: The device address of its byte.
        bit: Which bit of the byte, 0 to 7.
        written: The bit that was written, 0 or 1.
    """

    address: int
    bit: int
    written: int

    def __str__(self) -> str:
        """Return the error in words."""
        return f"{self.address:#x} bit {self.bit}: {1 - self.written} instead of {self.written}"


def _mixed(addresses: Words) -> Words:
    """Return words that look random (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        words = addresses + np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    mixed: Words = words ^ (words >> np.uint64(31))
    return mixed


def _walking(start: int) -> Callable[[Words], Words]:
    def words(addresses: Words) -> Words:
        place = (addresses // np.uint64(WORD) + np.uint64(start)) % np.uint64(_BITS)
        walking: Words = np.uint64(1) << place
        return walking

    return words


def _inverted(pattern: Pattern) -> Pattern:
    return Pattern(f"inverted {pattern.name}", lambda addresses: pattern.of(addresses) ^ _ALL)


def _both(*patterns: Pattern) -> tuple[Pattern, ...]:
    return tuple(one for pattern in patterns for one in (pattern, _inverted(pattern)))


PATTERNS: Final = _both(
    Pattern("address", lambda addresses: addresses),
    Pattern("random words", _mixed),
    *(Pattern(f"walking one from bit {s}", _walking(s)) for s in range(0, _BITS, _BITS // _WALKS)),
)
"""The patterns in their order; after the first two every bit has been 0 and 1."""


def words_of(pattern: Pattern, address: int, count: int) -> Words:
    """Return the words of a pattern for a range of memory.

    Args:
        pattern: The pattern.
        address: The device address of the first word.
        count: The number of words.
    """
    places = np.arange(count, dtype=np.uint64) * np.uint64(WORD)
    return pattern.of(places + np.uint64(address))


def bit_errors(address: int, written: Words, there: Words, most: int) -> tuple[int, list[BitError]]:
    """Compare memory with what was written.

    Args:
        address: The device address of the first word.
        written: The words that were written.
        there: The words that were read.
        most: The number of errors to return.

    Returns:
        The number of wrong bits, and the first of them.
    """
    wrong = np.flatnonzero(written != there)
    different = (written[wrong] ^ there[wrong]).view(np.uint8)
    bits = np.unpackbits(different, bitorder="little")
    places = np.flatnonzero(bits)
    truth = np.unpackbits(written[wrong].view(np.uint8), bitorder="little")
    errors = []
    for place in places[:most].tolist():
        word, inside = divmod(place, _BITS)
        byte, bit = divmod(inside, 8)
        where = address + int(wrong[word]) * WORD + byte
        errors.append(BitError(where, bit, int(truth[place])))
    return int(places.size), errors


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
