# SPDX-License-Identifier: Apache-2.0
"""Workspace sizes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pyaclnn.mock.dtypes import numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyaclnn.mock.values import Tensor

__all__ = ["FLOAT_BYTES", "SYSTEM_WORKSPACE", "block_align", "copies", "slot", "tensor_slot"]

# GetLibApiWorkSpaceSize: what every Ascend C kernel asks for, on each simulated chip.
SYSTEM_WORKSPACE = 16 << 20

FLOAT_BYTES = 4
_BLOCK_BYTES = 32
_SLOT_PADDING = 32
_SLOT_ALIGNMENT = 512


def slot(size: int) -> int:
    """Bytes an intermediate tensor takes: (size + 32) rounded up to 512 (CANN: opbase executor)."""
    return -(-(size + _SLOT_PADDING) // _SLOT_ALIGNMENT) * _SLOT_ALIGNMENT


def tensor_slot(dims: Iterable[int], data_type: int) -> int:
    """Bytes an intermediate tensor of a shape and data type takes."""
    return slot(prod(dims) * numpy_dtype(data_type).itemsize)


def copies(tensors: Iterable[Tensor | None]) -> int:
    """Bytes for the contiguous copies of those inputs that are not contiguous."""
    return sum(
        tensor_slot(tensor.dims, tensor.data_type)
        for tensor in tensors
        if tensor is not None and not tensor.contiguous
    )


def block_align(columns: int) -> int:
    """Round a row of float32 up to whole 32-byte blocks; gives elements."""
    per_block = _BLOCK_BYTES // FLOAT_BYTES
    return -(-columns // per_block) * per_block
