# SPDX-License-Identifier: Apache-2.0
"""Reader of traces: blocks, records, and the calls in them, one after the other.

A file is the line ``pyaclnn trace 1`` and blocks. A block has a head of 20 bytes (``BLKz`` if zlib
has compressed it, else ``BLK-``; its length, 8 bytes; the stored length and its CRC-32, 4 bytes
each; little-endian) and what is stored. A number in it has seven bits a byte, lowest first; one
with a sign is folded, 0, -1, 1, -2; a text is its length and one, and its bytes. Records:

    1  call: function, number, thread, begin and duration in ns, result, arguments, message of a
       failure
    2  function: number in this file, name, parameters (functions.py has the letters), letter of the
       result
    3  contents: call, parameter, element, 0 before or 1 after the call or 2 of the host, 1 if in
       full, bytes, hash in 8 bytes, the contents if in full
    4  process: its number, policy of contents, seconds since 1970
    5  function that is not recorded: its name, number of calls
    6  end of the process: the signal, or 0
"""

from __future__ import annotations

import struct
import zlib
from typing import IO, TYPE_CHECKING, Final, NamedTuple, TypeAlias

from pyaclnn.base.files import open_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "Call",
    "Contents",
    "Ended",
    "Process",
    "Record",
    "TraceError",
    "Unrecorded",
    "Value",
    "read_trace",
    "traces_of",
]

MAGIC: Final = b"pyaclnn trace 1\n"
_HEAD: Final = struct.Struct("<4sQII")
_LARGEST: Final = 1 << 40
_HANDLE: Final = (1 << 64) - 1
_LARGEST_BLOCK: Final = 1 << 32

Value: TypeAlias = "int | float | str | bytes | tuple[int, ...] | None"
"""An argument: a number, a text, a structure or elements that are no numbers, numbers."""


class TraceError(ValueError):
    """A file that is no trace, or one that is damaged."""


