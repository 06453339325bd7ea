# SPDX-License-Identifier: Apache-2.0
"""The packets between a rank and the process where ranks meet: ``mock_libs/model/collectives``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import TYPE_CHECKING, Final, TypeAlias

from pyaclnn.mock.protocol.headers import enumerators

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "RESULTS",
    "VERSION",
    "Answer",
    "Answering",
    "Join",
    "Leave",
    "Memory",
    "PacketError",
    "Part",
    "Request",
    "Submission",
    "decode",
    "encode",
]

VERSION = 1
RESULTS: Final[Mapping[str, int]] = {
    name.removeprefix("HCCL_"): number
    for name, number in enumerators("hccl/hccl_types.h", "HcclResult").items()
}
"""What HCCL answers, by names such as ``E_TIMEOUT`` (CANN: hccl/hccl_types.h)."""

_JOIN = Struct("<IIIIiI")
_MEMORY = Struct("<IIQQ")
_SUBMIT = Struct("<IIII128s")
_PART = Struct("<24sIIIIQQQQ")
_KIND = Struct("<I")
_ANSWER = Struct("<IIII1024s")
_TEXT = 1023


class PacketError(Exception):
    """A packet makes no sense."""


class _Kind(IntEnum):
    JOIN = 1
    MEMORY = 2
    SUBMIT = 3
    LEAVE = 4


class Answering(IntEnum):
    """What a packet to a rank is about."""

    WELCOME = 1
    DONE = 2
    AWAITED = 3
    BROKEN = 4


@dataclass(frozen=True, slots=True)
class Join:
    """A rank asks for its place in a group.

    Attributes:
        version: Must be `VERSION`.
        rank: Which rank it is.
        ranks: How many there are.
        device: Its device, as its process counts them.
        group: What tells apart the groups that meet here.
    """

    version: int
    rank: int
    ranks: int
    device: int
    group: bytes


@dataclass(frozen=True, slots=True)
class Memory:
    """Where the memory of a rank's device lies; its file comes along."""

    base: int
    size: int


@dataclass(frozen=True, slots=True)
class Part:
    """One operation that a rank takes part in.

    Attributes:
        operation: Its name, ``"AllReduce"``.
        data_type: A number of ``HcclDataType``.
        reduction: A number of ``HcclReduceOp``.
        peer: The root, or the other rank.
        count: Elements, as the operation counts them.
        send: The device address of what is sent.
        receive: The device address of what is received.
        turn: How many operations of the kind this rank has asked for before.
        lists: Counts and displacements, as many lists as the operation has, one after the other.
    """

    operation: str
    data_type: int
    reduction: int
    peer: int
    count: int
    send: int
    receive: int
    turn: int
    lists: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Submission:
    """A rank's stream has come to a piece of work.

    Attributes:
        number: By which the answer is known.
        wrong: Whether the numbers are to be wrong.
        given_up: Why the rank will never do it, or empty.
        parts: The operations.
    """

    number: int
    wrong: bool
    given_up: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """The last packet of a rank."""


Request: TypeAlias = Join | Memory | Submission | Leave


@dataclass(frozen=True, slots=True)
class Answer:
    """A packet to a rank.

    Attributes:
        about: What it is about.
        number: That of the submission.
        result: How it ended.
        flag: Of `Answering.WELCOME` whether ranks of several processes meet; of
            `Answering.AWAITED` whether others wait for this rank.
        text: Explains the result.
    """

    about: Answering
    number: int = 0
    result: int = 0
    flag: bool = False
    text: str = ""


def decode(packet: bytes) -> Request:
    """Decode a packet.

    Raises:
        PacketError: It makes no sense.
    """
    if len(packet) < _KIND.size:
        raise PacketError(f"a packet of {len(packet)} bytes")
    (kind,) = _KIND.unpack_from(packet)
    sizes = {_Kind.JOIN: _JOIN, _Kind.MEMORY: _MEMORY, _Kind.SUBMIT: _SUBMIT, _Kind.LEAVE: _KIND}
    if kind not in sizes or len(packet) < sizes[kind].size:
        raise PacketError(f"a packet of kind {kind} and {len(packet)} bytes")
    if kind == _Kind.JOIN:
        _, version, rank, ranks, device, length = _JOIN.unpack_from(packet)
        return Join(version, rank, ranks, device, packet[_JOIN.size : _JOIN.size + length])
    if kind == _Kind.MEMORY:
        _, _, base, size = _MEMORY.unpack_from(packet)
        return Memory(base, size)
    return _submission(packet) if kind == _Kind.SUBMIT else Leave()


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode(errors="replace")


def _submission(packet: bytes) -> Submission:
    _, number, wrong, count, given_up = _SUBMIT.unpack_from(packet)
    at, parts = _SUBMIT.size, []
    for _ in range(count):
        if len(packet) < at + _PART.size:
            raise PacketError("a submission is cut off")
        name, data_type, reduction, peer, listed, *numbers = _PART.unpack_from(packet, at)
        at += _PART.size
        end = at + 8 * listed
        if len(packet) < end:
            raise PacketError("the lists of a submission are cut off")
        lists = tuple(memoryview(packet)[at:end].cast("Q"))
        elements, send, receive, turn = numbers
        part = Part(_text(name), data_type, reduction, peer, elements, send, receive, turn, lists)
        parts.append(part)
        at = end
    return Submission(number, bool(wrong), _text(given_up), tuple(parts))


def encode(answer: Answer) -> bytes:
    """Encode a packet to a rank."""
    text = answer.text.encode()[:_TEXT]
    return _ANSWER.pack(answer.about, answer.number, answer.result, answer.flag, text)
