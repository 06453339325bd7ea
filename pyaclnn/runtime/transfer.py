# SPDX-License-Identifier: Apache-2.0
"""Bytes on the move: between host and device, at once or queued on a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.cann import raw
from pyaclnn.cann.gate import call
from pyaclnn.runtime.dtypes import conversion_hint
from pyaclnn.runtime.host import require_numpy
from pyaclnn.runtime.memory import Span
from pyaclnn.runtime.pending import require_unused, require_written
from pyaclnn.runtime.pinned import pinned_memory
from pyaclnn.runtime.shapes import count_of
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.layout import Layout
    from pyaclnn.runtime.memory import Memory

__all__ = [
    "Place",
    "check_alike",
    "check_host",
    "copy_between",
    "copy_bytes",
    "copy_now",
    "fetch_now",
    "fill_bytes",
    "require_contiguous",
    "send_now",
]


class Place(NamedTuple):
    """Where bytes are on a device."""

    device: Device
    memory: Memory
    address: int

    def span(self, nbytes: int) -> Span:
        """Return so many bytes from here on."""
        first = self.address - raw.address_of(self.memory.pointer)
        return Span(self.memory, first, first + nbytes)


def copy_bytes(
    routine: str,
    kind: int,
    host: NDArray[Any],
    place: Place,
    stream: StreamLike | None,
) -> None:
    """Copy all bytes of a contiguous NumPy array from or to device memory.

    Drives ``aclrtMemcpy``, which blocks and waits for no stream, or ``aclrtMemcpyAsync``.

    Args:
        routine: The public function, for messages.
        kind: ACL_MEMCPY_HOST_TO_DEVICE or ACL_MEMCPY_DEVICE_TO_HOST.
        host: The array on the host, not empty; pinned if the copy is queued.
        place: Where on the device.
        stream: Where to queue the copy; None to do it at once.

    Raises:
        InvalidArgumentError: The stream is of another device, or the array is not pinned.
        ContextError: Without a stream, the bytes to be read are still to be written, or those to
            be written are still used.
    """
    pointers = [_start_of(host), raw.pointer_to(place.address)]
    if kind == raw.ACL_MEMCPY_HOST_TO_DEVICE:
        pointers.reverse()
    target, source = pointers
    span, reads = place.span(host.nbytes), kind == raw.ACL_MEMCPY_DEVICE_TO_HOST
    if stream is None:
        (require_written if reads else require_unused)(routine, span)
        with place.device._active():
            copy_now(target, source, host.nbytes, kind)
        return
    queue = require_stream(routine, stream, place.device)
    memory = pinned_memory(host)
    if memory is None:
        raise InvalidArgumentError.of(
            routine,
            "host",
            "ordinary host memory, given together with a stream",
            "made by pinned_empty()",
            "for ordinary memory CANN would wait for the stream behind your back; pin it, or leave "
            "the stream out and synchronize yourself.",
        )
    with queue._using(span, Span(memory, 0, memory.nbytes), writes=not reads):
        call("aclrtMemcpyAsync", target, host.nbytes, source, host.nbytes, kind, queue.pointer)


def copy_between(
    routine: str,
    to: tuple[Place, Layout],
    of: tuple[Place, Layout],
    stream: StreamLike | None,
) -> None:
    """Copy a device array to another, of the same device or not.

    Drives ``aclrtMemcpy``, which blocks and waits for no stream, or ``aclrtMemcpyAsync``.

    Args:
        routine: The public function, for messages.
        to: Where the one is, and its layout.
        of: Where the other is, and its layout.
        stream: Where to queue the copy, of the device it goes to; None to do it at once.

    Raises:
        InvalidArgumentError: They differ in shape or dtype, one is not contiguous, or the stream
            is of another device.
        ContextError: Without a stream, what is to be read is still to be written, or what is to
            be written is still used.
    """
    (target, layout), (source, given) = to, of
    check_alike(routine, given, layout)
    require_contiguous(routine, layout)
    require_contiguous(routine, given)
    nbytes = layout.size * layout.dtype.itemsize
    if not nbytes:
        return
    kind = raw.ACL_MEMCPY_DEVICE_TO_DEVICE
    pointers = raw.pointer_to(target.address), raw.pointer_to(source.address)
    if stream is None:
        require_written(routine, source.span(nbytes))
        require_unused(routine, target.span(nbytes))
        with target.device._active():
            copy_now(*pointers, nbytes, kind)
        return
    queue = require_stream(routine, stream, target.device)
    with queue._using(target.span(nbytes), source.span(nbytes), writes=True):
        call("aclrtMemcpyAsync", pointers[0], nbytes, pointers[1], nbytes, kind, queue.pointer)


def send_now(host: NDArray[Any], memory: Memory, start: int = 0) -> None:
    """Copy a contiguous NumPy array to memory of the current context's device, from a byte on.

    Drives ``aclrtMemcpy``, which blocks and waits for no stream.
    """
    if host.nbytes:
        target = raw.pointer_to(raw.address_of(memory.pointer) + start)
        copy_now(target, _start_of(host), host.nbytes, raw.ACL_MEMCPY_HOST_TO_DEVICE)


def fetch_now(host: NDArray[Any], memory: Memory, start: int = 0) -> None:
    """Copy memory of the current context's device, from a byte on, to a contiguous NumPy array.

    Drives ``aclrtMemcpy``, which blocks and waits for no stream.
    """
    if host.nbytes:
        source = raw.pointer_to(raw.address_of(memory.pointer) + start)
        copy_now(_start_of(host), source, host.nbytes, raw.ACL_MEMCPY_DEVICE_TO_HOST)


def copy_now(target: Pointer, source: Pointer, nbytes: int, kind: int) -> None:
    """Copy bytes at once. Drives ``aclrtMemcpy``, which blocks and waits for no stream."""
    call("aclrtMemcpy", target, nbytes, source, nbytes, kind)


def _start_of(host: NDArray[Any]) -> Pointer:
    # A sixth of the time that its array interface takes.
    return raw.ffi.from_buffer(host.reshape(-1).view(np.uint8))


def fill_bytes(place: Place, nbytes: int, value: int, stream: StreamLike | None) -> None:
    """Set bytes of device memory to one value.

    Drives ``aclrtMemset``, which blocks and waits for no stream, or ``aclrtMemsetAsync``.

    Args:
        place: Where on the device.
        nbytes: Number of bytes; 0 does nothing.
        value: 0 to 255.
        stream: Where to queue it; None to do it at once.

    Raises:
        InvalidArgumentError: The value is no byte, or the stream is of another device.
        ContextError: Without a stream, the bytes are still used.
    """
    byte = count_of(value, 255)
    if byte is None:
        raise InvalidArgumentError.of("fill_bytes", "value", repr_of(value), "a byte, 0 to 255")
    if not nbytes:
        return
    target = raw.pointer_to(place.address)
    if stream is None:
        require_unused("fill_bytes", place.span(nbytes))
        with place.device._active():
            call("aclrtMemset", target, nbytes, byte, nbytes)
        return
    queue = require_stream("fill_bytes", stream, place.device)
    with queue._using(place.span(nbytes), writes=True):
        call("aclrtMemsetAsync", target, nbytes, byte, nbytes, queue.pointer)


def check_host(routine: str, host: NDArray[Any], layout: Layout) -> None:
    """Require an array on the host that can be copied byte by byte from or to a device array.

    Args:
        routine: The public function, for the message.
        host: The caller's argument.
        layout: The layout of the device array.

    Raises:
        InvalidArgumentError: It differs in shape or dtype, or one of the two is not contiguous.
    """
    require_numpy(routine, "host", host)
    check_alike(routine, host, layout)
    if not host.flags.c_contiguous:
        raise InvalidArgumentError.of(
            routine,
            "host",
            f"not C-contiguous (strides {host.strides})",
            "C-contiguous",
            "make it so with numpy.ascontiguousarray().",
        )
    require_contiguous(routine, layout)


def check_alike(
    routine: str, given: NDArray[Any] | Layout, layout: Layout, argument: str = "host"
) -> None:
    """Require an array of the shape and the dtype of a device array.

    Args:
        routine: The public function, for the message.
        given: The caller's argument, or its layout.
        layout: The layout of the device array.
        argument: The name of what the caller gave.

    Raises:
        InvalidArgumentError: It differs in shape or dtype.
    """
    if given.shape != layout.shape or given.dtype != layout.dtype:
        raise InvalidArgumentError.of(
            routine,
            argument,
            f"{given.dtype} of shape {given.shape}",
            f"{layout.dtype} of shape {layout.shape}, like the device array",
            conversion_hint("host", given.dtype, str(layout.dtype))
            if given.dtype != layout.dtype and routine == "copy_from"
            else None,
        )


def require_contiguous(routine: str, layout: Layout) -> None:
    """Require a contiguous device array.

    Args:
        routine: The public function, for the message.
        layout: The layout of the device array.

    Raises:
        InvalidArgumentError: It is not contiguous.
    """
    if not layout.is_contiguous:
        raise InvalidArgumentError.of(
            routine,
            "self",
            f"not contiguous (shape {layout.shape}, strides {layout.strides})",
            "a contiguous device array",
            "view[...] = values writes to a view with gaps, and view.copy() is one without.",
        )
