# SPDX-License-Identifier: Apache-2.0
"""Arrays in device memory: shape, dtype, strides and offset over a buffer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.base.errors import ContextError, InvalidArgumentError, repr_of
from pyaclnn.cann import raw
from pyaclnn.runtime.arithmetic import Arithmetic
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.device import require_device
from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.elements import Elements
from pyaclnn.runtime.export import Lent
from pyaclnn.runtime.host import as_numpy
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.shaped import Shaped
from pyaclnn.runtime.shapes import (
    check_extent,
    indexed,
    phantom,
    reshaped,
    shape_of,
    strides_of,
    transposed,
)
from pyaclnn.runtime.stream import require_stream
from pyaclnn.runtime.transfer import (
    Place,
    check_host,
    copy_between,
    copy_bytes,
    fill_bytes,
    require_contiguous,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.dlpack import SupportsDLPack
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.memory import Memory
    from pyaclnn.runtime.pool import Loan

__all__ = ["DeviceArray", "array_on_loan", "new_array", "phantom_of"]

_new = object.__new__


class DeviceArray(Lent, Elements, Arithmetic, Shaped):
    """An array in device memory, with the attributes of a NumPy array that need no data.

    ``strides`` and ``offset`` count bytes, as NumPy's do. Basic slicing, ``transpose`` and
    ``reshape`` make views that share the buffer and copy nothing. Data moves only where it is
    written: ``to_device``, ``numpy``, ``copy_from``, ``copy_to``, ``fill_bytes``, ``astype``,
    ``array[...] = value``.

    Examples:
        >>> x = pyaclnn.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
        >>> x.shape, x.dtype.name, x.T.strides
        ((2, 3), 'float32', (4, 12))
        >>> x[1, ::2].numpy().tolist()
        [3.0, 5.0]
    """

    # _tensor and _tensor_at: the description that the launcher reads, and its address.
    # _meaning: the word for numbers that chips define differently, of results that have such.
    __slots__ = ("_device", "_layout", "_meaning", "_offset", "_owner", "_tensor", "_tensor_at")
    _meaning: str | None

    def __init__(
        self,
        buffer: Buffer,
        shape: int | Sequence[int],
        dtype: DTypeLike,
        strides: Sequence[int] | None = None,
        offset: int = 0,
    ) -> None:
        """Look at a buffer as an array.

        Args:
            buffer: The memory, kept alive by the array.
            shape: The array's shape.
            dtype: Its dtype, one that CANN knows.
            strides: Bytes from one element to the next along each axis, multiples of the item size
                and not negative; C-contiguous ones if None.
            offset: Bytes from the buffer's start to the first element, a multiple of the item size.

        Raises:
            InvalidArgumentError: An argument is not acceptable, or the array does not lie within
                the buffer.
        """
        if not isinstance(buffer, Buffer):
            raise InvalidArgumentError.of("DeviceArray", "buffer", repr_of(buffer), "a Buffer")
        dims = shape_of(shape, "DeviceArray")
        kind = dtype_of(dtype, "DeviceArray")
        size = kind.itemsize
        check_extent(dims, size, "DeviceArray")
        steps = strides_of(strides, dims, size, "DeviceArray")
        layout = Layout.of(buffer.device._context, kind, dims, steps)
        start = layout.check_place(buffer.nbytes, offset, "DeviceArray")
        self._fill(buffer, buffer.device, layout, layout.tensor(buffer._memory, start), start)

    def _fill(
        self, owner: Buffer | Loan, device: Device, layout: Layout, tensor: Any, offset: int
    ) -> None:
        self._owner = owner
        self._device = device
        self._offset = offset
        self._layout = layout
        self._meaning = None
        self._tensor = tensor
        self._tensor_at = raw.address_of(tensor)

    @staticmethod
    def empty(
        shape: int | Sequence[int], dtype: DTypeLike, device: Device | None = None
    ) -> DeviceArray:
        """Allocate an array; its content is undefined.

        Args:
            shape: Its shape.
            dtype: Its dtype, one that CANN knows.
            device: Where; the default device if None.

        Raises:
            InvalidArgumentError: An argument is not acceptable.
            OutOfMemoryError: There is not so much free device memory.
        """
        return new_array("DeviceArray.empty", shape, dtype, device)

    @property
    def buffer(self) -> Buffer:
        """The memory, which other arrays may look at too."""
        owner = self._owner
        return owner if isinstance(owner, Buffer) else owner.as_buffer(self._device)

    @property
    def _memory(self) -> Memory:
        """The memory, as queued work keeps it."""
        return self._owner._memory if isinstance(self._owner, Buffer) else self._owner.memory

    @property
    def closed(self) -> bool:
        """True if the memory was given back."""
        return self._owner.closed

    @property
    def device(self) -> Device:
        """The device on which the memory lies."""
        return self._device

    @property
    def address(self) -> int:
        """The device address of the first element."""
        return self._address_of_memory() + self._offset

    @property
    def T(self) -> DeviceArray:  # noqa: N802  # NumPy's name for it
        """A view with the axes reversed."""
        return self.transpose()

    def transpose(self, *axes: int) -> DeviceArray:
        """Return a view with the axes permuted.

        Args:
            *axes: The order of the axes; reversed if none are given.
        """
        return self._view(transposed(self._relative(), axes))

    def reshape(self, *shape: int | Sequence[int]) -> DeviceArray:
        """Return a view of a contiguous array with another shape.

        Args:
            *shape: The lengths, or one sequence of them; one may be -1, to be inferred.

        Raises:
            InvalidArgumentError: The number of elements differs, or the array is not contiguous.
        """
        return self._view(reshaped(self._relative(), shape[0] if len(shape) == 1 else shape))

    def with_format(self, form: str, storage: Sequence[int] | None = None) -> DeviceArray:
        """Return a view that is described to CANN in another format; no element is moved.

        Some operators look at the format and refuse ND, such as convolutions and resizing.

        Args:
            form: The name of the format without its prefix, e.g. ``NCHW`` or ``FRACTAL_NZ``.
            storage: The shape of the memory, for a format that lays elements out in an order of its
                own; its elements in one row if None.

        Raises:
            InvalidArgumentError: CANN has no such format, or the storage does not fit the memory.
        """
        layout = self._layout.formatted(form, storage, self._memory.nbytes - self._offset)
        return self._seen_as(layout, self._offset)

    def __getitem__(self, index: Any) -> DeviceArray:
        """Return a view by basic indexing: integers, slices with positive step, ... and None."""
        return self._view(indexed(self._relative(), index))

    def numpy(self, stream: StreamLike | None = None) -> NDArray[Any]:
        """Copy the array to the host and return it.

        The copy blocks, but without an argument it waits for no stream. Drives ``aclrtMemcpy``.

        Args:
            stream: A stream to synchronize first, e.g. the one on which the array is written; None
                if that was done already.

        Returns:
            A new, writable NumPy array of the same shape and dtype.

        Raises:
            InvalidArgumentError: ``stream`` is no open stream of the array's device.
            ContextError: A stream has still to write the array, and nothing has waited for that.
            KernelError: Work on the stream failed.
        """
        if stream is not None:
            require_stream("numpy", stream, self._device).synchronize()
        host = np.empty(self._layout.span, np.uint8)
        self._copy(raw.ACL_MEMCPY_DEVICE_TO_HOST, host)
        if self.is_contiguous:
            return host.view(self.dtype).reshape(self.shape)
        flat = host.view(self.dtype)
        view = np.lib.stride_tricks.as_strided(flat, self.shape, self.strides, writeable=False)
        return np.array(view)

    def copy_from(
        self, host: NDArray[Any] | SupportsDLPack | DeviceArray, stream: StreamLike | None = None
    ) -> None:
        """Copy a NumPy array, or another device array, into this one.

        Drives ``aclrtMemcpy``, which blocks and waits for no stream, or ``aclrtMemcpyAsync``.

        Args:
            host: C-contiguous, of the same shape and dtype. On a stream it must be pinned, and must
                not be changed before the stream has passed the copy. A tensor of another library in
                the host's memory is taken as NumPy's. A device array may be of another device.
            stream: Where to queue the copy; None to do it at once.

        Raises:
            InvalidArgumentError: One of these conditions is not met, or this array is not
                contiguous.
            ContextError: Without a stream: one has still to use this array, or to write the other
                device array.
        """
        if isinstance(host, DeviceArray):
            source = host._place(), host._layout  # noqa: SLF001  # the same class
            copy_between("copy_from", (self._place(), self._layout), source, stream)
            return
        array = as_numpy("copy_from", "host", host)
        check_host("copy_from", array, self._layout)
        self._copy(raw.ACL_MEMCPY_HOST_TO_DEVICE, array, stream, "copy_from")

    def copy_to(self, host: NDArray[Any], stream: StreamLike | None = None) -> None:
        """Copy this array into a NumPy array.

        Drives ``aclrtMemcpy``, which blocks and waits for no stream, or ``aclrtMemcpyAsync``.

        Args:
            host: Writable and C-contiguous, of the same shape and dtype. On a stream it must be
                pinned; its content is there once the stream has passed the copy.
            stream: Where to queue the copy; None to do it at once.

        Raises:
            InvalidArgumentError: One of these conditions is not met, or this array is not
                contiguous.
            ContextError: Without a stream: one has still to write this array.
        """
        check_host("copy_to", host, self._layout)
        if not host.flags.writeable:
            raise InvalidArgumentError.of("copy_to", "host", "read-only", "writable")
        self._copy(raw.ACL_MEMCPY_DEVICE_TO_HOST, host, stream, "copy_to")

    def fill_bytes(self, value: int, stream: StreamLike | None = None) -> None:
        """Set every byte of a contiguous array to ``value``.

        Drives ``aclrtMemset``, which blocks and waits for no stream, or ``aclrtMemsetAsync``.

        Args:
            value: 0 to 255.
            stream: Where to queue it; None to do it at once.

        Raises:
            InvalidArgumentError: The value is no byte, or this array is not contiguous.
            ContextError: Without a stream: one has still to use this array.
        """
        require_contiguous("fill_bytes", self._layout)
        fill_bytes(self._place(), self.nbytes, value, stream)

    def close(self) -> None:
        """Free the buffer's memory now, for this array and all others that look at it."""
        self._owner.close()

    def _copy(
        self,
        kind: int,
        host: NDArray[Any],
        stream: StreamLike | None = None,
        routine: str = "numpy",
    ) -> None:
        if host.nbytes:
            copy_bytes(routine, kind, host, self._place(), stream)

    def _place(self) -> Place:
        return Place(self._device, self._memory, self.address)

    def _address_of_memory(self) -> int:
        if self.closed:
            message = (
                "the memory of this DeviceArray was given back.\nHint: close it later, or make "
                "another array."
            )
            raise ContextError(message, routine="DeviceArray")
        return raw.address_of(self._memory.pointer)

    def _relative(self) -> NDArray[Any]:
        return phantom(self.shape, self.strides, self.itemsize, _BASE + self._offset)

    def _view(self, relative: NDArray[Any]) -> DeviceArray:
        offset = relative.__array_interface__["data"][0] - _BASE if relative.size else self._offset
        layout = Layout.of(self._layout.context, self.dtype, relative.shape, relative.strides)
        return self._seen_as(layout, offset)

    def _seen_as(self, layout: Layout, offset: int) -> DeviceArray:
        tensor = layout.tensor(self._memory, offset)
        array = DeviceArray.__new__(DeviceArray)
        array._fill(self._owner, self._device, layout, tensor, offset)  # noqa: SLF001  # the same class
        return array

    def __repr__(self) -> str:
        return (
            f"<DeviceArray {self.dtype}, shape {self.shape}, strides {self.strides}, "
            f"offset {self._offset}, device {self.device.id}{', closed' if self.closed else ''}>"
        )


def array_on_loan(loan: Loan, device: Device) -> DeviceArray:
    """Make an array of memory that goes back to its pool with the last reference to it."""
    # Every launch comes here: no call that can be avoided.
    array = _new(DeviceArray)
    array._owner, array._device = loan, device  # noqa: SLF001  # same module
    array._offset, array._meaning = 0, None  # noqa: SLF001
    _, _, _, array._layout, array._tensor, array._tensor_at = loan
    return array


def phantom_of(array: DeviceArray) -> NDArray[Any]:
    """Return a NumPy array with an array's address, shape and strides; never touch its data."""
    address = array.address if array.size else 0
    return phantom(array.shape, array.strides, array.itemsize, address)


_BASE = 1 << 32
"""Base address of the arrays that represent an offset within a buffer."""


def new_array(
    routine: str, shape: int | Sequence[int], dtype: DTypeLike, device: Device | None
) -> DeviceArray:
    """Allocate an array for a routine, which is the one that refuses what it was given."""
    dims, kind = shape_of(shape, routine), dtype_of(dtype, routine)
    check_extent(dims, kind.itemsize, routine)
    place = require_device(routine, device)
    return DeviceArray(Buffer(math.prod(dims) * kind.itemsize, place), dims, kind)
