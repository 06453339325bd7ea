# SPDX-License-Identifier: Apache-2.0
"""Patterns of the memory test: every bit is 0 and 1, and an error is told with address and bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyaclnn.health.child.steps.memory import PATTERNS, WORD, BitError, bit_errors, words_of

BASE = 0x1200_4000_0040
COUNT = 200


@pytest.mark.parametrize("first", range(0, len(PATTERNS), 2))
def test_a_pattern_and_its_inverse_set_every_bit_to_both(first: int) -> None:
    one, other = (words_of(pattern, BASE, COUNT) for pattern in PATTERNS[first : first + 2])
    assert np.array_equal(one, ~other)


def test_no_two_words_of_addresses_or_random_words_are_alike() -> None:
    for name in ("address", "random words"):
        [pattern] = [pattern for pattern in PATTERNS if pattern.name == name]
        assert len(set(words_of(pattern, BASE, COUNT).tolist())) == COUNT


def test_a_word_is_what_its_address_makes_it_wherever_a_chunk_begins() -> None:
    for pattern in PATTERNS:
        whole = words_of(pattern, BASE, COUNT)
        assert np.array_equal(whole[50:], words_of(pattern, BASE + 50 * WORD, COUNT - 50))


def test_walking_ones_have_one_bit_each_and_reach_all() -> None:
    walking = [pattern for pattern in PATTERNS if pattern.name.startswith("walking one")]
    assert len(walking) == 8
    for pattern in walking:
        words = words_of(pattern, BASE, COUNT).tolist()
        assert {word.bit_count() for word in words} == {1}
        assert len(set(words)) == 64


@given(
    st.sampled_from(PATTERNS),
    st.lists(st.integers(0, COUNT * 64 - 1), min_size=1, max_size=9, unique=True),
)
def test_each_wrong_bit_is_told(pattern: object, places: list[int]) -> None:
    written = words_of(pattern, BASE, COUNT)  # type: ignore[arg-type]  # it is a Pattern
    there = written.copy()
    for place in places:
        there[place // 64] ^= np.uint64(1 << (place % 64))
    count, told = bit_errors(BASE, written, there, 100)
    expected = {(BASE + place // 8, place % 8) for place in places}
    assert count == len(places)
    assert {(error.address, error.bit) for error in told} == expected
    for error in told:
        word = int(written[(error.address - BASE) // WORD])
        assert error.written == word >> ((error.address - BASE) % WORD * 8 + error.bit) & 1


def test_many_errors_are_counted_and_few_are_told() -> None:
    written = words_of(PATTERNS[0], BASE, COUNT)
    count, told = bit_errors(BASE, written, ~written, 5)
    assert (count, len(told)) == (COUNT * 64, 5)
    assert str(told[0]) == f"{BASE:#x} bit 0: 1 instead of 0"
    assert told[0] == BitError(BASE, 0, 0)


def test_what_is_right_has_no_errors() -> None:
    written = words_of(PATTERNS[0], BASE, COUNT)
    assert bit_errors(BASE, written, written.copy(), 5) == (0, [])
