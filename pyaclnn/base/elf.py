# SPDX-License-Identifier: Apache-2.0
"""Reader of ELF shared libraries: soname, dependencies and exported symbols, without loading.

It reads 64-bit little-endian libraries of any processor.

Source of the layout: System V ABI, object files and dynamic linking.
"""

from __future__ import annotations

import mmap
import os
import platform
import struct
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "LARGEST",
    "ElfError",
    "SharedLibrary",
    "check_whole",
    "exported_symbols",
    "fault_of_library",
    "interpreter",
    "needed_libraries",
    "read_library",
]

_MACHINES: Final = {62: "x86_64", 183: "aarch64", 243: "riscv64", 258: "loongarch64"}
_PROGRAM, _SHARED = 2, 3
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ = 1, 4, 5, 6, 10
_DT_SONAME, _DT_RPATH, _DT_RUNPATH, _DT_GNU_HASH = 14, 15, 29, 0x6FFFFEF5
_DT_VERDEF, _DT_VERNEED = 0x6FFFFFFC, 0x6FFFFFFE
_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT: Final = struct.Struct("<IIQQQQQQ")
_ENTRY: Final = struct.Struct("<qQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_DEFINED, _DEFINED_NAME = struct.Struct("<HHHHIII"), struct.Struct("<II")
_WANTED, _WANTED_NAME = struct.Struct("<HHIII"), struct.Struct("<IHHII")
_MOST_VERSIONS: Final = 1 << 15
"""Versions of a symbol are numbered in 15 bits."""
_WEAK_VERSION: Final = 2
_SHT_DYNSYM: Final = 11
LARGEST: Final = 4 << 30
"""The limit of a library's size in bytes."""
_GLOBAL_OR_WEAK: Final = {1, 2, 10}
_VISIBLE: Final = {0, 3}
_FUNCTIONS: Final = {2, 10}


class ElfError(ValueError):
    """The file is not a usable shared library; the message gives the reason."""


class OtherProcessorError(ElfError):
    """A library is for another processor: the loader passes it over and looks for the next."""


@dataclass(frozen=True)
class SharedLibrary:
    """Contents of a library's dynamic section.

    Attributes:
        path: The file.
        machine: Its processor, as ``platform.machine()`` names it.
        soname: Its own name, or an empty string.
        needed: The names of the libraries it needs, in order.
        rpath: DT_RPATH, split; searched before LD_LIBRARY_PATH unless there is a runpath.
        runpath: DT_RUNPATH, split; searched after it.
        exports: The names of the functions and data it defines for others.
        functions: Those of the functions alone.
        wants: Pairs of a library that it needs, and a version that this one must define: the loader
            refuses the library otherwise.
        versions: The versions that it defines itself.
    """

    path: Path
    machine: str
    soname: str
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]
    exports: frozenset[str]
    functions: frozenset[str] = frozenset()
    wants: tuple[tuple[str, str], ...] = ()
    versions: frozenset[str] = frozenset()


def read_library(path: Path, *, machine: str | None = None, program: bool = False) -> SharedLibrary:
    """Read a shared library's dynamic section and symbols.

    Args:
        path: The file.
        machine: The required processor, as ``platform.machine()`` names it; any if None.
        program: True if a program is accepted as well, which is no library where it has a fixed
            address.

    Raises:
        ElfError: It is not a 64-bit shared library of that processor, or it is damaged.
        OSError: It cannot be read.
    """
    with _mapped(path, "a library") as image:
        return _Reader(image, machine, program=program).library(path)


def fault_of_library(path: Path) -> str:
    """Return the reason why no loader loads a file here, whatever it needs; empty if there is none.

    Args:
        path: The file.
    """
    try:
        read_library(path, machine=platform.machine())
    except ElfError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
    return ""


@contextmanager
def _mapped(path: Path, what: str) -> Iterator[mmap.mmap]:
    """Map a file while it is read; what is out of place in it is an ElfError."""
    # The build runs this module alone, for functions that open no file.
    from pyaclnn.base.files import FileRefusedError, open_file  # noqa: PLC0415

    try:
        opened = open_file(path, what, most=LARGEST)
    except (FileRefusedError, IsADirectoryError) as error:
        raise ElfError(error.strerror) from None
    with opened as file:
        try:
            image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise ElfError("the file is empty") from None
        with image:
            try:
                yield image
            except ElfError:
                raise
            except (struct.error, LookupError, OverflowError, ValueError):
                raise ElfError("the file is damaged or cut short") from None


