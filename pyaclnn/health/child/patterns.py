# SPDX-License-Identifier: Apache-2.0
"""Patterns for testing memory: each word follows from its address alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["PATTERNS", "WORD", "BitError", "Pattern", "bit_errors", "words_of"]

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
