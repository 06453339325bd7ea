# SPDX-License-Identifier: Apache-2.0
"""Tensors of numbers of 4 bits, of which a byte holds two, the first one lowest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pyaclnn.facts.operators.types import PAIRED
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, dtype_of_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Tensor

__all__ = ["bytes_of", "can_write_pairs", "is_paired", "paired", "read_pairs"]


_CODES: Final = frozenset(DATA_TYPES[kind.acl.removeprefix("ACL_")] for kind in PAIRED.values())


def is_paired(tensor: Tensor) -> bool:
    """Report whether a tensor holds numbers of 4 bits."""
    return tensor.data_type in _CODES


def can_write_pairs(tensor: Tensor) -> bool:
    """Report whether numbers of 4 bits fill whole bytes of a tensor without gaps."""
    return tensor.contiguous and tensor.size % 2 == 0 and tensor.offset % 2 == 0


def read_pairs(memory: DeviceMemory, name: str, tensor: Tensor) -> NDArray[Any]:
    """Return a copy of a tensor's numbers, one a byte, of the type that ml_dtypes has for them.

    Args:
        memory: The device's memory.
        name: The tensor's parameter name, for messages.
        tensor: The tensor; its strides are none below 0.
    """
    dtype, first = dtype_of_word(tensor.type), tensor.offset % 2
    steps = zip(tensor.dims, tensor.strides, strict=True)
    span = 0 if 0 in tensor.dims else 1 + sum((n - 1) * step for n, step in steps)
    both = memory.view(name, bytes_of(tensor, (first + span + 1) // 2))
    numbers = np.stack([both & 15, both >> 4], axis=-1).reshape(-1)[first:].view(np.int8)
    if dtype.name.startswith("int"):
        numbers = (numbers ^ 8) - 8  # bit 3 is the sign
    found: NDArray[Any] = as_strided(numbers, tensor.dims, tensor.strides).copy().view(dtype)
    return found


def paired(numbers: NDArray[Any]) -> NDArray[np.uint8]:
    """Return numbers of 4 bits, one a byte, as bytes of two."""
    nibbles = np.ascontiguousarray(numbers).reshape(-1, 2).view(np.uint8) & 15
    return np.asarray(nibbles[:, 0] | nibbles[:, 1] << 4, np.uint8)


def bytes_of(tensor: Tensor, count: int | None = None) -> Tensor:
    """Return the bytes of a tensor as a tensor.

    Args:
        tensor: A tensor of numbers of 4 bits.
        count: The number of bytes; by default those of all its numbers, which have no gaps.
    """
    size, code = tensor.size // 2 if count is None else count, DATA_TYPES["UINT8"]
    return replace(tensor, data_type=code, dims=(size,), strides=(1,), offset=tensor.offset // 2)