def check_whole(file: IO[bytes]) -> str:
    """Check that an ELF file of any kind has all that its header counts.

    Args:
        file: The open file.

    Returns:
        Its processor, as ``platform.machine()`` names it.

    Raises:
        ElfError: It is no ELF file, or it is damaged.
    """
    head, size = file.read(_HEADER.size), file.seek(0, os.SEEK_END)
    if head[:4] != b"\x7fELF" or len(head) < _HEADER.size:
        raise ElfError("the file is no ELF file" if size else "the file is empty")
    fields = _HEADER.unpack(head)
    begin, each, count, names = fields[6], fields[11], fields[12], fields[13]
    if begin + each * count > size:
        raise ElfError("the file is cut short")
    file.seek(begin + each * names)
    if count and not any(file.read(each)):
        raise ElfError("the file has zeros in the place of its sections")
    return _machine_name(fields[2])


def _machine_name(number: int) -> str:
    return _MACHINES.get(number, f"machine {number}")


def interpreter(path: Path) -> str | None:
    """Return the loader that an ELF program asks for; None if it is linked statically.

    Raises:
        ElfError: It is no 64-bit ELF file.
        OSError: It cannot be read.
    """
    with _mapped(path, "a program") as image:
        if image[:6] != b"\x7fELF\x02\x01":
            raise ElfError("the file is no 64-bit ELF file")
        for kind, _, offset, _, _, size, _, _ in _segments(image):
            if kind == _PT_INTERP:
                return image[offset : offset + size].rstrip(b"\0").decode(errors="replace")
    return None


def _segments(image: mmap.mmap | bytes | bytearray) -> list[tuple[int, ...]]:
    header = _HEADER.unpack_from(image, 0)
    return [_SEGMENT.unpack_from(image, header[5] + i * header[9]) for i in range(header[10])]


def exported_symbols(image: bytes | bytearray) -> Iterator[tuple[int, str]]:
    """Iterate over the exported symbols of a shared library.

    Args:
        image: The whole file.

    Yields:
        The file offset of the symbol's entry in bytes, and its name.

    Raises:
        ElfError: It is no 64-bit shared library.
    """
    return _Reader(image).exports()


def needed_libraries(image: bytes | bytearray) -> Iterator[tuple[int, str]]:
    """Iterate over the dependencies of a shared library.

    Args:
        image: The whole file.

    Yields:
        The file offset of the DT_NEEDED entry in bytes, and the soname of the dependency.

    Raises:
        ElfError: It is no 64-bit shared library.
    """
    return _Reader(image).needed()


