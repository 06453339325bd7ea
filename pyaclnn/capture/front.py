# SPDX-License-Identifier: Apache-2.0
"""Libraries with CANN's names that lead every call to the recorder, written without a compiler.

Each has the functions of the library behind it, of whatever release, a few instructions each. It
needs that library by its path, so that data, and what comes later, are found there.

Source of the layout: System V ABI, object files and dynamic linking; ELF for the Arm 64-bit
Architecture.
"""

from __future__ import annotations

import itertools
import struct
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Front", "write_front"]

_PAGE: Final = 0x10000  # the largest page that either processor has
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_ENTRY: Final = "capture_entry"
"""The recorder's function, whose address the loader writes into a slot."""
_UNKNOWN: Final = 1 << 31
"""Mark in the number of a function that is not recorded."""
_MACHINES: Final = {"x86_64": (62, 6), "aarch64": (183, 1025)}
"""Machine -> its number, and that of the relocation of an address."""
_STUB: Final = 16


class Front(NamedTuple):
    """A library to be written.

    Attributes:
        soname: Its soname, that of the library behind it.
        real: The path of the library behind it.
        recorder: That of the recorder.
        table: That of the recorder's table of functions.
        first: The number of its first function there.
        functions: The names of its functions, in that order.
        unknown: Which of them are not recorded.
        machine: The processor, as ``platform.machine()`` names it.
    """

    soname: str
    real: str
    recorder: str
    table: str
    first: int
    functions: Sequence[str]
    unknown: frozenset[str]
    machine: str


def write_front(front: Front) -> bytes:
    """Write a library.

    Raises:
        ValueError: The processor is not known.
    """
    if front.machine not in _MACHINES:
        known = " or ".join(_MACHINES)
        raise ValueError(f"machine is {front.machine!r}, it must be {known}")
    number, relocation = _MACHINES[front.machine]
    names = [_ENTRY, *front.functions]
    texts = [text.encode() + b"\0" for text in (*names, front.recorder, front.real, front.soname)]
    *offsets, recorder, real, soname, end = itertools.accumulate(map(len, texts), initial=1)
    paths = [path.encode() + b"\0" for path in (front.table, front.real)]
    places = (24, 24 + len(paths[0]))
    described = struct.pack("<qqII", *places, front.first, len(front.functions)) + b"".join(paths)
    # Read-only: header, then these, of which some follow from where the code is.
    image = bytearray(64 + 56 * 5)
    strings_at = _add(image, b"\0" + b"".join(texts))
    hash_at = _add(image, _hash_table(names))
    symbols_at = _add(image, bytes(_SYMBOL.size * (len(names) + 1)))
    relocations_at = _add(image, bytes(24))
    described_at = _add(image, described)
    head_size = len(image)
    code_at = -(-head_size // _PAGE) * _PAGE
    slot_at = -(-(code_at + _STUB * len(front.functions) + 32) // _PAGE) * _PAGE
    dynamic_at = slot_at + 8
    numbers = [number | _UNKNOWN * (name in front.unknown)
               for number, name in enumerate(front.functions, front.first)]  # fmt: skip
    code = (_x86 if front.machine == "x86_64" else _arm)(numbers, code_at, described_at, slot_at)

    entries = [
        (1, recorder),
        (1, real),
        (14, soname),
        (4, hash_at),
        (5, strings_at),
        (6, symbols_at),
        (10, end),
        (11, _SYMBOL.size),
        (7, relocations_at),
        (8, 24),
        (9, 24),
        (0, 0),
    ]
    dynamic = b"".join(struct.pack("<qQ", tag, value) for tag, value in entries)
    entry, *own = offsets[: len(names)]
    symbols = _SYMBOL.pack(0, 0, 0, 0, 0, 0) + _SYMBOL.pack(entry, 0x12, 0, 0, 0, 0)
    _put(image, symbols_at, symbols + b"".join(
        _SYMBOL.pack(offset, 0x12, 0, 1, code_at + _STUB * place, _STUB)
        for place, offset in enumerate(own)
    ))  # fmt: skip
    _put(image, relocations_at, struct.pack("<QQq", slot_at, 1 << 32 | relocation, 0))
    image += bytes(slot_at - head_size)
    _put(image, code_at, code)
    image += bytes(8) + dynamic
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, number, 1, 0, 64, 0, 0,
                         64, 56, 5, 64, 0, 0)  # fmt: skip
    segments = [
        (1, 4, 0, head_size, _PAGE),
        (1, 5, code_at, len(code), _PAGE),
        (1, 6, slot_at, 8 + len(dynamic), _PAGE),
        (2, 6, dynamic_at, len(dynamic), 8),
        (0x6474E551, 6, 0, 0, 16),  # the stack is not executable
    ]
    packed = b"".join(
        struct.pack("<IIQQQQQQ", kind, flags, place, place, place, length, length, align)
        for kind, flags, place, length, align in segments
    )
    _put(image, 0, header + packed)
    return bytes(image)


def _add(image: bytearray, data: bytes) -> int:
    """Add a part, and return where it is."""
    image += bytes(-len(image) % 8)
    place = len(image)
    image += data
    return place


def _put(image: bytearray, place: int, data: bytes) -> None:
    image[place : place + len(data)] = data


def _hash_table(names: Sequence[str]) -> bytes:
    """Write the table by which the loader finds symbols, DT_HASH."""
    buckets = [0] * max(1, len(names) // 2)
    chains = [0] * (len(names) + 1)
    for index, name in enumerate(names, 1):
        place = _hash(name) % len(buckets)
        chains[index], buckets[place] = buckets[place], index
    numbers = (len(buckets), len(chains), *buckets, *chains)
    return struct.pack(f"<{len(numbers)}I", *numbers)


def _hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def _x86(numbers: Sequence[int], code_at: int, described: int, slot: int) -> bytes:
    """Write the functions (endbr64; mov r11d, number; jmp) and their way to the recorder.

    That is: lea r10, description; jmp *slot.
    """
    jump, code = _STUB * len(numbers), bytearray()
    for number in numbers:
        distance = jump - len(code) - 15
        code += struct.pack("<4sHIBix", b"\xf3\x0f\x1e\xfa", 0xBB41, number, 0xE9, distance)
    here = code_at + jump
    places = (described - here - 7, slot - here - 13)
    return bytes(code) + struct.pack("<3siHi", b"\x4c\x8d\x15", places[0], 0x25FF, places[1])


def _arm(numbers: Sequence[int], code_at: int, described: int, slot: int) -> bytes:
    """Write the functions (bti c; movz, movk w16, number; b) and their way to the recorder.

    That is: adrp, add x9, description; adrp, ldr x17, slot; br x17.
    """

    def page(register: int, target: int) -> int:
        pages = (target >> 12) - (code_at + jump >> 12)
        return 0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5 | register

    jump, words = _STUB * len(numbers), []
    for place, number in enumerate(numbers):
        branch = 0x14000000 | (jump - _STUB * place - 12 >> 2 & 0x3FFFFFF)
        halves = (0x52800010 | (number & 0xFFFF) << 5, 0x72A00010 | number >> 16 << 5)
        words += [0xD503245F, *halves, branch]
    words += [page(9, described), 0x91000129 | (described & 0xFFF) << 10]
    words += [page(17, slot), 0xF9400231 | (slot & 0xFFF) >> 3 << 10, 0xD61F0220]
    return struct.pack(f"<{len(words)}I", *words)
