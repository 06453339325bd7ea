# SPDX-License-Identifier: Apache-2.0
"""Frames and calls: what is written is read back, and nothing else is."""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st

from pyaclnn.mock.protocol import wire
from pyaclnn.mock.protocol.batch import Batch, Reads, Run, decode_run
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
)
from pyaclnn.mock.protocol.wire import (
    Bye,
    Check,
    CheckReply,
    Forget,
    FrameReader,
    Hello,
    Kind,
    Reply,
    Request,
    WireError,
    decode_request,
    encode_reply,
)
from tests.mock_device.host_wire import decode_replies, decode_reply, encode_request

HEADER_BYTES = 16
I32 = st.integers(-(2**31), 2**31 - 1)
U32 = st.integers(0, 2**32 - 1)
I64 = st.integers(-(2**63), 2**63 - 1)
U64 = st.integers(0, 2**64 - 1)
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    rank = draw(st.integers(0, 40))
    row = st.lists(I64, min_size=rank, max_size=rank).map(tuple)
    storage = st.lists(I64, max_size=5).map(tuple)
    return Tensor(draw(I32), draw(I32), draw(row), draw(row), draw(I64), draw(storage), draw(U64))


SCALARS = st.builds(Scalar, I32, st.binary(max_size=16))
FLOATS = st.floats(width=32, allow_nan=False)
VALUES = st.one_of(
    st.none(),
    tensors(),
    st.builds(TensorList, st.lists(st.none() | tensors(), max_size=3).map(tuple)),
    SCALARS,
    st.builds(ScalarList, st.lists(st.none() | SCALARS, max_size=3).map(tuple)),
    st.builds(IntArray, st.lists(I64, max_size=40).map(tuple)),
    st.builds(FloatArray, st.lists(FLOATS, max_size=5).map(tuple)),
    st.builds(BoolArray, st.lists(st.booleans(), max_size=5).map(tuple)),
    st.booleans(),
    I64,
    st.builds(Unsigned, U64),
    st.floats(allow_nan=False),
    TEXT,
)
CALLS = st.builds(Call, TEXT, U32, st.dictionaries(TEXT, VALUES, max_size=6))
REQUESTS = st.one_of(
    st.builds(Hello, U32, I32, U64, U64, TEXT, U64, U64),
    st.builds(Check, CALLS),
    st.just(Bye()),
    st.just(Forget()),
)
TENSOR = Tensor(0, 2, (2, 3), (3, 1), 0, (6,), 0x1000)
CALL = Call(
    "aclnnThing",
    5,
    {
        "x": TENSOR,
        "xs": TensorList((TENSOR, None)),
        "dims": IntArray((1, 2)),
        "mask": BoolArray((True, False)),
        "alphas": FloatArray((0.5,)),
        "beta": Scalar(0, b"\0\0\0\0"),
        "eps": 1e-5,
        "mode": "sum",
    },
)
FRAME = encode_request(Run(0x2000, 512, CALL))


def split(frame: bytes) -> tuple[int, bytes]:
    magic, kind, length = struct.unpack_from("<IIQ", frame)
    assert magic == wire.MAGIC
    assert length == len(frame) - HEADER_BYTES
    return kind, frame[HEADER_BYTES:]


def decoded(batch: Request) -> list[Run | Reads]:
    assert isinstance(batch, Batch)
    return [one if isinstance(one, Reads) else decode_run(one) for one in batch.messages]


def test_a_numbered_call_is_decoded_when_it_is_asked_for() -> None:
    kind, payload = split(encode_request(Run(0x2000, 512, CALL, 7)))

    (run,) = decoded(decode_request(kind, payload))

    assert isinstance(run, Run)
    assert (run.number, run.call) == (7, None)
    assert run.decoded() == CALL


def kind_of(value: object) -> object:
    """Types all the way down: 1 == True == 1.0, but not on the wire."""
    if isinstance(value, Call):
        return [(name, kind_of(item)) for name, item in value.arguments.items()]
    return type(value)


@given(REQUESTS)
def test_every_request_comes_back(request: Request) -> None:
    kind, payload = split(encode_request(request))

    decoded = decode_request(kind, memoryview(payload))

    assert decoded == request
    if isinstance(request, Check) and isinstance(decoded, Check):
        assert kind_of(decoded.call) == kind_of(request.call)
        assert list(decoded.call.arguments) == list(request.call.arguments)


READS = st.builds(Reads, U64, U64, st.lists(st.tuples(U64, U64, U64), min_size=1).map(tuple))


