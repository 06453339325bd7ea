# SPDX-License-Identifier: Apache-2.0
"""Memory of a rank's device, for collective operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.mock.protocol.mapping import MappedFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RankMemory"]


class RankMemory:
    """The memory of a rank's device.

    Args:
        descriptor: File descriptor of the memory file; it stays the caller's.
        base: Device address of byte 0 of the file.
        size: Bytes of device memory.

    Raises:
        ValueError: The file is shorter than ``size``.
    """

    def __init__(self, descriptor: int, base: int, size: int) -> None:
        self._file, self._base, self._size = MappedFile(descriptor, size), base, size

    def array(self, address: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Give elements in device memory; writing writes there.

        Args:
            address: The device address of the first element.
            count: How many.
            dtype: Their type.

        Raises:
            IndexError: They do not lie in the memory.
        """
        if count == 0:
            return np.empty(0, dtype)
        low = address - self._base
        high = low + count * dtype.itemsize
        if low < 0 or high > self._size:
            raise IndexError(f"{count} elements of {dtype} at {address:#x} are no device memory")
        mapped, first = self._file.region(low, high)
        array: NDArray[Any] = np.ndarray((count,), dtype, mapped, low - first)
        return array

    def close(self) -> None:
        """Unmap the memory."""
        self._file.close()
