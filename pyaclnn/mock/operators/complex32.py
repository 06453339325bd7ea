# SPDX-License-Identifier: Apache-2.0
"""Tensors of COMPLEX32, whose elements are two float16; kernels compute with complex64."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.mock.protocol.dtypes import DATA_TYPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.mock.protocol.values import Tensor

__all__ = ["from_words", "is_complex32", "to_words", "words_of"]

_CODE: Final = DATA_TYPES["COMPLEX32"]


def is_complex32(tensor: Tensor) -> bool:
    """Report whether a tensor is one of COMPLEX32."""
    return tensor.data_type == _CODE


def words_of(tensor: Tensor) -> Tensor:
    """Return the same tensor with elements of 32 bits that NumPy has."""
    return replace(tensor, data_type=DATA_TYPES["UINT32"])


def from_words(words: NDArray[Any]) -> NDArray[np.complex64]:
    """Return the numbers of elements that are read."""
    parts = np.ascontiguousarray(words)[..., None].view(np.float16).astype(np.float32)
    return np.asarray(parts[..., 0] + 1j * parts[..., 1], np.complex64)


def to_words(numbers: NDArray[Any]) -> NDArray[np.uint32]:
    """Return elements for numbers, each part rounded to float16."""
    parts = np.stack([numbers.real, numbers.imag], -1).astype(np.float16)
    return np.asarray(parts.view(np.uint32)[..., 0])