@given(st.lists(st.builds(Run, U64, U64, CALLS) | READS, min_size=1))
def test_every_batch_comes_back(items: list[Run | Reads]) -> None:
    batch = decode_request(*split(encode_request(items)))

    assert isinstance(batch, Batch)
    assert [
        message if isinstance(message, Reads) else decode_run(message) for message in batch.messages
    ] == items


@pytest.mark.parametrize(("kind", "length"), [(1, 0), (1, 16), (1, 39), (2, 40)])
def test_an_item_that_is_no_kernel_and_no_reads_is_refused(kind: int, length: int) -> None:
    with pytest.raises(WireError, match=f"an item of kind {kind} and {length} bytes is no"):
        decode_request(Kind.RUN, struct.pack("<II", length, kind) + bytes(length))


@given(st.sampled_from([Kind.HELLO, Kind.RUN, Kind.BYE, Kind.FORGET]), I32, TEXT)
def test_every_reply_comes_back(kind: Kind, status: int, text: str) -> None:
    reply = Reply(status, text)

    assert decode_reply(*split(encode_reply(kind, [reply] if kind == Kind.RUN else reply))) == reply


@given(st.lists(st.builds(Reply, I32, TEXT, st.just(((1, (2, 3)), (0, ()))) | st.just(()), U32)))
def test_every_answer_to_a_batch_comes_back(replies: list[Reply]) -> None:
    _, payload = split(encode_reply(Kind.RUN, replies))

    assert decode_replies(payload) == replies


@given(st.builds(CheckReply, I32, U32, U64, U32, U64, TEXT, U64, U64))
def test_every_check_reply_comes_back(reply: CheckReply) -> None:
    assert decode_reply(*split(encode_reply(Kind.CHECK, reply))) == reply


def test_the_bytes_are_those_of_the_contract() -> None:
    call = Call("op", 6, {"a": None, "t": TENSOR, "i": -2, "m": BoolArray((True,))})
    expected = b"".join(
        [
            struct.pack("<I2sII", 2, b"op", 6, 4),
            struct.pack("<I1sc", 1, b"a", b"n"),
            struct.pack("<I1sc", 1, b"t", b"t"),
            struct.pack("<iiI4q", 0, 2, 2, 2, 3, 3, 1),
            struct.pack("<qIqQ", 0, 1, 6, 0x1000),
            struct.pack("<I1scq", 1, b"i", b"i", -2),
            struct.pack("<I1scQB", 1, b"m", b"B", 1, 1),
        ]
    )

    assert (
        encode_request(Check(call)) == struct.pack("<IIQ", 0x4E4E4C41, 2, len(expected)) + expected
    )


def test_a_batch_has_kernels() -> None:
    with pytest.raises(WireError, match="no kernels"):
        decode_request(Kind.RUN, b"")


def test_a_payload_truncated_anywhere_is_refused() -> None:
    for length in range(len(FRAME) - HEADER_BYTES):
        with pytest.raises(WireError):
            decode_request(Kind.RUN, FRAME[HEADER_BYTES : HEADER_BYTES + length])


def test_bytes_behind_the_last_field_are_refused() -> None:
    with pytest.raises(WireError, match="payload has 1 bytes"):
        decode_request(Kind.RUN, FRAME[HEADER_BYTES:] + b"\0")
    (length,) = struct.unpack_from("<Q", FRAME, HEADER_BYTES)
    longer = struct.pack("<Q", length + 1) + FRAME[HEADER_BYTES + 8 :] + b"\0"
    batch = decode_request(Kind.RUN, longer)
    with pytest.raises(WireError, match="1 bytes follow"):
        decoded(batch)


@settings(max_examples=500)
@given(
    st.integers(0, len(FRAME) - HEADER_BYTES - 1),
    st.integers(0, 2**64 - 1),
    st.sampled_from([1, 4, 8]),
    st.sampled_from(list(Kind)),
)
def test_a_mutated_payload_decodes_or_is_refused(
    position: int, value: int, width: int, kind: Kind
) -> None:
    payload = bytearray(FRAME[HEADER_BYTES:])
    patch = value.to_bytes(8, "little")[:width]
    payload[position : position + width] = patch
    with suppress(WireError):
        decode_request(kind, bytes(payload))


@settings(max_examples=500)
@given(st.binary(max_size=200), st.integers(0, 6))
def test_random_bytes_decode_or_are_refused(payload: bytes, kind: int) -> None:
    for decode in (decode_request, decode_reply):
        with suppress(WireError):
            decode(kind, payload)


def one_argument(tag: bytes, value: bytes) -> bytes:
    return struct.pack("<I2sIII1s", 2, b"op", 0, 1, 1, b"a") + tag + value


