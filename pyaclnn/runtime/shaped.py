# SPDX-License-Identifier: Apache-2.0
"""What is known of an array without its data: what follows from its layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from pyaclnn.runtime.layout import Layout

__all__ = ["Shaped"]


class Shaped:
    """The attributes of a NumPy array that need no data."""

    __slots__ = ("_layout", "_offset")

    _layout: Layout
    _offset: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._layout.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self._layout.strides

    @property
    def offset(self) -> int:
        """Bytes from the start of the buffer to the first element."""
        return self._offset

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._layout.size

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self._layout.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, without gaps between them."""
        return self.size * self.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie without gaps in C order."""
        return self._layout.is_contiguous
