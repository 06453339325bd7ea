# SPDX-License-Identifier: Apache-2.0
"""Reader of traces: blocks, records, and the calls in them, one after the other.

A file is the line ``pyaclnn trace 3`` and blocks. A block has a head of 20 bytes (``BLKz`` if zlib
has compressed it, else ``BLK-``; its length, 8 bytes; the stored length and its CRC-32, 4 bytes
each; little-endian) and what is stored: an array in MessagePack, of arrays that begin with a
number:

    1  call: function, number, thread, begin and duration in ns, result, arguments, message of a
       failure
    2  function: number in this file, name, parameters (functions.py has the letters), letter of the
       result
    3  contents: call, place of the parameter, element, 0 before or 1 after the call or 2 of the
       host, bytes, hash, name of the parameter, the contents if in full, and how they lie:
       aclDataType, shape, strides in elements, address
    4  process: its number, policy of contents, seconds since 1970
    5  function that is not recorded: its name, number of calls
    6  end: the signal that ended the process, or 0; the errno that ended the recording, or 0
    7  contents that are not recorded: call, place, element and time as in 3, name of the parameter,
       reason. Tensors that have no element, and those of operators that a graph captures, have none
    8  call that has not returned when the process ended, or for a second: number, name of its
       function, thread, begin in ns; a record 1 of the same number says that it has returned later
    9  chip: its name, as CANN has it

Texts of the program are bytes, and NULL is nil.
"""

from __future__ import annotations

import functools
import os
import struct
import zlib
from typing import IO, TYPE_CHECKING, Annotated, Final, NamedTuple, TypeAlias

import msgspec

from pyaclnn.base.files import open_file
from pyaclnn.base.printable import harmless
from pyaclnn.capture.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "Absent",
    "Call",
    "Chip",
    "Contents",
    "Ended",
    "Process",
    "Record",
    "TraceError",
    "Unrecorded",
    "Unreturned",
    "Value",
    "bytes_of",
    "incomplete",
    "read_trace",
    "traces_of",
]

MAGIC: Final = b"pyaclnn trace 3\n"
_HEAD: Final = struct.Struct("<4sQII")
_LARGEST: Final = 1 << 40
_LARGEST_BLOCK: Final = 1 << 32

Value: TypeAlias = "int | float | str | bytes | tuple[int, ...] | None"
"""An argument: a number, a text, a structure or elements that are no numbers, numbers."""


class TraceError(ValueError):
    """A file that is no trace, or one that is damaged."""


_Text: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[ -~]*\Z")]
"""A text of the recorder: a terminal that shows it obeys nothing in it, whoever wrote the file."""


class _Function(msgspec.Struct, array_like=True, tag=2):
    number: int
    name: _Text
    spec: _Text
    result: str


class _Call(msgspec.Struct, array_like=True, tag=1):
    function: int
    number: int
    thread: int
    begin: int
    duration: int
    result: int | bytes | None
    arguments: tuple[int | float | bytes | tuple[int, ...] | None, ...]
    message: bytes | None


