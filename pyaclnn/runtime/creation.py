# SPDX-License-Identifier: Apache-2.0
"""New device arrays of a known content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.errors import InvalidArgumentError
from pyaclnn.runtime.array import DeviceArray, to_device
from pyaclnn.runtime.transfer import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from pyaclnn.runtime.device import Device

__all__ = ["empty_like", "full", "ones", "zeros"]


def zeros(
    shape: int | Sequence[int], dtype: DTypeLike = np.float32, device: Device | None = None
) -> DeviceArray:
    """Make a device array of zeros. Drives ``aclrtMalloc`` and ``aclrtMemset``.

    Args:
        shape: Its shape.
        dtype: Its dtype, one that CANN knows.
        device: Where; the default device if None.

    Raises:
        InvalidArgumentError: An argument is not acceptable.
        OutOfMemoryError: There is not so much free device memory.
    """
    array = DeviceArray.empty(shape, dtype, device)
    array.fill_bytes(0)  # which is zero in every dtype
    return array


def ones(
    shape: int | Sequence[int], dtype: DTypeLike = np.float32, device: Device | None = None
) -> DeviceArray:
    """Make a device array of ones. Drives ``aclrtMalloc`` and ``aclrtMemcpy``.

    Args:
        shape: Its shape.
        dtype: Its dtype, one that CANN knows.
        device: Where; the default device if None.

    Raises:
        InvalidArgumentError: An argument is not acceptable.
        OutOfMemoryError: There is not so much free device memory.
    """
    return full(shape, 1, dtype, device)


def full(
    shape: int | Sequence[int],
    fill_value: complex,
    dtype: DTypeLike = np.float32,
    device: Device | None = None,
) -> DeviceArray:
    """Make a device array of one number. Drives ``aclrtMalloc`` and ``aclrtMemcpy``.

    Args:
        shape: Its shape.
        fill_value: The number, which the dtype must be able to hold as NumPy's ``full`` means it.
        dtype: Its dtype, one that CANN knows.
        device: Where; the default device if None.

    Raises:
        InvalidArgumentError: An argument is not acceptable.
        OutOfMemoryError: There is not so much free device memory.
    """
    array = DeviceArray.empty(shape, dtype, device)
    number = number_of("full", "fill_value", fill_value, array.dtype)
    array.copy_from(np.full(array.shape, number))
    return array


def empty_like(array: DeviceArray, dtype: DTypeLike | None = None) -> DeviceArray:
    """Allocate a C-contiguous device array of the shape of another; its content is undefined.

    Args:
        array: The other, on whose device the memory is taken.
        dtype: Its dtype, one that CANN knows; that of the other if None.

    Raises:
        InvalidArgumentError: An argument is not acceptable.
        OutOfMemoryError: There is not so much free device memory.
    """
    if not isinstance(array, DeviceArray):
        given = f"a {type(array).__name__}"
        hint = f"of a NumPy array it is made by {to_device.__name__}()."
        raise InvalidArgumentError.of("empty_like", "array", given, "a DeviceArray", hint)
    return DeviceArray.empty(array.shape, array.dtype if dtype is None else dtype, array.device)
