# SPDX-License-Identifier: Apache-2.0
"""Packets between a rank and the rendezvous process: ``mock_libs/model/collectives``."""

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
    "AnswerKind",
    "AnswerPacket",
    "JoinPacket",
    "LeavePacket",
    "MemoryPacket",
    "PacketError",
    "Part",
    "RankPacket",
    "SubmitPacket",
    "decode",
    "encode",
]

VERSION = 1
RESULTS: Final[Mapping[str, int]] = {
    name.removeprefix("HCCL_"): number
    for name, number in enumerators("hccl/hccl_types.h", "HcclResult").items()
}
"""Results of HCCL, by names such as ``E_TIMEOUT`` (CANN: hccl/hccl_types.h)."""

_JOIN = Struct("<IIIIiI")
_MEMORY = Struct("<IIQQ")
_SUBMIT = Struct("<IIII128s")
_PART = Struct("<24sIIIIQQQQ")
_KIND = Struct("<I")
_ANSWER = Struct("<IIII1024s")
_TEXT = 1023


class PacketError(Exception):
    """A malformed packet."""


class _Kind(IntEnum):
    JOIN = 1
    MEMORY = 2
    SUBMIT = 3
    LEAVE = 4


class AnswerKind(IntEnum):
    """Kind of a packet to a rank."""

    WELCOME = 1
    DONE = 2
    AWAITED = 3
    BROKEN = 4


@dataclass(frozen=True, slots=True)
class JoinPacket:
    """Request of a rank to join a group.

    Attributes:
        version: Must be `VERSION`.
        rank: Its number.
        ranks: The number of ranks.
        device: Its device, as its process counts them.
        group: The name of its group.
    """

    version: int
    rank: int
    ranks: int
    device: int
    group: bytes


@dataclass(frozen=True, slots=True)
class MemoryPacket:
    """Address range of a rank's device memory; its file descriptor is attached."""

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
        sequence: The number of earlier operations of this kind by this rank.
        lists: Counts and displacements, as many lists as the operation has, one after the other.
    """

    operation: str
    data_type: int
    reduction: int
    peer: int
    count: int
    send: int
    receive: int
    sequence: int
    lists: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SubmitPacket:
    """Add the work that a rank's stream has reached.

    Attributes:
        number: It identifies the answer.
        wrong: The results must be wrong, by an injected fault.
        abort_reason: Why the rank will never take part, or empty.
        parts: The operations.
    """

    number: int
    wrong: bool
    abort_reason: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class LeavePacket:
    """The last packet of a rank."""


RankPacket: TypeAlias = JoinPacket | MemoryPacket | SubmitPacket | LeavePacket


@dataclass(frozen=True, slots=True)
class AnswerPacket:
    """A packet to a rank.

    Attributes:
        about: Its kind.
        number: That of the submission.
        result: The result.
        flag: Of `AnswerKind.WELCOME` whether ranks of several processes meet; of
            `AnswerKind.AWAITED` whether others wait for this rank.
        text: Explains the result.
    """

    about: AnswerKind
    number: int = 0
    result: int = 0
    flag: bool = False
    text: str = ""


def decode(packet: bytes) -> RankPacket:
    """Decode a packet.

    Raises:
        PacketError: It is malformed.
    """
    if len(packet) < _KIND.size:
        raise PacketError(f"a packet of {len(packet)} bytes")
    (kind,) = _KIND.unpack_from(packet)
    sizes = {_Kind.JOIN: _JOIN, _Kind.MEMORY: _MEMORY, _Kind.SUBMIT: _SUBMIT, _Kind.LEAVE: _KIND}
    if kind not in sizes or len(packet) < sizes[kind].size:
        raise PacketError(f"a packet of kind {kind} and {len(packet)} bytes")
    if kind == _Kind.JOIN:
        _, version, rank, ranks, device, length = _JOIN.unpack_from(packet)
        return JoinPacket(version, rank, ranks, device, packet[_JOIN.size : _JOIN.size + length])
    if kind == _Kind.MEMORY:
        _, _, base, size = _MEMORY.unpack_from(packet)
        return MemoryPacket(base, size)
    return _submission(packet) if kind == _Kind.SUBMIT else LeavePacket()


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode(errors="replace")


def _submission(packet: bytes) -> SubmitPacket:
    _, number, wrong, count, abort_reason = _SUBMIT.unpack_from(packet)
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
        elements, send, receive, sequence = numbers
        part = Part(
            _text(name), data_type, reduction, peer, elements, send, receive, sequence, lists
        )
        parts.append(part)
        at = end
    return SubmitPacket(number, bool(wrong), _text(abort_reason), tuple(parts))


def encode(answer: AnswerPacket) -> bytes:
    """Encode a packet to a rank."""
    text = answer.text.encode()[:_TEXT]
    return _ANSWER.pack(answer.about, answer.number, answer.result, answer.flag, text)
