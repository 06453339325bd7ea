# SPDX-License-Identifier: Apache-2.0
"""Wire protocol between libascendcl and the device process: frames, requests and replies.

A frame is ``u32 magic, u32 kind, u64 payload length, payload``, little-endian and packed; a string
is ``u32 length`` and UTF-8 bytes. The payload of RUN is a batch: for each item ``u32 length, u32
kind`` and its message, that of a kernel, or reads of device memory into a file: ``u64 process, u64
descriptor``, and for each ``u64 address, u64 bytes, u64 offset``; its reply has an answer for each
item that has run.

Decoding checks every count against the bytes that are there before it believes it, so a bad frame
costs a `WireError` and neither memory nor another exception.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import IntEnum
from struct import Struct, error as struct_error
from typing import TYPE_CHECKING, TypeAlias

from pyaclnn.mock.protocol.batch import Batch, decode_batch
from pyaclnn.mock.protocol.call_codec import Reader, WireError, read_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.mock.protocol.values import Call

__all__ = [
    "MAGIC",
    "MAX_PAYLOAD",
    "PROTOCOL_VERSION",
    "Bye",
    "Check",
    "CheckReply",
    "Forget",
    "FrameReader",
    "Hello",
    "Kind",
    "Reply",
    "Request",
    "WireError",
    "decode_request",
    "encode_frame",
    "encode_reply",
]

MAGIC = 0x4E4E4C41
PROTOCOL_VERSION = 8
# The largest argument set of any operator is a few kilobytes; arrays of user data do not travel.
MAX_PAYLOAD = 5 << 20

_HEADER = Struct("<IIQ")
_HELLO = Struct("<IiQQQQ")
_STATUS = Struct("<i")
_COUNT = Struct("<I")
_CHECKED = Struct("<iIQIQQQII")


class Kind(IntEnum):
    """The frame kinds; a reply has the kind of its request."""

    HELLO = 1
    CHECK = 2
    RUN = 3
    BYE = 4
    FORGET = 5


_RUN_KIND = int(Kind.RUN)  # Python 3.11 takes as long to read a member as to decode a batch


@dataclass(slots=True)
class Hello:
    """First request: the chip to simulate, and its memory.

    Attributes:
        protocol_version: Must be `PROTOCOL_VERSION`.
        device_id: The device's number, for messages.
        base_address: Device address of byte 0 of the memory file.
        memory_bytes: Size of the device memory.
        soc_name: Full chip name, ``"Ascend910B3"``.
        process: The process that has the memory file open, for a device process that had another
            device before; 0: it is the file that the device process was started with.
        descriptor: The descriptor of the file in that process.
    """

    protocol_version: int
    device_id: int
    base_address: int
    memory_bytes: int
    soc_name: str
    process: int = 0
    descriptor: int = 0


@dataclass(slots=True)
class Check:
    """Phase 1 of an operator."""

    call: Call


@dataclass(slots=True)
class Bye:
    """The last request."""


@dataclass(slots=True)
class Forget:
    """Return of everything of the device, whose process is to have another one."""


Request: TypeAlias = Hello | Check | Batch | Bye | Forget


@dataclass(slots=True)
class Reply:
    """Answer to `Hello`, `Run`, `Bye` and `Forget`.

    Attributes:
        status: The error, or 0.
        text: Explains it.
        shapes: Shapes of a call's tensors that differ from those of the descriptors, by their
            places among the tensors that are not NULL.
        milliseconds: Time that a kernel has run.
    """

    status: int = 0
    text: str = ""
    shapes: tuple[tuple[int, tuple[int, ...]], ...] = ()
    milliseconds: int = field(default=0, compare=False)


@dataclass(slots=True)
class CheckReply:
    """Answer to `Check`.

    Attributes:
        status: The status of phase 1.
        executor_kind: 0 composite, 1 individual.
        written: The arguments that are written, a bit each; a list is one argument.
        launches: 0 nothing to run, 1 kernels to run, 2 phase 2 itself fails with 561000.
        workspace_size: Bytes phase 1 reports.
        number: By which `Run` may name the call, 0 for none.
        unwritten: The arguments in `written` that silently stay as they are, a bit each.
        apart: 1 if no output may be an input, not even exactly; 2 if it may lie in one anyhow.
        any_scalars: True if the answer is the same whatever the values of scalars.
        spares_workspace: True if the kernels neither read nor write their workspace.
        text: Explains a status or a failing phase 2.
    """

    status: int
    executor_kind: int = 0
    written: int = 0
    launches: int = 0
    workspace_size: int = 0
    text: str = ""
    number: int = 0
    unwritten: int = 0
    apart: int = 0
    any_scalars: bool = False
    spares_workspace: bool = False


def encode_frame(kind: int, payload: bytes | bytearray) -> bytes:
    """Put a header in front of a payload."""
    return _HEADER.pack(MAGIC, kind, len(payload)) + payload


def decode_request(kind: int, payload: memoryview | bytes) -> Request:
    """Decode the payload of a request.

    Args:
        kind: Frame kind from the header.
        payload: The bytes behind the header; nothing of it is kept.

    Returns:
        The request.

    Raises:
        WireError: The kind is unknown, or the payload is truncated, too long or not well-formed.
    """
    if kind == _RUN_KIND:
        return decode_batch(bytes(payload))
    reader = Reader(payload)
    request: Request
    if kind == Kind.CHECK:
        request = Check(read_call(reader))
    elif kind == Kind.HELLO:
        version, device_id, base, size, process, descriptor = reader.unpack(_HELLO)
        request = Hello(version, device_id, base, size, reader.string(), process, descriptor)
    elif kind == Kind.BYE:
        request = Bye()
    elif kind == Kind.FORGET:
        request = Forget()
    else:
        raise WireError(f"frame kind {kind} is unknown; it must be 1 to {max(Kind)}")
    reader.finish()
    return request


def encode_reply(kind: int, reply: Reply | CheckReply | Sequence[Reply]) -> bytes:
    """Encode a reply as a whole frame of the kind of its request; that to a batch has several."""
    if isinstance(reply, (Reply, CheckReply)):
        return encode_frame(kind, _encode(reply))
    return encode_frame(kind, b"".join(map(_encode_of_kernel, reply)))


_DONE = bytes(_STATUS.size + 4 + 2 * _COUNT.size)
"""The answer to a kernel that has run quickly: neither a status nor a text nor shapes."""


def _encode(reply: Reply | CheckReply) -> bytes:
    text = reply.text.encode("utf-8", "replace")
    try:
        if isinstance(reply, CheckReply):
            head = _CHECKED.pack(
                reply.status,
                reply.executor_kind,
                reply.written,
                reply.launches,
                reply.workspace_size,
                reply.number,
                reply.unwritten,
                reply.apart,
                reply.any_scalars | reply.spares_workspace << 1,
            )
        else:
            head = _STATUS.pack(reply.status)
    except struct_error as error:
        raise WireError(f"{reply!r} does not fit the reply frame: {error}") from None
    return head + len(text).to_bytes(4, "little") + text


def _encode_of_kernel(reply: Reply) -> bytes:
    if not (reply.status or reply.text or reply.shapes or reply.milliseconds):
        return _DONE
    shapes = (Struct(f"<II{len(d)}q").pack(place, len(d), *d) for place, d in reply.shapes)
    head = _encode(reply) + _COUNT.pack(len(reply.shapes))
    return b"".join([head, *shapes, _COUNT.pack(reply.milliseconds)])


class FrameReader:
    """Reader of frames from a stream socket.

    Args:
        descriptor: File descriptor of the socket; it stays the caller's.
    """

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def next(self) -> tuple[int, bytes] | None:
        """Read one frame.

        Returns:
            Kind and payload, or None at the end of the stream.

        Raises:
            WireError: Wrong magic number, a payload above `MAX_PAYLOAD`, or the stream ended
                inside a frame.
        """
        header = self._read(_HEADER.size)
        if not header:
            return None
        if len(header) < _HEADER.size:
            raise WireError(f"the stream ended after {len(header)} of {_HEADER.size} header bytes")
        magic, kind, length = _HEADER.unpack(header)
        if magic != MAGIC:
            raise WireError(f"magic number is {magic:#010x}; it must be {MAGIC:#010x}")
        if length > MAX_PAYLOAD:
            raise WireError(f"payload has {length} bytes; at most {MAX_PAYLOAD} are allowed")
        payload = self._read(length)
        if len(payload) < length:
            raise WireError(f"the stream ended after {len(payload)} of {length} payload bytes")
        return kind, payload

    def _read(self, length: int) -> bytes:
        """Read as many bytes as are wanted, or fewer if the stream ends."""
        parts: list[bytes] = []
        while length:
            try:
                part = os.read(self._descriptor, length)
            except ConnectionResetError:
                break
            length -= len(part)
            if not length and not parts:
                return part
            if not part:
                break
            parts.append(part)
        return b"".join(parts)
