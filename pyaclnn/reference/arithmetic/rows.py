# SPDX-License-Identifier: Apache-2.0
"""Tensors seen as rows, as all operators see them that normalize over trailing axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, total, wide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["RowLayout"]

Layout = TypeVar("Layout", bound="RowLayout")


class RowLayout(NamedTuple):
    """A tensor that is normalized over its trailing axes, as rows and columns.

    Attributes:
        leading: The axes that count the rows.
        normalized: The axes that are normalized together.
        rows: M, the number of rows.
        columns: N, the number of elements that are normalized together.
        dtype: The type of the arithmetic: float64 for a float64 tensor, else float32.
    """

    leading: tuple[int, ...]
    normalized: tuple[int, ...]
    rows: int
    columns: int
    dtype: np.dtype[Any]

    @classmethod
    def of(  # noqa: PYI019  # Self is younger than the oldest Python
        cls: type[Layout], name: str, tensor: NDArray[Any], axes_name: str, axes: Sequence[int]
    ) -> Layout:
        """Split a tensor's shape.

        Args:
            name: The name of the tensor in the caller, for error messages.
            tensor: The normalized tensor, of any rank from 1.
            axes_name: The name of the normalized shape in the caller, for error messages.
            axes: The normalized shape; the tensor's shape must end in it.

        Returns:
            The layout.

        Raises:
            TypeError: The tensor's data type is none of float16, bfloat16, float32 and float64.
            ValueError: `axes` is empty or is not how the tensor's shape ends.
        """
        dtype = arithmetic_dtype(name, tensor)
        normalized = tuple(map(int, axes))
        lead = tensor.ndim - len(normalized)
        if not normalized or lead < 0 or tensor.shape[lead:] != normalized:
            raise ValueError(
                f"{axes_name} is {normalized}; it must be the last one or more axes of {name}, "
                f"which has the shape {tensor.shape}"
            )
        leading = tensor.shape[:lead]
        rows, columns = math.prod(leading), math.prod(normalized)
        return cls(leading, normalized, rows, columns, dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor itself."""
        return self.leading + self.normalized

    @property
    def statistic_shape(self) -> tuple[int, ...]:
        """The shape of one number per row: the leading axes, then a 1 for each normalized axis."""
        return self.leading + (1,) * len(self.normalized)

    def matrix(self, name: str, tensor: ArrayLike) -> NDArray[Any]:
        """View a tensor of this shape as (M, N), in its own data type."""
        array = np.asarray(tensor)
        if array.shape != (shape := self.leading + self.normalized):
            raise ValueError(f"{name} has the shape {array.shape}; it must be {shape}")
        return array.reshape(self.rows, self.columns)

    def column_vector(self, name: str, statistic: ArrayLike) -> NDArray[Any]:
        """View one number per row as (M, 1), whatever its shape."""
        array = np.asarray(statistic)
        if array.size != self.rows:
            raise ValueError(
                f"{name} has the shape {array.shape}, which is {array.size} elements; "
                f"it must have one for each of the {self.rows} rows"
            )
        return array.reshape(self.rows, 1)

    def row_vector(self, name: str, parameter: ArrayLike) -> NDArray[Any]:
        """View a tensor of the normalized shape as (N,), in its own data type."""
        array = np.asarray(parameter)
        if array.shape != self.normalized:
            raise ValueError(f"{name} has the shape {array.shape}; it must be {self.normalized}")
        return array.reshape(self.columns)

    def given_row(self, given: Any, name: str) -> NDArray[Any] | None:
        """View an argument of the normalized shape as (N,); None if there is none."""
        value = getattr(given, name)
        return None if value is None else self.row_vector(name, value)

    def wide_matrix(self, name: str, tensor: ArrayLike) -> NDArray[Any]:
        """Bring a tensor of this shape to (M, N), in the arithmetic's data type."""
        return wide(self.matrix(name, tensor), self.dtype)

    def wide_columns(self, name: str, statistic: ArrayLike) -> NDArray[Any]:
        """Bring one number per row to (M, 1), in the arithmetic's data type."""
        return wide(self.column_vector(name, statistic), self.dtype)

    def wide_row(self, name: str, parameter: ArrayLike | None, absent: float = 1) -> NDArray[Any]:
        """Bring a tensor of the normalized shape to (N,), in the arithmetic's data type.

        Args:
            name: Its name in the caller.
            parameter: The tensor or None.
            absent: The number that every element of a missing one is.
        """
        if parameter is None:
            return np.full(self.columns, absent, self.dtype)
        return wide(self.row_vector(name, parameter), self.dtype)

    def wide_scale(self, name: str, scale: ArrayLike) -> NDArray[Any]:
        """Bring a tensor of the normalized shape, or one number for all, to (N,) or (1,)."""
        array = np.asarray(scale)
        if array.shape == (1,):
            return wide(array, self.dtype)
        return self.wide_row(name, array)

    def tensor(self, rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Bring (M, N) results to the tensor's shape, rounded to a data type."""
        return rounded(rows, dtype).reshape(self.leading + self.normalized)

    def parameter(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Add up (M, N) over all rows: a gradient of the normalized shape."""
        return total(rows, 0).reshape(self.normalized)

    def statistic(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Bring (M, 1) results to the shape of one number per row."""
        return columns.reshape(self.statistic_shape)
