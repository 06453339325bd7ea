# SPDX-License-Identifier: Apache-2.0
"""Placeholders: for an array to be allocated, and for an argument that is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.shapes import check_extent, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import DTypeLike

__all__ = ["Empty", "LeftOut"]


class Empty:
    """Placeholder for a result to be allocated: give it in the place of an array.

    The result is a device array from the stream's pool, or a NumPy array in a call on those.

    Attributes:
        shape: Its shape.
        dtype: Its dtype.

    Examples:
        >>> room = pyaclnn.Empty(2, np.float32), pyaclnn.Empty(2, np.int64)
        >>> row = np.array([3, -1, 2], np.float32)
        >>> values, places = pyaclnn.aclnn.topk(row, 2, 0, True, True, *room)
        >>> values.tolist(), places.tolist()
        ([3.0, 2.0], [0, 2])
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: int | Sequence[int], dtype: DTypeLike) -> None:
        """Describe an array.

        Args:
            shape: Its shape.
            dtype: Its dtype, one that CANN knows.

        Raises:
            InvalidArgumentError: An argument is not acceptable.
        """
        self.shape: tuple[int, ...] = shape_of(shape, "Empty")
        self.dtype: np.dtype[Any] = dtype_of(dtype, "Empty")
        check_extent(self.shape, self.dtype.itemsize, "Empty")

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Empty:
        """Return the placeholder of a shape and a dtype that are known to be good."""
        made = object.__new__(cls)
        made.shape, made.dtype = shape, dtype
        return made

    @property
    def _layout(self) -> tuple[Any, ...]:
        """The part of a fast path's key for it, as an array has one."""
        return self.shape, self.dtype

    def __repr__(self) -> str:
        return f"Empty({self.shape}, {str(self.dtype)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Empty):
            return NotImplemented
        return (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


class LeftOut:
    """Default of a parameter in the signature of an operator.

    Attributes:
        REQUIRED: The argument must be given: C has no defaults.
        RESULT: A result that is made if a rule gives its shape.
    """

    __slots__ = ("_layout", "_text")

    REQUIRED: ClassVar[LeftOut]
    RESULT: ClassVar[LeftOut]

    def __init__(self, text: str) -> None:
        self._text = text
        self._layout = text  # the part of a fast path's key for it, as an array has one

    def __repr__(self) -> str:
        return f"<{self._text}>"


LeftOut.REQUIRED = LeftOut("required")
LeftOut.RESULT = LeftOut("made by a rule")
