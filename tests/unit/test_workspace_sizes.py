# SPDX-License-Identifier: Apache-2.0
"""Workspace that operators ask for: each intermediate tensor takes whole blocks of 512 bytes."""

from __future__ import annotations

import pytest

from pyaclnn.facts.operators.workspace import block_align, slot, tensor_slot


@pytest.mark.parametrize(
    ("size", "taken"), [(0, 512), (1, 512), (480, 512), (481, 1024), (512, 1024), (992, 1024)]
)
def test_a_tensor_takes_32_bytes_more_than_it_has_in_blocks_of_512(size: int, taken: int) -> None:
    assert slot(size) == taken


@pytest.mark.parametrize(
    ("dims", "kind", "taken"),
    [
        ((240,), "f16", 512),
        ((241,), "f16", 1024),
        ((10, 12), "f32", 512),
        ((11, 11), "f32", 1024),
        ((60,), "i64", 512),
        ((480,), "i8", 512),
        ((480,), "bool", 512),
        ((481,), "bool", 1024),
        ((960,), "i4", 512),
        ((), "f32", 512),
        ((0, 7), "f32", 512),
    ],
)
def test_its_bytes_follow_from_shape_and_type(dims: tuple[int, ...], kind: str, taken: int) -> None:
    assert tensor_slot(dims, kind) == taken


@pytest.mark.parametrize(("columns", "aligned"), [(0, 0), (1, 8), (8, 8), (9, 16), (16, 16)])
def test_a_row_of_float32_is_rounded_up_to_32_bytes(columns: int, aligned: int) -> None:
    assert block_align(columns) == aligned
