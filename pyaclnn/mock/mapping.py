# SPDX-License-Identifier: Apache-2.0
"""The memory file of a device in the address space of its process: whole, or in pieces.

A device has tens of gigabytes, and the file is sparse: mapping it costs address space and nothing
else. Where there is not enough of that (a limit, an emulated processor), what is looked at is
mapped, and of that what was looked at last.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections import OrderedDict

__all__ = ["MappedFile"]

_PIECE = 64 << 20
_MOST_PIECES = 16


class MappedFile:
    """The memory file of a device.

    Args:
        descriptor: Its file descriptor; it stays the caller's.
        size: Bytes to map; the file may be sparse but must be that long.

    Raises:
        ValueError: The file is shorter than ``size``.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        self._size, self._piece = size, _PIECE
        self._pieces: OrderedDict[tuple[int, int], mmap.mmap] = OrderedDict()
        self._whole: mmap.mmap | None = None
        try:
            self._whole = mmap.mmap(descriptor, size)
        except OSError as error:
            if error.errno != errno.ENOMEM:
                raise
        self._descriptor = -1 if self._whole else os.dup(descriptor)

    def region(self, low: int, high: int) -> tuple[mmap.mmap, int]:
        """Map a part of the file.

        Args:
            low: Its first byte.
            high: The byte behind its last.

        Returns:
            What is mapped, and the byte of the file with which that begins.

        Raises:
            MemoryError: There is no room for so much.
        """
        if self._whole is not None:
            return self._whole, 0
        start = low - low % self._piece
        length = min(high + -high % self._piece, self._size) - start
        piece = self._pieces.get((start, length))
        if piece is None:
            try:
                piece = mmap.mmap(self._descriptor, length, offset=start)
            except OSError as error:
                raise MemoryError(
                    f"the device process cannot map {length} bytes ({error.strerror}): a limit on "
                    "its address space (ulimit -v) or on memory (a container's) is too low"
                ) from error
            self._pieces[start, length] = piece
            if len(self._pieces) > _MOST_PIECES:
                # Arrays that lie in it keep it mapped until they go.
                self._pieces.popitem(last=False)
        self._pieces.move_to_end((start, length))
        return piece, start

    def close(self) -> None:
        """Unmap the file; arrays that are still alive keep their part mapped until they go."""
        for mapped in (self._whole, *self._pieces.values()):
            if mapped is not None:
                try:
                    mapped.close()
                except BufferError:
                    continue
        self._pieces.clear()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