class Function(NamedTuple):
    """A function as the trace describes it: its name, its parameters and letters, its result."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str


class Call(NamedTuple):
    """A recorded call.

    Attributes:
        number: Its number in the process, in the order in which calls began.
        name: The C name of its function.
        thread: The number of its thread, from 1 on.
        begin: When it began, in nanoseconds.
        duration: How long it took, in nanoseconds.
        result: The status, the address, the number or the text that it returned.
        arguments: The C name of each parameter -> its value; of one through which it answers, the
            answer in bytes.
        letters: The letter of each parameter, as in `pyaclnn.capture.functions`.
        failed: Whether the result is a status other than 0.
        message: CANN's message of the failure, or None.
    """

    number: int
    name: str
    thread: int
    begin: int
    duration: int
    result: Value
    arguments: dict[str, Value]
    letters: dict[str, str]
    failed: bool
    message: str | None

    @property
    def status(self) -> int:
        """The result as a status; 0 if it is none."""
        return self.result if self.failed and isinstance(self.result, int) else 0

    def handle(self, name: str) -> int:
        """Return an argument that is a number or, if it is an answer, the number in it."""
        value = self.arguments[name]
        if isinstance(value, bytes):
            return int.from_bytes(value, "little")
        return value if isinstance(value, int) else 0

    def numbers(self, name: str) -> tuple[int, ...]:
        """Return an argument that is an array of numbers; none if it is NULL."""
        value = self.arguments[name]
        return value if isinstance(value, tuple) else ()


class Contents(NamedTuple):
    """Contents of a tensor, or of memory of the host.

    Attributes:
        call: The number of the call.
        parameter: The place of the parameter.
        element: The place in its list.
        phase: 0 before the call, 1 after it, 2 in the memory of the host.
        size: In bytes.
        hash: As `pyaclnn.capture.session.content_hash` returns it.
        data: The contents, if they were recorded.
    """

    call: int
    parameter: int
    element: int
    phase: int
    size: int
    hash: int
    data: bytes | None


class Process(NamedTuple):
    """The recorded process: its number, policy of contents, and when it began."""

    number: int
    contents: int
    time: int


class Unrecorded(NamedTuple):
    """A function that was passed on without a record, and how often it was called."""

    name: str
    calls: int


class Ended(NamedTuple):
    """The end of the process: the signal that ended it, or 0."""

    signal: int


Record: TypeAlias = "Call | Contents | Process | Unrecorded | Ended"


def traces_of(path: Path) -> list[Path]:
    """Return the files of all processes of a captured program, that of the first one first."""
    rest = sorted(p for p in path.parent.glob(f"{path.name}.*") if p.suffix[1:].isdigit())
    return [path, *rest]


def read_trace(path: str | os.PathLike[str]) -> Iterator[Record]:
    """Read the trace of a process, a block at a time.

    The end of a file in the middle of a block ends the trace: the process was killed.

    Args:
        path: The file.

    Raises:
        TraceError: It is no trace, or a block is damaged.
        OSError: It cannot be read.
    """
    functions: dict[int, Function] = {}
    with open_file(path, "a trace", most=_LARGEST) as file:
        head = file.read(len(MAGIC))
        if len(head) < len(MAGIC) and MAGIC.startswith(head):
            return  # the process was killed as it began
        if head != MAGIC:
            message = f"{path} is no trace of this version: it does not begin with {MAGIC!r}"
            raise TraceError(message)
        blocks = 0
        try:
            for block in _blocks(file):
                yield from _Block(block, functions).records()
                blocks += 1
        except (IndexError, struct.error, KeyError, zlib.error) as error:
            raise TraceError(f"{path}: block {blocks} is damaged") from error


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    place = len(MAGIC)
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        kind, length, stored, check = _HEAD.unpack(head)
        if kind not in {b"BLKz", b"BLK-"} or length > _LARGEST_BLOCK:
            raise TraceError(f"{file.name}: no block begins at byte {place}")
        data = file.read(stored)
        if len(data) < stored:
            return  # the process was killed
        if zlib.crc32(data) != check:
            raise TraceError(f"{file.name}: the block at byte {place} is damaged")
        if kind == b"BLKz":
            data = zlib.decompressobj().decompress(data, length)
        yield data
        place += _HEAD.size + stored


class _Block:
    def __init__(self, data: bytes, functions: dict[int, Function]) -> None:
        self._data = data
        self._at = 0
        self._functions = functions

    def records(self) -> Iterator[Record]:
        while self._at < len(self._data):
            kind = self._number()
            if kind == 1:
                yield self._call()
            elif kind == 2:  # noqa: PLR2004  # the numbers of the format are in the module's text
                self._function()
            elif kind == 3:  # noqa: PLR2004
                yield self._contents()
            elif kind == 4:  # noqa: PLR2004
                yield Process(self._number(), self._number(), self._number())
            elif kind == 5:  # noqa: PLR2004
                yield Unrecorded(self._text() or "", self._number())
            elif kind == 6:  # noqa: PLR2004
                yield Ended(self._number())
            else:
                raise IndexError(kind)

    def _number(self) -> int:
        data, at = self._data, self._at
        value = data[at] & 0x7F
        shift = 7
        while data[at] & 0x80:
            at += 1
            value |= (data[at] & 0x7F) << shift
            shift += 7
        self._at = at + 1
        return value

    def _signed(self) -> int:
        value = self._number()
        return value >> 1 ^ -(value & 1)

    def _bytes(self, length: int) -> bytes:
        found = self._data[self._at : self._at + length]
        if len(found) < length:
            raise IndexError(length)
        self._at += length
        return found

    def _text(self) -> str | None:
        length = self._number()
        return None if length == 0 else self._bytes(length - 1).decode(errors="replace")

    def _function(self) -> None:
        number, name, spec, result = self._number(), self._text(), self._text(), self._text()
        pairs = [text.partition(":") for text in (spec or "").split(" ") if text]
        parameters = tuple((parameter, letter) for letter, _, parameter in pairs)
        self._functions[number] = Function(name or "", parameters, result or "i")

    def _call(self) -> Call:
        function = self._functions[self._number()]
        number, thread, begin, duration = (self._number() for _ in range(4))
        result: Value
        if function.result == "s":
            result = self._text()
        else:
            result = self._signed() if function.result == "i" else self._number()
        arguments = {name: self._argument(letter) for name, letter in function.parameters}
        failed = function.result == "i" and result != 0
        message = self._text() if failed else None
        return Call(number, function.name, thread, begin, duration, result, arguments,
                    dict(function.parameters), failed, message)  # fmt: skip

    def _argument(self, spec: str) -> Value:
        letter = spec[0]
        if letter == "s":
            return self._text()
        if letter == "S":
            length = self._number()
            return self._bytes(8) if length else (self._bytes(8), None)[1]
        if letter in "df":
            return float(struct.unpack("<d", self._bytes(8))[0])
        if letter == "l":
            return self._array(spec[1:])
        if letter in "vno":
            length = self._number()
            return None if length == 0 else self._bytes(length - 1)
        return self._signed() if letter in "bciqy" else self._number()

    def _array(self, spec: str) -> bytes | tuple[int, ...] | None:
        count, size = self._number(), int(spec.lstrip("=").partition(",")[0])
        if count == 0:
            return None
        if size != 8:  # noqa: PLR2004  # what is no 64-bit integer is kept as bytes
            return self._bytes((count - 1) * size)
        mask = _HANDLE if spec[0] == "=" else -1
        return tuple(self._signed() & mask for _ in range(count - 1))

    def _contents(self) -> Contents:
        call, parameter, element, phase, full, size = (self._number() for _ in range(6))
        digest = int.from_bytes(self._bytes(8), "little")
        return Contents(call, parameter, element, phase, size, digest,
                        self._bytes(size) if full else None)  # fmt: skip
