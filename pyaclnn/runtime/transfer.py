# SPDX-License-Identifier: Apache-2.0
"""Bytes on the move: between host and device, at once or queued on a stream."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.cann import raw
from pyaclnn.cann.gate import call
from pyaclnn.errors import InvalidArgumentError
from pyaclnn.runtime.dlpack import host_array, is_foreign
from pyaclnn.runtime.dtypes import conversion_hint
from pyaclnn.runtime.pinned import pinned_memory
from pyaclnn.runtime.progress import require_written
from pyaclnn.runtime.shapes import count_of
from pyaclnn.runtime.stream import require_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.layout import Layout
    from pyaclnn.runtime.memory import Memory
    from pyaclnn.runtime.stream import Stream

__all__ = [
    "Place",
    "as_numpy",
    "check_alike",
    "check_host",
    "copy_between",
    "copy_bytes",
    "fetch_now",
    "fill_bytes",
    "fitted",
    "no_array",
    "number_of",
    "require_contiguous",
    "require_numpy",
    "send_now",
    "way_to_numpy",
]


class Place(NamedTuple):
    """Where bytes are on a device."""

    device: Device
    memory: Memory
    address: int

    def span(self, nbytes: int) -> tuple[int, int]:
        """Return where so many bytes begin and end, counted from the start of the memory."""
        first = self.address - raw.address_of(self.memory.pointer)
        return first, first + nbytes


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
        ContextError: Without a stream, the bytes to be read are still to be written.
    """
    pointers = [_start_of(host), raw.pointer_to(place.address)]
    if kind == raw.ACL_MEMCPY_HOST_TO_DEVICE:
        pointers.reverse()
    target, source = pointers
    written = place.span(host.nbytes)
    if stream is None:
        if kind == raw.ACL_MEMCPY_DEVICE_TO_HOST:
            require_written(routine, place.memory, *written)
        with place.device._active():
            _copy_now(target, source, host.nbytes, kind)
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
    if kind == raw.ACL_MEMCPY_DEVICE_TO_HOST:
        written = (0, 0)
    with queue._using(place.memory, memory, written=written):
        call("aclrtMemcpyAsync", target, host.nbytes, source, host.nbytes, kind, queue.pointer)


