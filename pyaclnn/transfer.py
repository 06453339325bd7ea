# SPDX-License-Identifier: Apache-2.0
"""Bytes on the move: between host and device, at once or queued on a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pyaclnn import raw
from pyaclnn.call import call
from pyaclnn.errors import InvalidArgumentError
from pyaclnn.pinned import pinned_memory
from pyaclnn.stream import require_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.device import Device
    from pyaclnn.memory import Memory
    from pyaclnn.stream import Stream

__all__ = ["Place", "copy_bytes", "fill_bytes"]


class Place(NamedTuple):
    """Where bytes are on a device."""

    device: Device
    memory: Memory
    address: int


def copy_bytes(
    routine: str,
    kind: int,
    host: NDArray[Any],
    place: Place,
    stream: Stream | None,
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
    """
    pointers = [raw.pointer_to(host.ctypes.data), raw.pointer_to(place.address)]
    if kind == raw.ACL_MEMCPY_HOST_TO_DEVICE:
        pointers.reverse()
    target, source = pointers
    if stream is None:
        with place.device.active():
            call("aclrtMemcpy", target, host.nbytes, source, host.nbytes, kind)
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
    with queue.using(place.memory, memory):
        call("aclrtMemcpyAsync", target, host.nbytes, source, host.nbytes, kind, queue.pointer)


def fill_bytes(place: Place, nbytes: int, value: int, stream: Stream | None) -> None:
    """Set bytes of device memory to one value.

    Drives ``aclrtMemset``, which blocks and waits for no stream, or ``aclrtMemsetAsync``.

    Args:
        place: Where on the device.
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
    target = raw.pointer_to(place.address)
    if stream is None:
        with place.device.active():
            call("aclrtMemset", target, nbytes, value, nbytes)
        return
    queue = require_stream("fill_bytes", stream, place.device)
    with queue.using(place.memory):
        call("aclrtMemsetAsync", target, nbytes, value, nbytes, queue.pointer)
