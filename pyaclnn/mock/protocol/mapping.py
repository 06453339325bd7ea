# SPDX-License-Identifier: Apache-2.0
"""Mapping of a device's memory file in its process: whole, or by ranges.

Ranges that a program has mapped to reserved addresses are mapped here in the same order.

A device has tens of gigabytes, and the file is sparse: mapping it costs address space and nothing
else. Where there is not enough of that (a limit, an emulated processor), what is looked at is
mapped, and of that what was looked at last.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import mmap
import os
from collections import OrderedDict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["JoinedRanges", "MappedFile", "MappedRange", "adjoining", "open_shared"]

_WINDOW = 64 << 20
_MAX_WINDOWS = 16
_MAP_FIXED = 0x10
_NO_ADDRESS = ctypes.c_void_p(-1).value


class MappedRange(NamedTuple):
    """A range of memory that the host has mapped to an address.

    Attributes:
        address: Its device address.
        size: Its bytes.
        offset: Its offset in its file.
        source: The number of the file; 0 for the device's own memory.
        process: The process that has the file open, if it is another one.
        descriptor: The descriptor of the file in that process.
    """

    address: int
    size: int
    offset: int
    source: int = 0
    process: int = 0
    descriptor: int = 0


def adjoining(mapped: Sequence[MappedRange], low: int, high: int) -> tuple[MappedRange, ...]:
    """Find the mapped ranges that hold a range of addresses, none missing; empty if one is.

    Args:
        mapped: In the order of their addresses.
        low: The range's first address.
        high: The address behind its last.
    """
    run = tuple(p for p in mapped if p.address < high and low < p.address + p.size)
    if not run or run[0].address > low or run[-1].address + run[-1].size < high:
        return ()
    gaps = (one.address + one.size != other.address for one, other in pairwise(run))
    return () if any(gaps) else run


def open_shared(process: int, descriptor: int) -> int:
    """Open a file that another process has open.

    Args:
        process: The number of the process.
        descriptor: The file descriptor there.

    Returns:
        A file descriptor here.

    Raises:
        OSError: The process or its file is gone.
    """
    return os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDWR | os.O_CLOEXEC)


class JoinedRanges:
    """Mapped ranges of memory, contiguous like their addresses.

    Args:
        descriptor: File descriptor of the device's memory file; it stays the caller's.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._runs: OrderedDict[tuple[MappedRange, ...], mmap.mmap] = OrderedDict()

    def region(self, run: tuple[MappedRange, ...]) -> mmap.mmap:
        """Map mapped ranges that adjoin each other.

        Args:
            run: The mapped ranges, in the order of their addresses.

        Returns:
            The mapping, from the first byte of the first part on.

        Raises:
            OSError: A file is gone, or there is no room for so much.
        """
        joined = self._runs.get(run)
        if joined is None:
            joined = mmap.mmap(-1, run[-1].address + run[-1].size - run[0].address)
            for part in run:
                self._lay(joined, part, part.address - run[0].address)
            self._runs[run] = joined
            if len(self._runs) > _MAX_WINDOWS:
                # Arrays that lie in it keep it mapped until they go.
                self._runs.popitem(last=False)
        self._runs.move_to_end(run)
        return joined

    def _lay(self, joined: mmap.mmap, part: MappedRange, at: int) -> None:
        """Put a part of a file in the place of a part of what is mapped."""
        place = ctypes.addressof(ctypes.c_char.from_buffer(joined, at))
        descriptor = self._descriptor
        if part.source:
            descriptor = open_shared(part.process, part.descriptor)
        try:
            found = _system_mmap()(
                place,
                part.size,
                mmap.PROT_READ | mmap.PROT_WRITE,
                mmap.MAP_SHARED | _MAP_FIXED,
                descriptor,
                part.offset,
            )
        finally:
            if part.source:
                os.close(descriptor)
        if found == _NO_ADDRESS:
            error = ctypes.get_errno()
            raise OSError(error, f"{part.size} bytes cannot be mapped: {os.strerror(error)}")

    def close(self) -> None:
        """Unmap everything; arrays that are still alive keep their part mapped until they go."""
        self._runs.clear()


@functools.cache
def _system_mmap() -> ctypes._NamedFuncPointer:
    """The C library's ``mmap``, which Python's cannot stand in for: it takes an address."""
    function = ctypes.CDLL(None, use_errno=True).mmap
    function.restype = ctypes.c_void_p
    function.argtypes = (
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_long,
    )
    return function


class MappedFile:
    """The memory file of a device.

    Args:
        descriptor: Its file descriptor; it stays the caller's.
        size: Bytes to map; the file may be sparse but must be that long.

    Raises:
        ValueError: The file is shorter than ``size``.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        self._size, self._window = size, _WINDOW
        self._windows: OrderedDict[tuple[int, int], mmap.mmap] = OrderedDict()
        self._whole: mmap.mmap | None = None
        try:
            self._whole = mmap.mmap(descriptor, size)
        except OSError as error:
            if error.errno != errno.ENOMEM:
                raise
        self._descriptor = -1 if self._whole else os.dup(descriptor)

    @property
    def is_whole(self) -> bool:
        """True if the whole file is mapped, and stays so until `close`."""
        return self._whole is not None

    def region(self, low: int, high: int) -> tuple[mmap.mmap, int]:
        """Map a part of the file.

        Args:
            low: Its first byte.
            high: The byte behind its last.

        Returns:
            The mapping, and the byte of the file with which that begins.

        Raises:
            MemoryError: There is no room for so much.
        """
        if self._whole is not None:
            return self._whole, 0
        start = low - low % self._window
        length = min(high + -high % self._window, self._size) - start
        window = self._windows.get((start, length))
        if window is None:
            try:
                window = mmap.mmap(self._descriptor, length, offset=start)
            except OSError as error:
                raise MemoryError(
                    f"the device process cannot map {length} bytes ({error.strerror}): a limit on "
                    "its address space (ulimit -v) or on memory (a container's) is too low"
                ) from error
            self._windows[start, length] = window
            if len(self._windows) > _MAX_WINDOWS:
                # Arrays that lie in it keep it mapped until they go.
                self._windows.popitem(last=False)
        self._windows.move_to_end((start, length))
        return window, start

    def close(self) -> bool:
        """Unmap the file; arrays that are still alive keep their part mapped until they go.

        Returns:
            True if there are none.
        """
        is_unused = True
        for mapped in (self._whole, *self._windows.values()):
            if mapped is not None:
                try:
                    mapped.close()
                except BufferError:
                    is_unused = False
        self._windows.clear()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        return is_unused
