# SPDX-License-Identifier: Apache-2.0
"""Device memory: arrays in the shared memory file."""

from __future__ import annotations

import contextlib
import mmap
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.mock.protocol.dtypes import numpy_dtype
from pyaclnn.mock.protocol.mapping import (
    JoinedRanges,
    MappedFile,
    MappedRange,
    adjoining,
    open_shared,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from pyaclnn.mock.protocol.values import Tensor

__all__ = ["WORKSPACE_BEFORE", "WORKSPACE_POISON", "DeviceMemory", "DeviceMemoryError"]

# A NaN in every floating type, and none of the patterns of fresh (0x7FFF) or freed (0xFFFE) memory.
WORKSPACE_POISON = 0x7FFD
# The same before a kernel: whatever else lies there is spoilt before the kernel reads it.
WORKSPACE_BEFORE = 0x7FFC
_WORD = 8
_DENSE = 64 << 10
_MOST_VIEWS = 4096
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE of Linux 5.14
# A cache line less than a page: words at the same place of all pages would share a few lines of the
# processor's caches, and cost seven times as much.
_STEP = mmap.PAGESIZE - 64


class DeviceMemoryError(Exception):
    """A kernel would have read or written outside of the device's memory."""


class DeviceMemory:
    """The memory of one simulated device.

    Args:
        descriptor: File descriptor of the memory file; it stays the caller's.
        base_address: Device address of byte 0 of the file.
        size: Bytes of device memory; the file may be sparse but must be that long.

    Attributes:
        mapped: Mapped ranges, beside the file, that the next calls use.

    Raises:
        ValueError: The file is shorter than ``size``.
    """

    def __init__(self, descriptor: int, base_address: int, size: int) -> None:
        self.base_address = base_address
        self.size = size
        self.mapped: tuple[MappedRange, ...] = ()
        self._file = MappedFile(descriptor, size)
        self._joined = JoinedRanges(descriptor)
        self._views: dict[tuple[Any, ...], NDArray[Any]] = {}
        self._workspaces: dict[tuple[int, int], _Workspace] = {}
        self._rooms: dict[tuple[int, int], mmap.mmap] = {}

    @property
    def is_whole(self) -> bool:
        """True if the whole memory is mapped, so that arrays stay where they are."""
        return self._file.is_whole

    def view(self, name: str, tensor: Tensor) -> NDArray[Any]:
        """Return the array a tensor describes, with its strides; writing writes device memory.

        Args:
            name: The tensor's parameter name, for messages.
            tensor: The descriptor.

        Returns:
            Array of the tensor's shape and data type. Others get the same one: its shape and flags
            may not be changed.

        Raises:
            DeviceMemoryError: Some element lies outside of the device's memory, the address is
                NULL, or a dimension is negative. A tensor without elements never fails.
        """
        return self._array(name, tensor, tensor.strides)

    def dense(self, name: str, tensor: Tensor) -> NDArray[Any]:
        """Return the array at a tensor's first element as if the tensor were contiguous.

        This is what a kernel sees of an output that nobody copies into its strided place.

        Args:
            name: The tensor's parameter name, for messages.
            tensor: The descriptor; its strides are not looked at.

        Returns:
            Array of the tensor's shape and data type.

        Raises:
            DeviceMemoryError: As `view`.
        """
        strides = []
        step = 1
        for dim in reversed(tensor.dims):
            strides.append(step)
            step *= dim
        return self._array(name, tensor, tuple(reversed(strides)))

    def elements(self, address: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return elements in device memory, one after the other; writing writes there.

        Args:
            address: The device address of the first element.
            count: How many.
            dtype: Their type.

        Raises:
            DeviceMemoryError: They do not lie in the device's memory.
        """
        if count == 0:
            return np.empty(0, dtype)
        found = self._region(address, address + count * dtype.itemsize)
        if found is None:
            wanted = f"{count} elements of {dtype} at {address:#x}"
            raise DeviceMemoryError(f"{wanted} are not inside of {self._extent()}")
        array: NDArray[Any] = np.ndarray((count,), dtype, *found)
        return array

    def read(self, process: int, descriptor: int, ranges: Iterable[tuple[int, int, int]]) -> None:
        """Copy bytes of device memory into a file that a process has open.

        Args:
            process: The process.
            descriptor: The descriptor of the file there; it stays open as long as that lives.
            ranges: The address of each copy, its bytes, and their offset in the file.

        Raises:
            DeviceMemoryError: Bytes do not lie in the device's memory, or not in the file.
            OSError: The process or its file is gone.
        """
        if (process, descriptor) not in self._rooms:
            self._rooms = {(process, descriptor): _mapped(process, descriptor)}
        with memoryview(self._rooms[process, descriptor]) as room:
            for address, size, offset in ranges:
                found = self._region(address, address + size)
                if found is None or offset + size > len(room):
                    place = f"{self._extent()}, or {offset:#x} not in {len(room):#x} of a file"
                    raise DeviceMemoryError(f"{size} bytes at {address:#x} are not in {place}")
                mapped, start = found
                with memoryview(mapped) as memory:
                    room[offset : offset + size] = memory[start : start + size]

    def poison(self, address: int, size: int, pattern: int = WORKSPACE_POISON) -> None:
        """Put a pattern into a workspace; by default the one of a used workspace.

        Up to 128 KiB are filled; of more, 64 KiB at both ends and a word in every page between.

        Args:
            address: Device address of the workspace.
            size: Bytes the kernel uses of it.
            pattern: The 16 bits to repeat.

        Raises:
            DeviceMemoryError: The range leaves the device's memory.
        """
        word = pattern * 0x0001_0001_0001_0001
        for words, rest in self._workspace(address, size).parts:
            words.fill(word)
            if rest.size:
                rest[...] = np.frombuffer(word.to_bytes(_WORD, "little"), np.uint8, rest.size)

    def is_apart(self, address: int, size: int, tensors: Iterable[Tensor]) -> bool:
        """Return whether a workspace has no byte of some tensors.

        Raises:
            DeviceMemoryError: The workspace or a tensor leaves the device's memory.
        """
        whole = self._workspace(address, size).whole
        return not any(np.may_share_memory(whole, self.view("x", tensor)) for tensor in tensors)

    def _workspace(self, address: int, size: int) -> _Workspace:
        place = (address, size)
        known = self._workspaces.get(place)
        if known is not None:
            return known
        found = self._region(address, address + size)
        if found is None:
            raise DeviceMemoryError(
                f"the workspace of {size} bytes at {address:#x} is not inside of {self._extent()}"
            )
        made = _Workspace.of(*found, size)
        if self._file.is_whole and 0 <= address - self.base_address < self.size:
            if len(self._workspaces) >= _MOST_VIEWS:
                self._workspaces.clear()
            self._workspaces[place] = made
        return made

    def _region(self, low: int, high: int) -> tuple[mmap.mmap, int] | None:
        """Find a range of addresses: what is mapped, and where in that it begins; or None."""
        start = low - self.base_address
        if start >= 0 and high - self.base_address <= self.size:
            mapped, first = self._file.region(start, high - self.base_address)
            return mapped, start - first
        run = adjoining(self.mapped, low, high)
        if not run:
            return None
        if len(run) == 1 and not run[0].source:  # a stretch of the device's own file
            start = run[0].offset + low - run[0].address
            mapped, first = self._file.region(start, start + high - low)
            return mapped, start - first
        return self._joined.region(run), low - run[0].address

    def close(self) -> bool:
        """Unmap the memory; arrays that are still alive keep it mapped until they go.

        Returns:
            True if there are none.
        """
        self._views.clear()
        self._workspaces.clear()
        self._rooms.clear()
        self._joined.close()
        return self._file.close()

    def _extent(self) -> str:
        return f"the device's memory, {self.base_address:#x} to {self.base_address + self.size:#x}"

    def _array(self, name: str, tensor: Tensor, strides: tuple[int, ...]) -> NDArray[Any]:
        """Find the array of an earlier call, or make it, which takes several times as long.

        Arrays of memory that the host may map elsewhere are not kept.
        """
        place = (tensor.address, tensor.data_type, tensor.dims, strides, tensor.offset)
        found = self._views.get(place)
        if found is None:
            found = self._made(name, tensor, strides)
            if self._file.is_whole and 0 <= tensor.address - self.base_address < self.size:
                if len(self._views) >= _MOST_VIEWS:
                    self._views.clear()
                self._views[place] = found
        return found

    def _made(self, name: str, tensor: Tensor, strides: tuple[int, ...]) -> NDArray[Any]:
        dtype = numpy_dtype(tensor.data_type)
        dims = tensor.dims
        if min(dims, default=0) < 0:
            raise DeviceMemoryError(f"{name} has shape {list(dims)} with a negative dimension")
        if 0 in dims:
            return np.empty(dims, dtype)
        if tensor.address == 0:
            raise DeviceMemoryError(f"{name} has {tensor.size} elements and a NULL address")
        item = dtype.itemsize
        start = tensor.address + tensor.offset * item
        reach = [(dim - 1) * stride * item for dim, stride in zip(dims, strides, strict=True)]
        low = start + sum(step for step in reach if step < 0)
        high = start + sum(step for step in reach if step > 0) + item
        found = self._region(low, high)
        if found is None:
            raise DeviceMemoryError(
                f"{name} with shape {list(dims)}, strides {list(strides)} and offset "
                f"{tensor.offset} spans {low:#x} to {high:#x}, which is not inside of "
                f"{self._extent()}"
            )
        if tensor.size * item > self.size:
            raise DeviceMemoryError(
                f"{name} with shape {list(dims)} has more elements than {self._extent()}, can hold"
            )
        # The stride of a single element may be anything, also what NumPy cannot hold.
        steps = tuple(
            stride * item if dim > 1 else item for dim, stride in zip(dims, strides, strict=True)
        )
        mapped, first = found
        array: NDArray[Any] = np.ndarray(dims, dtype, mapped, start - low + first, steps)
        return array


def _mapped(process: int, descriptor: int) -> mmap.mmap:
    file = open_shared(process, descriptor)
    try:
        return mmap.mmap(file, 0)
    finally:
        os.close(file)


class _Workspace(NamedTuple):
    """A workspace, with the parts of it that poison fills: words, and bytes behind the last one."""

    whole: NDArray[Any]
    parts: list[tuple[NDArray[Any], NDArray[Any]]]

    @classmethod
    def of(cls, mapped: mmap.mmap, start: int, size: int) -> _Workspace:
        whole: NDArray[Any] = np.ndarray((size,), np.uint8, mapped, start)
        if size <= 2 * _DENSE:
            return cls(whole, [_words(mapped, start, size)])
        # Megabytes of poison would cost more than a small kernel does; a word in every page is
        # enough to spoil whatever else lies there.
        with contextlib.suppress(OSError):  # a system that does not know this faults each page in
            page = start // mmap.PAGESIZE * mmap.PAGESIZE
            mapped.madvise(_POPULATE_WRITE, page, start + size - page)
        count = -(-(size - _DENSE) // _STEP)
        spots: NDArray[Any] = np.ndarray((count,), np.uint64, mapped, start, (_STEP,))
        ends = (_words(mapped, at, _DENSE) for at in (start, start + size - _DENSE))
        return cls(whole, [*ends, (spots, whole[:0])])


def _words(mapped: mmap.mmap, start: int, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
    count = size // _WORD
    words: NDArray[Any] = np.ndarray((count,), np.uint64, mapped, start)
    return words, np.ndarray((size % _WORD,), np.uint8, mapped, start + count * _WORD)
