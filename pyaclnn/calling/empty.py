# SPDX-License-Identifier: Apache-2.0
"""What stands for an array that is not there yet, and for an argument that is not given."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.shapes import check_extent, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import DTypeLike

__all__ = ["Empty", "LeftOut"]


class Empty:
    """A result that is to be made: give it in the place of an array.

    It becomes a device array out of the stream's pool, or a NumPy array in a call on those.

    Attributes:
        shape: Its shape.
        dtype: Its dtype.
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: int | Sequence[int], dtype: DTypeLike) -> None:
        """Ask for an array.

        Args:
            shape: Its shape.
            dtype: Its dtype, one that CANN knows.

        Raises:
            InvalidArgumentError: An argument is not acceptable.
        """
        self.shape: tuple[int, ...] = shape_of(shape, "Empty")
        self.dtype: np.dtype[Any] = dtype_of(dtype, "Empty")
        check_extent(self.shape, self.dtype.itemsize, "Empty")

    def __repr__(self) -> str:
        return f"Empty({self.shape}, {str(self.dtype)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Empty):
            return NotImplemented
        return (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


class LeftOut(Enum):
    """What the signature of an operator shows in the place of a default."""

    REQUIRED = "required"
    """It must be given: C has no defaults."""
    RESULT = "made by a rule"
    """A result that is made if a rule tells its shape."""

    def __repr__(self) -> str:
        return f"<{self.value}>"
