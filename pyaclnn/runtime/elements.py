# SPDX-License-Identifier: Apache-2.0
"""Element-wise conversion, copies and strided assignment of device arrays."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Protocol

from pyaclnn.base.lazy import provided
from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.host import fitted
from pyaclnn.runtime.stream import require_stream
from pyaclnn.runtime.transfer import check_alike
from pyaclnn.runtime.writers import follow_writers, is_ordered, wait_for_users

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike
    from typing_extensions import Self

    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.foreign import StreamLike
    from pyaclnn.runtime.stream import Stream

__all__ = ["ElementOperators", "Elements"]


class ElementOperators(Protocol):
    """Interface of the operators that arrays use; the room of operators implements it."""

    def cast(self, array: Any, dtype: np.dtype[Any], stream: StreamLike | None) -> Any:
        """Queue the conversion of an array, and return the new one."""

    def copy(self, target: Any, source: Any, stream: Stream) -> None:
        """Queue a copy of an array into another of the same shape and dtype."""


@functools.cache
def _operators() -> ElementOperators:
    found: ElementOperators = provided(f"{__name__}.{ElementOperators.__name__}")
    return found


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two arrays are the same elements of the same memory."""
    same = one._layout is other._layout and one._memory is other._memory
    return same and one.offset == other.offset


def _queue_copy(target: Any, source: Any, queue: Stream) -> None:
    """Queue a copy by the operator, after all queued writes to the source."""
    follow_writers(source, queue)
    _operators().copy(target, source, queue)


class Elements:
    """Mixin of arrays: element-wise conversion, copies and assignment."""

    __slots__ = ()

    def copy(self, stream: StreamLike | None = None) -> Self:
        """Copy the array to contiguous memory of its own on the same device.

        Without gaps this drives ``aclrtMemcpy``, which blocks and waits for no stream, or
        ``aclrtMemcpyAsync``. A view with gaps is copied by an operator (``aclnnInplaceCopy``) after
        all queued writes to it: on the default stream, which is then waited for, or on ``stream``.

        Args:
            stream: Where to queue the copy; None to do it at once.

        Raises:
            ContextError: Without a stream and gaps: one has still to write this array.
        """
        array: Any = self
        made = type(array).empty(array.shape, array.dtype, array.device)
        if array.is_contiguous:
            made.copy_from(array, stream)
        elif array.size:
            queue = require_stream("copy", stream, array.device)
            _queue_copy(made, array, queue)
            if stream is None:
                queue.synchronize()
        copied: Self = made
        return copied

    def astype(self, dtype: DTypeLike, stream: StreamLike | None = None) -> Self:
        """Return a new array of another dtype, converted on the device, and do not wait for it.

        Drives ``aclnnCast``, by the rules of which floats are rounded and what does not fit ends.

        Args:
            dtype: Its dtype, one that CANN knows; an array of the same dtype is copied.
            stream: Where to queue it, behind whatever has still to write this array; the default
                stream if None.

        Returns:
            A C-contiguous array of the same shape.

        Raises:
            InvalidArgumentError: An argument is not acceptable, or CANN does not convert so.
        """
        array: Any = self
        kind = dtype_of(dtype, "astype")
        if not is_ordered(array, stream):
            stream = require_stream("astype", stream, array.device)
            follow_writers(array, stream)
        converted: Self = _operators().cast(array, kind, stream)
        return converted

    def to_device(self, device: Device, /, *, stream: StreamLike | None = None) -> Self:
        """Return the array on a device: itself if it is there, else a contiguous copy.

        Args:
            device: The device.
            stream: Where to queue the copy; None to do it at once.

        Raises:
            InvalidArgumentError: With a stream: this array is not contiguous.
            ContextError: Without a stream: one has still to write this array.
        """
        array: Any = self
        if device is not array.device:
            from pyaclnn.runtime.device import require_device  # noqa: PLC0415

            require_device("to_device", device)
            source = array if array.is_contiguous or stream is not None else self.copy()
            array = type(array).empty(array.shape, array.dtype, device)
            array.copy_from(source, stream)
        found: Self = array
        return found

    def __setitem__(self, index: Any, value: object) -> None:
        """Write to a part, and block until that is done.

        Queued work that uses the part, or has still to write the value, is waited for. A part
        without gaps is copied (``aclrtMemcpy``), one with gaps is written by an operator
        (``aclnnInplaceCopy``) on the default stream.
        """
        array: Any = self
        part, make = array[index], type(array)
        ours = isinstance(value, make)
        if ours and _is_same(part, value):
            return  # as at the end of ``array[index] += 1``
        given: Any = value if ours else fitted(value, part.shape, part.dtype)
        if part.is_contiguous and (not ours or given.is_contiguous):
            wait_for_users(part)
            if ours:
                follow_writers(given, None)
            part.copy_from(given)
            return
        check_alike("__setitem__", given._layout if ours else given, part._layout, "value")
        if not part.size:
            return
        wait_for_users(part)
        if not ours:
            given, host = make.empty(part.shape, part.dtype, part.device), given
            given.copy_from(host)
        queue = require_stream("__setitem__", None, part.device)
        _queue_copy(part, given, queue)
        queue.synchronize()
