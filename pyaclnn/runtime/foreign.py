# SPDX-License-Identifier: Apache-2.0
"""Streams of other libraries: what says of itself which ``aclrtStream`` it is.

Modelled on ``__cuda_stream__``, by which libraries for other devices share theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.base.spelling import with_article
from pyaclnn.cann import raw
from pyaclnn.runtime.shapes import count_of

if TYPE_CHECKING:
    from pyaclnn.cann.raw import Pointer

__all__ = ["SharedStream", "StreamLike", "shared_stream", "stream_pointer"]


@runtime_checkable
class StreamLike(Protocol):
    """A stream of another library, which is taken wherever a ``Stream`` is.

    Examples:
        >>> class OtherStream:
        ...     def __acl_stream__(self):
        ...         return 0, 0  # the version; the address, here of the default stream
        >>> y = pyaclnn.layer_norm(pyaclnn.ones((2, 4)), 4, stream=OtherStream()).out
    """

    def __acl_stream__(self) -> tuple[int, int]:
        """Return the version of this protocol, which is 0, and the address of the ``aclrtStream``.

        Whatever the other library still holds back for the stream is queued there before.
        """


class SharedStream(NamedTuple):
    """Stream of another library: its handle and device.

    Attributes:
        handle: The address of the ``aclrtStream``; 0 for the default stream.
        device_id: The number of its device; None if it does not say.
    """

    handle: int
    device_id: int | None


def shared_stream(routine: str, stream: Any) -> SharedStream | None:
    """Ask a stream of another library which it is; PyTorch's are known by ``npu_stream``.

    Args:
        routine: The operation, for the message.
        stream: The caller's argument.

    Returns:
        None if it is not recognized as a stream.

    Raises:
        InvalidArgumentError: It speaks another version of the protocol.
    """
    if isinstance(stream, StreamLike):
        version, handle = stream.__acl_stream__()
        if version != 0:
            given = f"{with_article(type(stream).__name__)} of version {version} of __acl_stream__"
            raise InvalidArgumentError.of(routine, "stream", given, "of version 0")
        return SharedStream(handle, None)
    if not hasattr(stream, "npu_stream"):
        return None
    return SharedStream(stream.npu_stream, stream.device_index)


def stream_pointer(handle: int | Pointer) -> Pointer:
    """Return an ``aclrtStream`` of another owner as a C pointer.

    Args:
        handle: Its address, or a C pointer to it.

    Raises:
        InvalidArgumentError: It is neither.
    """
    if raw.is_pointer(handle):
        return handle
    address = count_of(handle, 2**64 - 1)
    if address is None:
        expected = "the address of an aclrtStream, or a C pointer to it"
        raise InvalidArgumentError.of("Stream.borrow", "handle", repr_of(handle), expected)
    return raw.pointer_to(address)