class Call(NamedTuple):
    """A recorded call.

    Attributes:
        number: Its number in the process, in the order in which calls began.
        name: The C name of its function.
        thread: The number of its thread, from 1 on.
        begin: When it began, in nanoseconds.
        duration: Duration in nanoseconds.
        result: The status, the address, the number or the text that it returned.
        arguments: The C name of each parameter -> its value; of one through which it answers, the
            answer in bytes.
        letters: The letter of each parameter, as in `pyaclnn.capture.functions`.
        failed: True if the result is a status other than 0.
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


class Contents(msgspec.Struct, array_like=True, tag=3, frozen=True):
    """Contents of a tensor, or of memory of the host.

    Attributes:
        call: The number of the call.
        place: The place of the parameter; in a graph, that among the tensors of its operators.
        element: The place in its list.
        phase: 0 before the call, 1 after it, 2 in the memory of the host.
        size: In bytes.
        hash: As `pyaclnn.capture.library.content_hash` returns it.
        name: The C name of the parameter; in a graph, behind that of its operator.
        data: The contents, if they were recorded.
        acl_type: Their ``aclDataType``, or -1.
        shape: Their shape.
        strides: Strides in elements.
        begin: Where they lie, in the traced program.
    """

    call: int
    place: int
    element: int
    phase: int
    size: int
    hash: int
    name: _Text
    data: bytes | None
    acl_type: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    begin: int

    @property
    def tensor(self) -> Tensor:
        """The layout of their tensor."""
        return Tensor(self.acl_type, self.shape, self.strides, self.begin)

    @property
    def argument(self) -> str:
        """The name of the parameter, with the place in its list."""
        return self.name + (f"[{self.element}]" if self.element else "")


class Process(msgspec.Struct, array_like=True, tag=4, frozen=True):
    """The recorded process: its number, policy of contents, and when it began."""

    number: int
    contents: int
    time: int


class Unrecorded(msgspec.Struct, array_like=True, tag=5, frozen=True):
    """A function that was passed on without a record, and how often it was called."""

    name: _Text
    calls: int


class Ended(msgspec.Struct, array_like=True, tag=6, frozen=True):
    """The end of a trace: the signal of the process, or 0; the ``errno`` of the recorder, or 0."""

    signal: int
    error: int = 0


class Absent(msgspec.Struct, array_like=True, tag=7, frozen=True):
    """Contents that are not recorded: of which operand, as in `Contents`, and the reason."""

    call: int
    place: int
    element: int
    phase: int
    name: _Text
    reason: _Text


class Unreturned(msgspec.Struct, array_like=True, tag=8, frozen=True):
    """A call that had not returned: its number, function and thread, and when it began, in ns."""

    number: int
    name: _Text
    thread: int
    begin: int


class Chip(msgspec.Struct, array_like=True, tag=9, frozen=True):
    """The chip of the program, by the name that CANN has for it."""

    name: _Text


Record: TypeAlias = "Call | Contents | Process | Unrecorded | Ended | Absent | Unreturned | Chip"
_DECODER: Final = msgspec.msgpack.Decoder(
    list[_Call | _Function | Contents | Process | Unrecorded | Ended | Absent | Unreturned | Chip]
)


def traces_of(path: Path) -> list[Path]:
    """Return the files of all processes of a captured program, that of the first one first."""
    rest = sorted(p for p in path.parent.glob(f"{path.name}.*") if p.suffix[1:].isdigit())
    return [path, *rest]


def incomplete(end: Ended | None) -> str:
    """Return why a trace with this end, or without one, lacks calls; empty if it lacks none."""
    if end is None:
        return "the process was killed or still runs, or its disk was full"
    return f"the recording ended with {os.strerror(end.error)!r}" if end.error else ""


def bytes_of(path: Path) -> int:
    """Return the length of a file, which may grow: all who read it shall read as many bytes."""
    try:
        return path.stat().st_size
    except OSError:
        return 0  # who reads it reports that


def read_trace(path: str | os.PathLike[str], until: int = _LARGEST) -> Iterator[Record]:
    """Read the trace of a process, a block at a time.

    The end of a file in the middle of a block ends the trace: the process was killed. So do zeros
    in place of a block: the machine went down.

    Args:
        path: The file.
        until: The number of bytes to read at most, as far as blocks are whole.

    Raises:
        TraceError: It cannot be read, is no trace, or a block is damaged.
    """
    functions: dict[int, _Function] = {}
    try:
        with open_file(path, "a trace", most=_LARGEST) as file:
            for block in _blocks(file, until):
                for record in _DECODER.decode(block):
                    if isinstance(record, _Function):
                        functions[record.number] = record
                    elif isinstance(record, _Call):
                        yield _call(record, functions[record.function])
                    else:
                        yield record
    except OSError as error:
        raise TraceError(f"{os.fspath(path)!r}: {error.strerror or error}") from error
    except (msgspec.MsgspecError, KeyError, zlib.error) as error:
        raise TraceError(f"{os.fspath(path)!r}: a block is damaged") from error
    except TraceError as error:
        raise TraceError(f"{os.fspath(path)!r}: {error}") from error


def _blocks(file: IO[bytes], until: int) -> Iterator[bytes]:
    line = file.read(len(MAGIC))
    if not MAGIC.startswith(line):
        text = MAGIC.decode().rstrip()
        message = f"it does not begin with the line '{text}', as files of 'pyaclnn capture' do"
        raise TraceError(f"no trace of this version: {message}")
    place = len(line)  # less if the process was killed as it began
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        if not any(head):
            return  # the machine went down: the disk has the length of the file, and zeros
        kind, length, stored, check = _HEAD.unpack(head)
        if kind not in {b"BLKz", b"BLK-"} or length > _LARGEST_BLOCK:
            raise TraceError(f"no block begins at byte {place}")
        data = file.read(stored)
        if len(data) < stored or place + _HEAD.size + stored > until:
            return  # the process was killed, or still runs
        if zlib.crc32(data) != check:
            rest = f"'head -c {place} FILE' has the calls before it"
            raise TraceError(f"the block at byte {place} is damaged; {rest}")
        if kind == b"BLKz":
            data = zlib.decompressobj().decompress(data, length)
        yield data
        place += _HEAD.size + stored


def _text(data: Value) -> Value:
    return data.decode(errors="replace") if isinstance(data, bytes) else data


@functools.cache
def _letters(spec: str) -> dict[str, str]:
    """Return the letter of each parameter, by its name; those of a function share one mapping."""
    pairs = [text.partition(":") for text in spec.split(" ") if text]
    return {parameter: letter for letter, _, parameter in pairs}


def _call(record: _Call, function: _Function) -> Call:
    letters = _letters(function.spec)
    given = zip(letters.items(), record.arguments, strict=False)
    arguments = {name: _text(value) if letter == "s" else value for (name, letter), value in given}
    failed = function.result == "i" and record.result != 0
    message = None if record.message is None else harmless(record.message.decode(errors="replace"))
    return Call(record.number, function.name, record.thread, record.begin, record.duration,
                _text(record.result), arguments, letters, failed, message)  # fmt: skip
