# SPDX-License-Identifier: Apache-2.0
"""The operands of a kernel's normalization: which they may be, and how they are widened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike, NDArray

__all__ = ["HALF_AND_FLOAT", "origin_length", "parameter", "scalar", "source", "wide"]

HALF_AND_FLOAT = frozenset(map(np.dtype, (np.float16, np.float32, np.float64)))
"""The kernels' half and float, and float64 for checking."""


def source(
    name: str, tensor: ArrayLike, axes: str, dtypes: Collection[np.dtype[Any]] = HALF_AND_FLOAT
) -> NDArray[Any]:
    """Take the operand that decides the shape and the data type of the others.

    Args:
        name: Its name in the caller, for messages.
        tensor: The operand.
        axes: The names of its axes, one letter each, such as ``"BSH"``.
        dtypes: The data types it may have.

    Raises:
        ValueError: It has another rank or another data type.
    """
    array = np.asarray(tensor)
    if array.ndim != len(axes):
        raise ValueError(f"{name} has the shape {array.shape}; it must be [{', '.join(axes)}]")
    if array.dtype not in dtypes:
        names = " or ".join(sorted(dtype.name for dtype in dtypes))
        raise ValueError(f"{name} has the data type {array.dtype}; it must be {names}")
    return array


def parameter(
    name: str, tensor: ArrayLike, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Take an operand whose shape and data type are settled, widened for arithmetic.

    Raises:
        ValueError: It has another shape or another data type.
    """
    array = np.asarray(tensor)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; it must be {shape}")
    if array.dtype != dtype:
        raise ValueError(f"{name} has the data type {array.dtype}; it must be {dtype}")
    return wide(array)


def wide(array: NDArray[Any]) -> NDArray[Any]:
    """Bring an operand to the data type in which the kernels compute: float32 for half."""
    dtype = np.float64 if array.dtype == np.float64 else np.float32
    return array.astype(dtype, copy=False)


def scalar(name: str, value: float | np.floating[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Take a number as the kernel gets it: rounded to the type of its parameter, then widened.

    Raises:
        ValueError: It is not one number.
    """
    number = np.asarray(value, np.float64)
    if number.ndim:
        raise ValueError(f"{name} has the shape {number.shape}; it must be one number")
    return wide(number.astype(dtype))


def origin_length(name: str, length: int | None, storage: int) -> int:
    """Take how many elements of a stored row are data; None means all of them.

    Raises:
        ValueError: The row holds fewer, or none are data.
    """
    origin = storage if length is None else length
    if not 1 <= origin <= storage:
        raise ValueError(
            f"{name} is {origin}; it must be at least 1 and at most {storage}, "
            "the length of a stored row"
        )
    return origin
