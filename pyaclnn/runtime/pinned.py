# SPDX-License-Identifier: Apache-2.0
"""Host memory that the device can reach by itself, as NumPy arrays.

Only such memory is copied asynchronously: for ordinary host memory CANN waits for the stream and
copies while the caller waits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pyaclnn.cann import raw
from pyaclnn.cann.gate import call
from pyaclnn.runtime.buffer import made_memory
from pyaclnn.runtime.device import Device, require_device
from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.handle import Handle
from pyaclnn.runtime.shapes import check_extent, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.memory import Memory

__all__ = ["is_pinned", "pinned_empty", "pinned_memory"]


class _PinnedMemory(Handle):
    """A block of pinned memory: the ``base`` of every array that looks at it.

    It has no user who could close it, so no array can be left looking at memory that is gone: it is
    given back with the last array, once every stream has passed the copies that use it.
    """

    _kind: ClassVar[str] = "pinned memory"
    _expects_close: ClassVar[bool] = False

    def __init__(self, nbytes: int, device: Device) -> None:
        self.memory = made_memory(self._kind, device, nbytes, "aclrtFreeHost", _malloc)
        super().__init__(self.memory)
        self.__array_interface__ = {
            "version": 3,
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (raw.address_of(self.memory.pointer), False),
        }


def _malloc(slot: Pointer, _: Device, nbytes: int) -> None:
    call("aclrtMallocHost", slot, nbytes)


def pinned_empty(
    shape: int | Sequence[int], dtype: DTypeLike, device: Device | None = None
) -> NDArray[Any]:
    """Make a NumPy array in pinned host memory; its content is undefined.

    The memory is given back when no array refers to it and every stream has passed the copies that
    use it. Drives ``aclrtMallocHost`` and ``aclrtFreeHost``.

    Args:
        shape: The array's shape.
        dtype: Its dtype, one that CANN knows.
        device: A device to pin it for; the default device if None. Any device may use it.

    Returns:
        A C-contiguous array, good for ``copy_from`` and ``copy_to`` on a stream.

    Raises:
        InvalidArgumentError: An argument is not acceptable.
        OutOfMemoryError: So much memory cannot be pinned.

    Examples:
        >>> host = pyaclnn.pinned_empty(4, np.float32)
        >>> host[:] = 1
        >>> with pyaclnn.Stream() as stream:
        ...     x = pyaclnn.to_device(host, stream=stream)  # queued
        ...     x.numpy(stream=stream).tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    dims = shape_of(shape, "pinned_empty")
    kind = dtype_of(dtype, "pinned_empty")
    check_extent(dims, kind.itemsize, "pinned_empty")
    nbytes = math.prod(dims) * kind.itemsize
    # CANN allocates no zero bytes; one byte makes an empty array as pinned as any other.
    memory = np.asarray(_PinnedMemory(max(nbytes, 1), require_device("pinned_empty", device)))
    return memory[:nbytes].view(kind).reshape(dims)


def pinned_memory(array: NDArray[Any]) -> Memory | None:
    """Return the pinned memory that an array looks at, or None."""
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base.memory if isinstance(base, _PinnedMemory) else None


def is_pinned(array: NDArray[Any]) -> bool:
    """Return whether a NumPy array, or its base, was made by ``pinned_empty``."""
    return pinned_memory(array) is not None
