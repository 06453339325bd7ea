# SPDX-License-Identifier: Apache-2.0
"""Workspace sizes in bytes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FLOAT_BYTES", "SYSTEM_WORKSPACE", "block_align", "slot", "tensor_slot"]

# GetLibApiWorkSpaceSize: the bytes of every Ascend C kernel, on each simulated chip.
SYSTEM_WORKSPACE = 16 << 20

FLOAT_BYTES = 4
_BLOCK_BYTES = 32
_SLOT_PADDING = 32
_SLOT_ALIGNMENT = 512
_BITS = 8


def slot(size: int) -> int:
    """Return the bytes of an intermediate tensor: size + 32, rounded up to 512 (CANN: opbase)."""
    return -(-(size + _SLOT_PADDING) // _SLOT_ALIGNMENT) * _SLOT_ALIGNMENT


def tensor_slot(dims: Iterable[int], kind: str) -> int:
    """Return the bytes of an intermediate tensor of a shape and a word for its type."""
    bits = int("".join(filter(str.isdigit, kind)) or _BITS)  # a part of the word, but for bool
    return slot(prod(dims) * bits // _BITS)


def block_align(columns: int) -> int:
    """Return the elements of a row of float32 in whole 32-byte blocks."""
    per_block = _BLOCK_BYTES // FLOAT_BYTES
    return -(-columns // per_block) * per_block
