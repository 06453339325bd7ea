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
_OUTER: Final = ("capture_entry", "capture_forward", "capture_front")
"""The recorder's functions, in the order of the slots that hold their addresses."""
_MACHINES: Final = {"x86_64": (62, 6), "aarch64": (183, 1025)}
"""Machine -> its number, and that of the relocation of an address."""
_STUB: Final = 16
_JUMP: Final = 32


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
    names = [*_OUTER, *front.functions]
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
    relocations_at = _add(image, bytes(24 * len(_OUTER)))
    described_at = _add(image, described)
    head_size = len(image)
    code_at = -(-head_size // _PAGE) * _PAGE
    code_size = _STUB * len(front.functions) + 128
    data_at = -(-(code_at + code_size) // _PAGE) * _PAGE
    dynamic_at = data_at + 8 * len(_OUTER) + 8
    code, init_at = _code(front, code_at, data_at, described_at)

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
        (8, 24 * len(_OUTER)),
        (9, 24),
        (12, init_at),
        (0, 0),
    ]
    dynamic = b"".join(struct.pack("<qQ", tag, value) for tag, value in entries)
    symbols = [_SYMBOL.pack(0, 0, 0, 0, 0, 0)]
    symbols += [_SYMBOL.pack(offset, 0x12, 0, 0, 0, 0) for offset in offsets[: len(_OUTER)]]
    symbols += [
        _SYMBOL.pack(offset, 0x12, 0, 1, code_at + _STUB * place, _STUB)
        for place, offset in enumerate(offsets[len(_OUTER) :])
    ]
    image += bytes(data_at - head_size)
    _put(image, symbols_at, b"".join(symbols))
    for place in range(len(_OUTER)):
        entry = struct.pack("<QQq", data_at + 8 * place, (place + 1) << 32 | relocation, 0)
        _put(image, relocations_at + 24 * place, entry)
    _put(image, code_at, code)
    image += bytes(dynamic_at - data_at) + dynamic
    size = len(image) - data_at
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, number, 1, 0, 64, 0, 0,
                         64, 56, 5, 64, 0, 0)  # fmt: skip
    segments = [
        (1, 4, 0, head_size, _PAGE),
        (1, 5, code_at, len(code), _PAGE),
        (1, 6, data_at, size, _PAGE),
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


def _code(front: Front, code_at: int, slots_at: int, described_at: int) -> tuple[bytes, int]:
    """Write the functions, two jumps to the recorder, and the function that is called at loading.

    Returns:
        The code, and the address of that function.
    """
    assembler = _X86 if front.machine == "x86_64" else _Arm
    jumps = code_at + _STUB * len(front.functions)
    code = bytearray()
    for place, name in enumerate(front.functions):
        target = jumps + _JUMP * (name in front.unknown)
        code += assembler.stub(front.first + place, target - (code_at + _STUB * place))
    for slot in range(2):
        here = code_at + len(code)
        code += assembler.jump(here, described_at, slots_at + 8 * slot).ljust(_JUMP, b"\0")
    init_at = code_at + len(code)
    return bytes(code + assembler.begin(init_at, described_at, slots_at + 16)), init_at


class _X86:
    @staticmethod
    def stub(number: int, distance: int) -> bytes:
        """Endbr64; mov r11d, number; jmp target."""
        fields = (b"\xf3\x0f\x1e\xfa", 0xBB41, number, 0xE9, distance - 15)
        return struct.pack("<4sHIBi", *fields) + b"\xcc"

    @staticmethod
    def jump(here: int, described: int, slot: int) -> bytes:
        """Lea r10, description; jmp *slot."""
        address = struct.pack("<i", described - here - 7)
        return b"\x4c\x8d\x15" + address + b"\xff\x25" + struct.pack("<i", slot - here - 13)

    @staticmethod
    def begin(here: int, described: int, slot: int) -> bytes:
        """Endbr64; lea rdi, description; jmp *slot."""
        address = struct.pack("<i", described - here - 11)
        jump = b"\xff\x25" + struct.pack("<i", slot - here - 17)
        return b"\xf3\x0f\x1e\xfa\x48\x8d\x3d" + address + jump


class _Arm:
    @staticmethod
    def move(register: int, number: int) -> bytes:
        """Two instructions: movz, movk."""
        low = 0x52800000 | (number & 0xFFFF) << 5 | register
        return struct.pack("<II", low, 0x72A00000 | number >> 16 << 5 | register)

    @staticmethod
    def page(register: int, here: int, target: int) -> bytes:
        """Adrp."""
        pages = (target >> 12) - (here >> 12)
        return struct.pack(
            "<I", 0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5 | register
        )

    @classmethod
    def stub(cls, number: int, distance: int) -> bytes:
        """Bti c; mov w16, number; b target."""
        branch = 0x14000000 | (distance - 12 >> 2 & 0x3FFFFFF)
        return struct.pack("<I", 0xD503245F) + cls.move(16, number) + struct.pack("<I", branch)

    @classmethod
    def jump(cls, here: int, described: int, slot: int) -> bytes:
        """x9 = description; adrp x17, slot; ldr x17, [x17, slot]; br x17."""
        load = 0xF9400000 | (slot & 0xFFF) >> 3 << 10 | 17 << 5 | 17
        code = cls.address(9, here, described) + cls.page(17, here + 8, slot)
        return code + struct.pack("<II", load, 0xD61F0220)

    @classmethod
    def begin(cls, here: int, described: int, slot: int) -> bytes:
        """Bti c; x0 = description; br slot."""
        code = struct.pack("<I", 0xD503245F) + cls.address(0, here + 4, described)
        return code + cls.jump(here + len(code), described, slot)

    @classmethod
    def address(cls, register: int, here: int, target: int) -> bytes:
        """Adrp, add."""
        add = 0x91000000 | (target & 0xFFF) << 10 | register << 5 | register
        return cls.page(register, here, target) + struct.pack("<I", add)
