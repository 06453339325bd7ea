# SPDX-License-Identifier: Apache-2.0
"""Device arrays and tensors of other libraries, each as the other: by DLPack, where they are.

Source: DLPack, dlpack.h (``DLManagedTensor``), and the array API's ``__dlpack__``.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, Final, Protocol

from pyaclnn._binding import lib
from pyaclnn.cann import raw
from pyaclnn.cann.raw import NULL
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.device import require_device
from pyaclnn.runtime.dlpack import NAME, ON_ASCEND, code_of, device_tensor
from pyaclnn.runtime.stream import Stream, require_stream
from pyaclnn.runtime.writers import follow_writers

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Self

    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.dlpack import SupportsDLPack
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.layout import Layout
    from pyaclnn.runtime.transfer import Place

__all__ = ["Lent"]

_USUAL: Final = 12
"""The device type that PyTorch takes for an NPU."""
_UNORDERED: Final = -1
"""Value of a consumer's stream argument that asks for no ordering."""


class _LeftOut:
    """Default of an argument whose value None means something else."""

    def __repr__(self) -> str:
        return "None"


_LEFT_OUT: Final[Any] = _LeftOut()


class _Lender(Protocol):
    """Request of a consumer for an array."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def address(self) -> int: ...
    @property
    def device(self) -> Device: ...
    @property
    def _layout(self) -> Layout: ...
    def _place(self) -> Place: ...


class Lent:
    """An array that other libraries can look at where it is."""

    __slots__ = ()

    @classmethod
    def from_dlpack(
        cls,
        tensor: SupportsDLPack | Lent,
        device: Device | None = None,
        stream: StreamLike | None = None,
    ) -> Self:
        """Look at a tensor of another library, which lies on a device, where it is.

        Nothing is copied. The tensor's memory is kept as long as the array, and work queued with
        it, needs it.

        Args:
            tensor: Object with ``__dlpack__``, such as a tensor of torch-npu.
            device: Where it lies; the stream's, or the default device, if None.
            stream: Where the array will be used. The other library, which is told of it in
                DLPack's terms, makes it wait for what is still to be written; torch-npu does not,
                whose own stream is to be used. Without one nothing is waited for.

        Returns:
            An array of the same shape, dtype and strides.

        Raises:
            InvalidArgumentError: The tensor lies elsewhere, or is not one that CANN can take.
        """
        place = None if device is None else require_device("from_dlpack", device)
        handle = None
        if stream is not None:
            queue = require_stream("from_dlpack", stream, place)
            place, (_, handle) = queue.device, queue.__acl_stream__()
        place = place or require_device("from_dlpack", None)
        found = device_tensor("from_dlpack", "tensor", tensor, place.id, handle)
        buffer = Buffer.borrow(found.address, found.nbytes, place, owner=found.capsule)
        make: Any = cls
        array: Self = make(buffer, found.shape, found.dtype, found.strides)
        return array

    def __dlpack_device__(self: _Lender) -> tuple[int, int]:
        """Return the place of the array for DLPack: a device of type 12, and its number."""
        return _USUAL, self.device.id

    def __dlpack__(
        self: _Lender,
        *,
        stream: int | None = _LEFT_OUT,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = _LEFT_OUT,
        copy: bool | None = None,
    ) -> object:
        """Lend the memory to another library, as a capsule; nothing is copied.

        The memory is kept until the other library releases it. Who queues work on it keeps it
        until that work is done. Drives ``aclrtSynchronizeStream``, or ``aclrtRecordEvent`` and
        ``aclrtStreamWaitEvent``.

        Args:
            stream: The ``aclrtStream`` on which the other library will use the memory, as an
                address: it is made to wait for what is still to be written. None waits for that at
                once; -1 waits for nothing.
            max_version: Any: the oldest layout is given, which all of them understand.
            dl_device: Where the other library wants it: as what ``__dlpack_device__`` tells, or
                with the type 21, which DLPack has assigned to NPUs since.
            copy: None or False.

        Returns:
            A capsule with the name ``dltensor``.

        Raises:
            BufferError: It is wanted elsewhere, or as a copy, or DLPack has no word for its dtype.
            ContextError: The memory was given back.
            KernelError: Work that was waited for failed.
        """
        _refuse_host_libraries(stream, dl_device)
        stream = None if stream is _LEFT_OUT else stream
        dl_device = None if dl_device is _LEFT_OUT else dl_device
        kind, number = dl_device or (_USUAL, self.device.id)
        if kind not in ON_ASCEND or number != self.device.id or copy:
            message = (
                f"this array is lent where it is, on device {self.device.id} of type 12 or 21; it "
                "is copied by .numpy(), to the host, and by .copy()"
            )
            raise BufferError(message)
        code = code_of(self.dtype)
        if code is None:
            message = f"DLPack has no word for {self.dtype}"
            raise BufferError(message)
        address = self.address if self.nbytes else 0
        if stream != _UNORDERED:
            queue = None if stream is None else Stream.borrow(stream, self.device)
            follow_writers(self, queue)
        axes = len(self.shape)
        steps = (step // self.dtype.itemsize for step in self.strides)
        numbers = raw.ffi.new("int64_t[]", [*self.shape, *steps])
        bits = 8 * self.dtype.itemsize
        lent = lib.binding_lend(id(self), address, (kind, number), code, bits, axes, numbers)
        if lent == NULL:
            raise MemoryError
        return _new_capsule(raw.address_of(lent), NAME, raw.address_of(lib.binding_lent_end()))


def _refuse_host_libraries(stream: int | None, dl_device: tuple[int, int] | None) -> None:
    """Refuse consumers that would refuse the capsule, with a text that names the alternative.

    NumPy 2 gives no stream, and None as device; PyTorch calls from a function that torch-npu
    replaces.

    Raises:
        BufferError: NumPy, or PyTorch without torch-npu, asks for the array.
    """
    if stream is _LEFT_OUT and dl_device is None:
        raise BufferError(
            "NumPy takes arrays in the host's memory; this one is on a device, and .numpy() "
            "copies it"
        )
    caller = sys._getframe(2).f_globals.get("__name__")  # noqa: SLF001
    if caller == "torch.utils.dlpack" and "torch_npu" not in sys.modules:
        raise BufferError(
            "PyTorch without torch-npu takes no tensors on an NPU; torch.from_numpy(x.numpy()) "
            "copies this array to the host, and after 'import torch_npu' it is shared"
        )


# A prototype of its own: types set on functions of ctypes.pythonapi hold for the whole process.
_new_capsule: Final = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
