# SPDX-License-Identifier: Apache-2.0
"""Batches of the wire protocol: kernels, and reads of device memory between them."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING

from pyaclnn.mock.protocol.call_codec import Reader, WireError, read_call
from pyaclnn.mock.protocol.mapping import MappedRange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.mock.protocol.values import Call

__all__ = ["Batch", "Reads", "Run", "decode_batch", "decode_run", "run_number"]

_RUN = Struct("<QQQQ")
_NUMBER_AT = 16
_MAPPED = Struct("<QQQQQQ")
_ITEM = Struct("<II")
_ROOM = Struct("<QQ")
_READ = Struct("<QQQ")
_READS = 1
"""The kind of an item that reads; that of a kernel is 0."""


@dataclass(slots=True)
class Run:
    """The kernels of an operator, with the workspace the caller gave to phase 2.

    Attributes:
        workspace_address: The workspace's device address.
        workspace_size: Its bytes to poison; 0 if it is as an earlier kernel has left it.
        call: The call; None if it is still encoded.
        number: That of the answer to `Check`, 0 for none.
        encoded: The call in the bytes of the request.
        mapped: The mapped ranges that the call uses, in the order of their addresses.
    """

    workspace_address: int
    workspace_size: int
    call: Call | None
    number: int = 0
    encoded: memoryview | bytes = b""
    mapped: tuple[MappedRange, ...] = ()

    def decoded(self) -> Call:
        """Return the call.

        Raises:
            WireError: It is not well-formed.
        """
        if self.call is None:
            reader = Reader(self.encoded)
            self.call = read_call(reader)
            reader.finish()
        return self.call


@dataclass(slots=True)
class Reads:
    """Bytes of device memory that the host wants as they are between two kernels.

    Attributes:
        process: The process that has the file open where they go.
        descriptor: The descriptor of the file in that process.
        ranges: The address of each read, its bytes, and their offset in the file.
    """

    process: int
    descriptor: int
    ranges: tuple[tuple[int, int, int], ...]


@dataclass(slots=True)
class Batch:
    """Kernels and reads that run one after the other, until one fails.

    Attributes:
        messages: Its items, in their order; of a kernel the bytes, for `decode_run`.
    """

    messages: tuple[bytes | Reads, ...]


def decode_batch(payload: bytes) -> Batch:
    """Decode the payload of a batch; its kernels are left encoded.

    Raises:
        WireError: It is cut off, or has an item of an unknown kind.
    """
    return Batch(tuple(_items(payload)))


def _items(payload: bytes) -> Iterator[bytes | Reads]:
    end, whole = 0, len(payload)
    if not whole:
        raise WireError("a batch has no kernels")
    while end < whole:
        start = end + _ITEM.size
        if start > whole:
            raise WireError(f"payload has {whole - end} bytes; an item needs {_ITEM.size}")
        length, kind = _ITEM.unpack_from(payload, end)
        end = start + length
        if end > whole:
            raise WireError(f"an item of {length} bytes cannot stand in {whole - start} bytes")
        if not kind:
            yield payload[start:end]
        elif kind == _READS and length > _ROOM.size and (length - _ROOM.size) % _READ.size == 0:
            first = start + _ROOM.size
            ranges = tuple(_READ.iter_unpack(payload[first:end]))
            process, descriptor = _ROOM.unpack_from(payload, start)
            yield Reads(process, descriptor, ranges)
        else:
            raise WireError(f"an item of kind {kind} and {length} bytes is no kernel and no reads")


def run_number(message: bytes) -> int:
    """Return the number of the call that a kernel of a batch runs; 0 for none."""
    return int.from_bytes(message[_NUMBER_AT : _NUMBER_AT + 8], "little")


def decode_run(message: bytes) -> Run:
    """Decode a kernel of a batch.

    Raises:
        WireError: It is not well-formed.
    """
    payload = memoryview(message)
    reader = Reader(payload)
    address, size, number, count = reader.unpack(_RUN)
    if count > len(payload) // _MAPPED.size:
        raise WireError(f"{count} pieces of memory cannot stand in {len(payload)} bytes")
    mapped = tuple(MappedRange(*reader.unpack(_MAPPED)) for _ in range(count))
    if number:  # it is decoded only if the number is unknown
        return Run(address, size, None, number, payload[reader.at :], mapped)
    run = Run(address, size, read_call(reader), mapped=mapped)
    reader.finish()
    return run