def copy_between(
    routine: str,
    to: tuple[Place, Layout],
    of: tuple[Place, Layout],
    stream: Stream | None,
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
        ContextError: Without a stream, what is to be read is still to be written.
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
        require_written(routine, source.memory, *source.span(nbytes))
        with target.device._active():
            _copy_now(*pointers, nbytes, kind)
        return
    queue = require_stream(routine, stream, target.device)
    with queue._using(target.memory, source.memory, written=target.span(nbytes)):
        call("aclrtMemcpyAsync", pointers[0], nbytes, pointers[1], nbytes, kind, queue.pointer)


def send_now(host: NDArray[Any], memory: Memory) -> None:
    """Copy a contiguous NumPy array to the start of memory of the current context's device.

    Drives ``aclrtMemcpy``, which blocks and waits for no stream.
    """
    if host.nbytes:
        _copy_now(memory.pointer, _start_of(host), host.nbytes, raw.ACL_MEMCPY_HOST_TO_DEVICE)


def fetch_now(host: NDArray[Any], memory: Memory) -> None:
    """Copy the start of memory of the current context's device to a contiguous NumPy array.

    Drives ``aclrtMemcpy``, which blocks and waits for no stream.
    """
    if host.nbytes:
        _copy_now(_start_of(host), memory.pointer, host.nbytes, raw.ACL_MEMCPY_DEVICE_TO_HOST)


def _copy_now(target: Pointer, source: Pointer, nbytes: int, kind: int) -> None:
    call("aclrtMemcpy", target, nbytes, source, nbytes, kind)


def _start_of(host: NDArray[Any]) -> Pointer:
    return raw.pointer_to(host.__array_interface__["data"][0])


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
    byte = count_of(value, 255)
    if byte is None:
        raise InvalidArgumentError.of("fill_bytes", "value", repr(value), "a byte, 0 to 255")
    if not nbytes:
        return
    target = raw.pointer_to(place.address)
    if stream is None:
        with place.device._active():
            call("aclrtMemset", target, nbytes, byte, nbytes)
        return
    queue = require_stream("fill_bytes", stream, place.device)
    with queue._using(place.memory, written=place.span(nbytes)):
        call("aclrtMemsetAsync", target, nbytes, byte, nbytes, queue.pointer)


def as_numpy(routine: str, argument: str, host: Any) -> NDArray[Any]:
    """Look at an array on the host, NumPy's or another library's, as one of NumPy.

    Args:
        routine: The public function, for messages.
        argument: The argument's name.
        host: What the caller gave.

    Raises:
        InvalidArgumentError: It is no such array, has a mask, or lies elsewhere.
    """
    if not isinstance(host, (np.ndarray, np.generic)):
        shared = host_array(routine, argument, host)
        host = host if shared is None else shared
    require_numpy(routine, argument, host)
    found: NDArray[Any] = host
    return found


def fitted(value: object, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Broadcast what is written to a part of a device array to the shape of that part.

    Args:
        value: A number, or an array on the host.
        shape: The shape of the part.
        dtype: Its dtype, which a number becomes.

    Raises:
        InvalidArgumentError: The value is neither, or does not fit.
    """
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return np.full(shape, number_of("__setitem__", "value", value, dtype))
    array = as_numpy("__setitem__", "value", value)
    try:
        return np.array(np.broadcast_to(array, shape), order="C")
    except ValueError:
        given, wanted = f"of shape {array.shape}", f"what can be broadcast to {shape}"
        raise InvalidArgumentError.of("__setitem__", "value", given, wanted) from None


def number_of(routine: str, argument: str, value: object, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Make a number an array without axes.

    Args:
        routine: The public function, for messages.
        argument: The argument's name.
        value: The number.
        dtype: The dtype to hold it; a fraction is cut off for an integer, as by NumPy.

    Raises:
        InvalidArgumentError: It is no number, or one that the dtype cannot hold.
    """
    given: Any = value
    with contextlib.suppress(OverflowError, TypeError, ValueError):
        # Older NumPy only warns, and wraps round.
        if dtype.kind not in "iu" or np.iinfo(dtype).min <= given <= np.iinfo(dtype).max:
            return np.array(given, dtype).reshape(())
    wanted = f"a number that {dtype} can hold"
    raise InvalidArgumentError.of(routine, argument, repr(value), wanted)


def require_numpy(routine: str, argument: str, host: object) -> None:
    """Require a NumPy array without a mask.

    Args:
        routine: The public function, for the message.
        argument: The argument's name.
        host: What the caller gave.

    Raises:
        InvalidArgumentError: It is something else.
    """
    if isinstance(host, np.ndarray) and not isinstance(host, np.ma.MaskedArray):
        return
    hint = way_to_numpy(argument, host)
    raise InvalidArgumentError.of(routine, argument, no_array(host), "a NumPy array", hint)


def no_array(given: object) -> str:
    """Say what something is that is no array."""
    kind = type(given).__name__
    return f"a NumPy scalar of {kind}" if isinstance(given, np.generic) else f"a {kind}"


def way_to_numpy(argument: str, host: object) -> str | None:
    """Say how something becomes a NumPy array; None if it does not.

    Args:
        argument: The argument's name.
        host: What the caller gave for it.
    """
    if isinstance(host, np.ma.MaskedArray):
        return "its mask would be ignored: fill it with .filled(), or take .data as it is."
    if isinstance(host, (np.generic, list, tuple, int, float)):
        return f"make one: np.asarray({argument}, np.float32)."
    if is_foreign(host):
        return f"np.from_dlpack({argument}) or np.asarray({argument}) is one without a copy."
    return None


def check_host(routine: str, host: NDArray[Any], layout: Layout) -> None:
    """Require an array on the host that can be copied byte by byte from or to a device array.

    Args:
        routine: The public function, for the message.
        host: What the caller gave.
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


def check_alike(routine: str, given: NDArray[Any] | Layout, layout: Layout) -> None:
    """Require an array of the shape and the dtype of a device array.

    Args:
        routine: The public function, for the message.
        given: What the caller gave, or its layout.
        layout: The layout of the device array.

    Raises:
        InvalidArgumentError: It differs in shape or dtype.
    """
    if given.shape != layout.shape or given.dtype != layout.dtype:
        raise InvalidArgumentError.of(
            routine,
            "host",
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
            "copy into the array that it is a view of, or into a new one.",
        )