HUGE = [
    ("tensor rank", one_argument(b"t", struct.pack("<iiI", 0, 2, 2**32 - 1))),
    ("storage rank", one_argument(b"t", struct.pack("<iiIqI", 0, 2, 0, 0, 2**32 - 1))),
    ("tensor list", one_argument(b"T", struct.pack("<I", 2**32 - 1))),
    ("int array", one_argument(b"I", struct.pack("<Q", 2**64 - 1))),
    ("float array", one_argument(b"F", struct.pack("<Q", 2**62))),
    ("bool array", one_argument(b"B", struct.pack("<Q", 2**63))),
    ("scalar", one_argument(b"s", struct.pack("<iI", 0, 2**32 - 1))),
    ("string", one_argument(b"c", struct.pack("<I", 2**32 - 1))),
    ("argument count", struct.pack("<I2sII", 2, b"op", 0, 2**32 - 1)),
    ("operator name", struct.pack("<I", 2**32 - 1)),
]


@pytest.mark.parametrize("payload", [row[1] for row in HUGE], ids=[row[0] for row in HUGE])
def test_a_count_beyond_the_payload_is_refused(payload: bytes) -> None:
    with pytest.raises(WireError):
        decode_request(Kind.CHECK, payload)


MALFORMED = [
    ("unknown tag", one_argument(b"?", b""), "unknown tag"),
    ("name is not UTF-8", struct.pack("<I2sII", 2, b"\xff\xfe", 0, 0), "not UTF-8"),
    ("list inside of a list", one_argument(b"T", struct.pack("<I1s", 1, b"T")), "list element 0"),
    ("scalar in a tensor list", one_argument(b"T", struct.pack("<I1s", 1, b"s")), "list element 0"),
    (
        "one name twice",
        struct.pack("<I2sII", 2, b"op", 0, 2) + struct.pack("<I1sc", 1, b"a", b"n") * 2,
        "two arguments named 'a'",
    ),
]


@pytest.mark.parametrize(
    ("payload", "text"), [row[1:] for row in MALFORMED], ids=[row[0] for row in MALFORMED]
)
def test_what_is_wrong_is_said(payload: bytes, text: str) -> None:
    with pytest.raises(WireError, match=text):
        decode_request(Kind.CHECK, payload)


def test_an_unknown_kind_is_refused() -> None:
    for decode in (decode_request, decode_reply):
        with pytest.raises(WireError, match="frame kind 9 is unknown"):
            decode(9, b"")


@pytest.mark.parametrize(
    "request_",
    [
        Hello(-1, 0, 0, 0, ""),
        Hello(1, 2**31, 0, 0, ""),
        Run(2**64, 0, CALL),
        Check(Call("op", 2**32)),
        Check(Call("op", 0, {"i": 2**63})),
        Check(Call("op", 0, {"f": FloatArray((1e300,))})),
        Check(Call("\ud800")),
        Check(Call("op", 0, {"t": Tensor(0, 2, (2,), (), 0, (), 0)})),
    ],
)
def test_a_value_that_does_not_fit_is_not_sent(request_: Request | Run) -> None:
    with pytest.raises(WireError):
        encode_request(request_)


def test_a_reply_that_does_not_fit_is_not_sent() -> None:
    with pytest.raises(WireError):
        encode_reply(Kind.RUN, [Reply(2**31, "")])


def test_frames_are_read_one_after_the_other() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(encode_request(Bye()) + FRAME[:50])
        frames = FrameReader(far.fileno())
        first = frames.next()
        assert first is not None
        assert (first[0], bytes(first[1])) == (Kind.BYE, b"")
        near.sendall(FRAME[50:])
        second = frames.next()
        assert second is not None
        batch = decode_request(*second)
        assert decoded(batch) == [Run(0x2000, 512, CALL)]
        near.close()
        assert frames.next() is None


def test_a_large_frame_is_read_whole() -> None:
    call = Call("op", 0, {"a": IntArray(tuple(range(3000)))})
    reading, writing = os.pipe()
    try:
        os.write(writing, encode_request(Check(call)))
        frame = FrameReader(reading).next()
        assert frame is not None
        assert decode_request(*frame) == Check(call)
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "magic number"),
        (struct.pack("<IIQ", wire.MAGIC, 2, 2**63), "at most"),
        (struct.pack("<IIQ", wire.MAGIC, 2, wire.MAX_PAYLOAD + 1), "at most"),
        (FRAME[:7], "7 of 16 header bytes"),
        (FRAME[:-1], "payload bytes"),
    ],
)
def test_a_broken_stream_is_refused(sent: bytes, text: str) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(sent)
        near.close()
        with pytest.raises(WireError, match=text):
            FrameReader(far.fileno()).next()
