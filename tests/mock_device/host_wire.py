# SPDX-License-Identifier: Apache-2.0
"""The host's side of the wire protocol: requests as bytes, and replies out of bytes."""

from __future__ import annotations

from struct import Struct, error as struct_error
from typing import TYPE_CHECKING, Any

from pyaclnn.mock.protocol.batch import Batch, Reads, Run
from pyaclnn.mock.protocol.call_codec import Reader, WireError
from pyaclnn.mock.protocol.values import (
    BoolArray,
    Call,
    FloatArray,
    IntArray,
    Scalar,
    ScalarList,
    Tensor,
    TensorList,
    Unsigned,
    Value,
)
from pyaclnn.mock.protocol.wire import (
    Bye,
    Check,
    CheckReply,
    Forget,
    Hello,
    Kind,
    Reply,
    Request,
    encode_frame,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["decode_replies", "decode_reply", "encode_request"]

_U32 = Struct("<I")
_U64 = Struct("<Q")
_I64 = Struct("<q")
_F64 = Struct("<d")
_U8 = Struct("<B")
_PAIR = Struct("<II")
_TENSOR_HEAD = Struct("<iiI")
_TENSOR_MIDDLE = Struct("<qI")
_SCALAR_HEAD = Struct("<iI")
_HELLO = Struct("<IiQQQQ")
_RUN = Struct("<QQQQ")
_ROOM = Struct("<QQ")
_READ = Struct("<QQQ")
_MAPPED = Struct("<QQQQQQ")
_STATUS = Struct("<i")
_CHECKED = Struct("<iIQIQQQII")


class Writer:
    """Collects the fields of a payload in `data`."""

    __slots__ = ("data",)

    def __init__(self) -> None:
        self.data = bytearray()

    def pack(self, layout: Struct, *fields: float) -> None:
        """Append the fields of a layout."""
        try:
            self.data += layout.pack(*fields)
        except (struct_error, OverflowError) as error:
            raise WireError(f"{fields} does not fit {layout.format}: {error}") from None

    def string(self, text: str) -> None:
        """Append a length and UTF-8 bytes."""
        try:
            raw = text.encode()
        except UnicodeEncodeError as error:
            raise WireError(f"{text!r} cannot be written as UTF-8: {error}") from None
        self.pack(_U32, len(raw))
        self.data += raw


def encode_request(request: Request | Run | Sequence[Run | Reads]) -> bytes:
    """Encode a request as a whole frame; kernels are a batch.

    Raises:
        WireError: A value does not fit its field.
    """
    writer = Writer()
    if isinstance(request, Hello):
        writer.pack(
            _HELLO,
            request.protocol_version,
            request.device_id,
            request.base_address,
            request.memory_bytes,
            request.process,
            request.descriptor,
        )
        writer.string(request.soc_name)
        return encode_frame(Kind.HELLO, writer.data)
    if isinstance(request, Check):
        write_call(writer, request.call)
        return encode_frame(Kind.CHECK, writer.data)
    if isinstance(request, Run):
        return encode_request([request])
    if not isinstance(request, (Batch, Forget, Bye)):
        return encode_frame(Kind.RUN, b"".join(map(_message, request)))
    assert not isinstance(request, Batch), "it is encoded"
    return encode_frame(Kind.FORGET if isinstance(request, Forget) else Kind.BYE, b"")


def decode_reply(kind: int, payload: memoryview | bytes) -> Reply | CheckReply:
    """Decode the payload of a reply: the host's side of `encode_reply`.

    Raises:
        WireError: The payload is truncated, too long or not well-formed.
    """
    if kind == Kind.RUN:
        replies = decode_replies(payload)
        if len(replies) != 1:
            raise WireError(f"{len(replies)} answers to one kernel")
        return replies[0]
    reader = Reader(payload)
    reply: Reply | CheckReply
    if kind == Kind.CHECK:
        *head, number, stale, apart, flags = reader.unpack(_CHECKED)
        known = (bool(apart), bool(flags & 1), bool(flags & 2))
        shown = (*head, reader.string(), number, stale, *known)
        reply = CheckReply(*shown)
    elif kind in (Kind.HELLO, Kind.BYE, Kind.FORGET):
        (status,) = reader.unpack(_STATUS)
        reply = Reply(status, reader.string())
    else:
        raise WireError(f"frame kind {kind} is unknown; it must be 1 to {max(Kind)}")
    reader.finish()
    return reply


def decode_replies(payload: memoryview | bytes) -> list[Reply]:
    """Decode the answers to a batch."""
    reader, replies = Reader(payload), []
    while reader.at < len(payload):
        (status,) = reader.unpack(_STATUS)
        text = reader.string()
        (count,) = reader.unpack(_U32)
        shapes = []
        for _ in range(count):
            place, rank = reader.unpack(_PAIR)
            shapes.append((place, reader.integers(rank)))
        (milliseconds,) = reader.unpack(_U32)
        replies.append(Reply(status, text, tuple(shapes), milliseconds))
    return replies


def _message(run: Run | Reads) -> bytes:
    writer = Writer()
    if isinstance(run, Reads):
        writer.pack(_ROOM, run.process, run.descriptor)
        for place in run.ranges:
            writer.pack(_READ, *place)
        return _PAIR.pack(len(writer.data), 1) + bytes(writer.data)
    head = (run.workspace_address, run.workspace_size, run.number)
    writer.pack(_RUN, *head, len(run.mapped))
    for piece in run.mapped:
        writer.pack(_MAPPED, *piece)
    write_call(writer, run.decoded())
    return _PAIR.pack(len(writer.data), 0) + bytes(writer.data)


def write_call(writer: Writer, call: Call) -> None:
    """Write an operator call.

    Raises:
        WireError: A value does not fit its field.
    """
    writer.string(call.operator)
    writer.pack(_PAIR, call.flags, len(call.arguments))
    for name, value in call.arguments.items():
        writer.string(name)
        _write_value(writer, value)


def _write_value(writer: Writer, value: Value) -> None:
    tag, write = _WRITE[type(value)]
    writer.data += tag
    write(writer, value)


def _write_null(_writer: Writer, _value: None) -> None:
    pass


def _write_tensor(writer: Writer, value: Tensor) -> None:
    if len(value.dims) != len(value.strides):
        raise WireError(f"{value!r} has {len(value.dims)} dims and {len(value.strides)} strides")
    writer.pack(_TENSOR_HEAD, value.data_type, value.format, len(value.dims))
    writer.pack(Struct(f"<{2 * len(value.dims)}q"), *value.dims, *value.strides)
    writer.pack(_TENSOR_MIDDLE, value.offset, len(value.storage_dims))
    writer.pack(Struct(f"<{len(value.storage_dims)}q"), *value.storage_dims)
    writer.pack(_U64, value.address)


def _write_scalar(writer: Writer, value: Scalar) -> None:
    writer.pack(_SCALAR_HEAD, value.data_type, len(value.data))
    writer.data += value.data


def _write_list(writer: Writer, value: TensorList | ScalarList) -> None:
    writer.pack(_U32, len(value.items))
    for item in value.items:
        _write_value(writer, item)


def _write_int_array(writer: Writer, value: IntArray) -> None:
    writer.pack(_U64, len(value.values))
    writer.pack(Struct(f"<{len(value.values)}q"), *value.values)


def _write_float_array(writer: Writer, value: FloatArray) -> None:
    writer.pack(_U64, len(value.values))
    writer.pack(Struct(f"<{len(value.values)}f"), *value.values)


def _write_bool_array(writer: Writer, value: BoolArray) -> None:
    writer.pack(_U64, len(value.values))
    writer.data += bytes(value.values)


def _write_signed(writer: Writer, value: int) -> None:
    writer.pack(_I64, value)


def _write_unsigned(writer: Writer, value: Unsigned) -> None:
    writer.pack(_U64, value)


def _write_double(writer: Writer, value: float) -> None:
    writer.pack(_F64, value)


def _write_bool(writer: Writer, value: bool) -> None:
    writer.pack(_U8, value)


_WRITE: dict[type, tuple[bytes, Callable[[Writer, Any], None]]] = {
    type(None): (b"n", _write_null),
    Tensor: (b"t", _write_tensor),
    TensorList: (b"T", _write_list),
    ScalarList: (b"S", _write_list),
    IntArray: (b"I", _write_int_array),
    FloatArray: (b"F", _write_float_array),
    BoolArray: (b"B", _write_bool_array),
    Scalar: (b"s", _write_scalar),
    int: (b"i", _write_signed),
    Unsigned: (b"u", _write_unsigned),
    float: (b"d", _write_double),
    bool: (b"b", _write_bool),
    str: (b"c", Writer.string),
}
