# SPDX-License-Identifier: Apache-2.0
"""float16 and bfloat16 to float32 and back, in compiled code.

NumPy converts float16 one number after the other, without the processor's instructions for that,
and bfloat16 only while it holds the interpreter lock, which keeps other threads waiting. Either
takes longer than all the arithmetic of a normalization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from pyaclnn.reference.arithmetic._narrow_floats import ffi, lib

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["narrow", "widen"]

HALF = np.dtype(np.float16)
BFLOAT = np.dtype(ml_dtypes.bfloat16)


def widen(narrow: NDArray[Any], out: NDArray[np.float32]) -> None:
    """Convert to float32, exactly.

    Args:
        narrow: float16 or bfloat16 numbers, or any others, which NumPy converts; one axis or two.
        out: float32 numbers of the same shape, contiguous; overwritten.
    """
    if narrow.dtype not in (HALF, BFLOAT):
        np.copyto(out, narrow, casting="unsafe")
        return
    block = np.atleast_2d(narrow)
    if block.strides[1] != block.itemsize or block.strides[0] % block.itemsize:
        block = np.ascontiguousarray(block)
    lib.widen(block.dtype == BFLOAT, *words(block), address("float *", out), *block.shape)


def narrow(single: NDArray[np.float32], out: NDArray[Any]) -> None:
    """Convert from float32, rounding to the nearest, ties to even.

    Args:
        single: float32 numbers, contiguous; two axes.
        out: float16 or bfloat16 numbers of the same shape, each row contiguous.
    """
    lib.narrow(out.dtype == BFLOAT, address("float *", single), *words(out), *out.shape)


def words(block: NDArray[Any]) -> tuple[Any, int]:
    """Where the numbers of a block are, and how many of them fit from one row to the next."""
    return address("uint16_t *", block), block.strides[0] // block.itemsize


def address(pointer: str, array: NDArray[Any]) -> Any:
    return ffi.cast(pointer, array.ctypes.data)
