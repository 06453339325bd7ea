# SPDX-License-Identifier: Apache-2.0
"""Hashes by which contents are recorded once: every byte, its place and the length count."""

from __future__ import annotations

import random

import pytest

from pyaclnn.capture.library import content_hash

SIZES = [1, 7, 8, 31, 32, 33, 63, 64, 65, 200]


@pytest.mark.parametrize("size", SIZES)
def test_one_other_byte_is_another_hash(size: int) -> None:
    data = random.Random(size).randbytes(size)
    changed = [data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :] for i in range(size)]
    assert len({content_hash(each) for each in [data, *changed]}) == size + 1


@pytest.mark.parametrize("step", [1, 8, 32])
def test_parts_in_another_order_are_another_hash(step: int) -> None:
    shuffled = random.Random(step).sample(range(256), 256)
    parts = [bytes(shuffled[i : i + step]) for i in range(0, 256, step)]
    swapped = [[*parts[:i], parts[i + 1], parts[i], *parts[i + 2 :]] for i in range(len(parts) - 1)]
    found = {content_hash(b"".join(each)) for each in [parts, *swapped]}
    assert len(found) == len(parts)


def test_zeros_of_each_length_have_a_hash_of_their_own() -> None:
    assert len({content_hash(bytes(size)) for size in range(300)}) == 300


def test_a_hash_follows_from_the_bytes_alone() -> None:
    data = random.Random(0).randbytes(100)
    hashes = {content_hash((bytes(shift) + data)[shift:]) for shift in range(16)}
    assert hashes == {content_hash(data)}
