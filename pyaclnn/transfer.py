# SPDX-License-Identifier: Apache-2.0
"""Bytes on the move: between host and device, at once or queued on a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn import raw
from pyaclnn.call import call
from pyaclnn.errors import InvalidArgumentError
from pyaclnn.pinned import pinned_resource
from pyaclnn.stream import require_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.buffer import Buffer
    from pyaclnn.stream import Stream

__all__ = ["copy_bytes", "fill_bytes"]


def copy_bytes(
    routine: str,
    kind: int,
    host: NDArray[Any],
    buffer: Buffer,
    offset: int,
    stream: Stream | None,
) -> None:
    """Copy all bytes of a contiguous NumPy array from or to device memory.

    Drives ``aclrtMemcpy``, which blocks and waits for no stream, or ``aclrtMemcpyAsync``.

    Args:
        routine: The public function, for messages.
        kind: ACL_MEMCPY_HOST_TO_DEVICE or ACL_MEMCPY_DEVICE_TO_HOST.
        host: The array on the host, not empty; pinned if the copy is queued.
        buffer: The device memory.
        offset: Bytes from the start of the buffer.
        stream: Where to queue the copy; None to do it at once.

    Raises:
        InvalidArgumentError: The stream is of another device, or the array is not pinned.
    """
    pointers = [raw.pointer_to(host.ctypes.data), raw.pointer_to(buffer.address + offset)]
    if kind == raw.ACL_MEMCPY_HOST_TO_DEVICE:
        pointers.reverse()
    target, source = pointers
    if stream is None:
        with buffer.device.active():
            call("aclrtMemcpy", target, host.nbytes, source, host.nbytes, kind)
        return
    queue = require_stream(routine, stream, buffer.device)
    memory = pinned_resource(host)
    if memory is None:
        raise InvalidArgumentError.of(
            routine,
            "host",
            "ordinary host memory, given together with a stream",
            "made by pinned_empty()",
            "for ordinary memory CANN would wait for the stream behind your back; pin it, or leave "
            "the stream out and synchronize yourself.",
        )
    with queue.using(buffer.resource, memory):
        call("aclrtMemcpyAsync", target, host.nbytes, source, host.nbytes, kind, queue.pointer)


def fill_bytes(buffer: Buffer, offset: int, nbytes: int, value: int, stream: Stream | None) -> None:
    """Set bytes of device memory to one value.

    Drives ``aclrtMemset``, which blocks and waits for no stream, or ``aclrtMemsetAsync``.

    Args:
        buffer: The device memory.
        offset: Bytes from the start of the buffer.
        nbytes: How many bytes; 0 does nothing.
        value: 0 to 255.
        stream: Where to queue it; None to do it at once.

    Raises:
        InvalidArgumentError: The value is no byte, or the stream is of another device.
    """
    if value not in range(256):
        raise InvalidArgumentError.of("fill_bytes", "value", repr(value), "a byte, 0 to 255")
    if not nbytes:
        return
    target = raw.pointer_to(buffer.address + offset)
    if stream is None:
        with buffer.device.active():
            call("aclrtMemset", target, nbytes, value, nbytes)
        return
    queue = require_stream("fill_bytes", stream, buffer.device)
    with queue.using(buffer.resource):
        call("aclrtMemsetAsync", target, nbytes, value, nbytes, queue.pointer)