class _Reader:
    def __init__(
        self,
        image: mmap.mmap | bytes | bytearray,
        wanted: str | None = None,
        *,
        program: bool = False,
    ) -> None:
        self.image = image
        if image[:4] != b"\x7fELF":
            raise ElfError("the file is no ELF library")
        if image[4:6] != b"\x02\x01":
            raise OtherProcessorError("the library is not a 64-bit little-endian one")
        header = _HEADER.unpack_from(image, 0)
        self.machine = _machine_name(header[2])
        if wanted not in {None, self.machine}:
            text = f"the library is for {self.machine}, this machine is {wanted}"
            raise OtherProcessorError(text)
        if header[1] != _SHARED and not (program and header[1] == _PROGRAM):
            raise ElfError("the file is an ELF file, but no shared library")
        self.segments = _segments(image)
        self.sections = (header[6], header[11], header[12])
        if any(
            kind == _PT_LOAD and offset + size > len(image)
            for kind, _, offset, _, _, size, _, _ in self.segments
        ):
            raise ElfError("the file is cut short")

        self.entries = list(self._dynamic())
        self.values = {tag: content for _, tag, content in self.entries}
        if _DT_STRTAB not in self.values:
            raise ElfError("the library has no dynamic section")
        strings = self._offset(self.values[_DT_STRTAB])
        self.strings = bytes(image[strings : strings + self.values.get(_DT_STRSZ, 0)])

    def library(self, path: Path) -> SharedLibrary:
        def text(tag: int) -> str:
            return self._string(self.values[tag]) if tag in self.values else ""

        def paths(tag: int) -> tuple[str, ...]:
            return tuple(filter(None, text(tag).split(":")))

        exported = list(self.exports())
        return SharedLibrary(
            path,
            self.machine,
            text(_DT_SONAME),
            tuple(name for _, name in self.needed()),
            paths(_DT_RPATH),
            paths(_DT_RUNPATH),
            frozenset(name for _, name in exported),
            frozenset(name for place, name in exported if self.image[place + 4] & 15 in _FUNCTIONS),
            tuple(self._wants()),
            frozenset(self._versions()),
        )

    def _dynamic(self) -> Iterator[tuple[int, int, int]]:
        """Yield the entries of the dynamic section: file offset, tag, content."""
        for kind, _, offset, _, _, size, _, _ in self.segments:
            if kind == _PT_DYNAMIC:
                section = self.image[offset : offset + size // _ENTRY.size * _ENTRY.size]
                for index, (tag, content) in enumerate(_ENTRY.iter_unpack(section)):
                    if tag:
                        yield offset + index * _ENTRY.size, tag, content
                return

    def needed(self) -> Iterator[tuple[int, str]]:
        """Yield the dependencies with the file offset of each entry."""
        for place, tag, text in self.entries:
            if tag == _DT_NEEDED:
                yield place, self._string(text)

    def _wants(self) -> Iterator[tuple[str, str]]:
        """Yield the libraries of which it wants versions, with each version."""
        for place, (_, _, library, first, _) in self._table(_DT_VERNEED, _WANTED):
            for _, (_, flags, _, version, _) in self._chain(place + first, _WANTED_NAME):
                if not flags & _WEAK_VERSION:
                    yield self._string(library), self._string(version)

    def _versions(self) -> Iterator[str]:
        """Yield the versions that it defines."""
        for place, (*_, first, _) in self._table(_DT_VERDEF, _DEFINED):
            yield self._string(_DEFINED_NAME.unpack_from(self.image, place + first)[0])

    def _table(self, tag: int, record: struct.Struct) -> Iterator[tuple[int, tuple[int, ...]]]:
        if tag in self.values:
            yield from self._chain(self._offset(self.values[tag]), record)

    def _chain(self, place: int, record: struct.Struct) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the file offset and the fields of records that end with the way to the next."""
        for _ in range(_MOST_VERSIONS):
            fields = record.unpack_from(self.image, place)
            yield place, fields
            if not fields[-1]:
                return
            place += fields[-1]

    def exports(self) -> Iterator[tuple[int, str]]:
        """Yield the exported symbols with the file offset of each entry."""
        start, size = self._symbol_table()
        table = self.image[start : start + size // _SYMBOL.size * _SYMBOL.size]
        for index, symbol in enumerate(_SYMBOL.iter_unpack(table)):
            name, info, other, section, _, _ = symbol
            if section and info >> 4 in _GLOBAL_OR_WEAK and other & 3 in _VISIBLE:
                yield start + index * _SYMBOL.size, self._string(name)

    def _offset(self, address: int) -> int:
        for kind, _, offset, virtual, _, size, _, _ in self.segments:
            if kind == _PT_LOAD and virtual <= address < virtual + size:
                return int(offset + address - virtual)
        raise ElfError("the library's dynamic section points outside the file")

    def _string(self, offset: int) -> str:
        return self.strings[offset : self.strings.index(b"\0", offset)].decode()

    def _symbol_table(self) -> tuple[int, int]:
        """Return offset and size of the dynamic symbols, from the section headers if present."""
        offset, entry, count = self.sections
        for index in range(count if offset and entry == _SECTION.size else 0):
            section = _SECTION.unpack_from(self.image, offset + index * entry)
            if section[1] == _SHT_DYNSYM:
                return section[4], section[5]
        return self._offset(self.values[_DT_SYMTAB]), self._symbols() * _SYMBOL.size

    def _symbols(self) -> int:
        """Return the number of dynamic symbols, from the hash table of the loader."""
        if _DT_HASH in self.values:
            _, chains = struct.unpack_from("<2I", self.image, self._offset(self.values[_DT_HASH]))
            return int(chains)
        place = self._offset(self.values[_DT_GNU_HASH])
        buckets, first, words, _ = struct.unpack_from("<4I", self.image, place)
        place += 16 + 8 * words
        last = max(struct.unpack_from(f"<{buckets}I", self.image, place), default=0)
        if last < first:
            return int(first)  # none that a loader could find
        place += 4 * buckets
        # The lowest bit marks the end of the last bucket's chain.
        while not struct.unpack_from("<I", self.image, place + 4 * (last - first))[0] & 1:
            last += 1
        return int(last) + 1
