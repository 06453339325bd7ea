# SPDX-License-Identifier: Apache-2.0
"""New device arrays: copied from the host, of one number, or of the shape of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.base.spelling import with_article
from pyaclnn.runtime.array import DeviceArray, new_array
from pyaclnn.runtime.device import require_device
from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.host import as_numpy, number_of
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.dlpack import SupportsDLPack
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["empty_like", "from_dlpack", "full", "ones", "to_device", "zeros"]


def to_device(
    host: NDArray[Any] | SupportsDLPack,
    device: Device | None = None,
    stream: StreamLike | None = None,
) -> DeviceArray:
    """Copy a NumPy array to a device.

    Drives ``aclrtMalloc`` and ``aclrtMemcpy``, or ``aclrtMemcpyAsync``.

    Args:
        host: The array, of a dtype that CANN knows. On a stream it must be pinned, and must not be
            changed before the stream has passed the copy. A tensor of another library in the host's
            memory (``__dlpack__`` or ``__array_interface__``) is taken as NumPy's.
        device: Where to; the stream's device, or the default device, if None.
        stream: Where to queue the copy; None to do it at once.

    Returns:
        A new C-contiguous device array of the same shape and dtype.

    Raises:
        InvalidArgumentError: The array or the stream is not acceptable.
        OutOfMemoryError: There is not so much free device memory.

    Examples:
        >>> pyaclnn.to_device(np.arange(3, dtype=np.float32))
        <DeviceArray float32, shape (3,), strides (4,), offset 0, device 0>
    """
    source = as_numpy("to_device", "host", host)
    dtype_of(source.dtype, "to_device", "host")
    place = None if device is None else require_device("to_device", device)
    if stream is not None:
        place = require_stream("to_device", stream, place).device
    array = DeviceArray.empty(source.shape, source.dtype, place)
    array.copy_from(source if stream is not None else np.asarray(source, order="C"), stream)
    return array


def from_dlpack(
    tensor: SupportsDLPack | DeviceArray,
    device: Device | None = None,
    stream: StreamLike | None = None,
) -> DeviceArray:
    """Look at a tensor of another library where it is; see :meth:`DeviceArray.from_dlpack`.

    Examples:
        >>> x = pyaclnn.ones((2, 4))
        >>> same = pyaclnn.from_dlpack(x)  # such as a tensor of PyTorch on an NPU
        >>> same.address == x.address
        True
    """
    return DeviceArray.from_dlpack(tensor, device, stream)


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

    Examples:
        >>> pyaclnn.zeros((2, 2)).numpy().tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    array = new_array("zeros", shape, dtype, device)
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

    Examples:
        >>> pyaclnn.ones((2, 2), np.int32).numpy().tolist()
        [[1, 1], [1, 1]]
    """
    return _filled("ones", shape, 1, dtype, device)


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

    Examples:
        >>> pyaclnn.full(3, 0.5).numpy().tolist()
        [0.5, 0.5, 0.5]
    """
    return _filled("full", shape, fill_value, dtype, device)


def empty_like(array: DeviceArray, dtype: DTypeLike | None = None) -> DeviceArray:
    """Allocate a C-contiguous device array of the shape of another; its content is undefined.

    Args:
        array: The other, on whose device the memory is taken.
        dtype: Its dtype, one that CANN knows; that of the other if None.

    Raises:
        InvalidArgumentError: An argument is not acceptable.
        OutOfMemoryError: There is not so much free device memory.

    Examples:
        >>> x = pyaclnn.ones((2, 4))
        >>> y = pyaclnn.empty_like(x, np.float16)
        >>> y.shape, y.dtype.name
        ((2, 4), 'float16')
    """
    if not isinstance(array, DeviceArray):
        given = with_article(type(array).__name__)
        hint = f"of a NumPy array it is made by {to_device.__name__}()."
        raise InvalidArgumentError.of("empty_like", "array", given, "a DeviceArray", hint)
    kind = array.dtype if dtype is None else dtype
    return new_array("empty_like", array.shape, kind, array.device)


def _filled(
    routine: str,
    shape: int | Sequence[int],
    number: complex,
    dtype: DTypeLike,
    device: Device | None,
) -> DeviceArray:
    array = new_array(routine, shape, dtype, device)
    array.copy_from(np.full(array.shape, number_of(routine, "fill_value", number, array.dtype)))
    return array
