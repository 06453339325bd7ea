# SPDX-License-Identifier: Apache-2.0
"""Tensors seen as rows: the one walk over memory that all normalizations share.

A normalization over trailing axes treats its tensor as a matrix of M rows (the leading axes) by N
columns (the normalized axes). `RowLayout` makes that matrix out of tensors of any rank and checks
the other operands against it. The formulas are then applied to blocks of rows small enough that all
the arithmetic on a block happens in the processor's cache.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["RowLayout", "column_sum", "row_mean"]

# Three or four blocks of 32768 float32 numbers, 128 KiB each, share a core's second-level cache.
BLOCK_ELEMENTS = 32768

ACCUMULATION_DTYPES: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(ml_dtypes.bfloat16): np.dtype(np.float32),
    np.dtype(np.float16): np.dtype(np.float32),
    np.dtype(np.float32): np.dtype(np.float32),
    np.dtype(np.float64): np.dtype(np.float64),
}


class RowLayout(NamedTuple):
    """How a tensor that is normalized over its trailing axes splits into rows and columns.

    Attributes:
        leading: The axes that count the rows.
        normalized: The axes that are normalized together.
        dtype: What the arithmetic runs in: float64 for a float64 tensor, else float32.
    """

    leading: tuple[int, ...]
    normalized: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, name: str, tensor: NDArray[Any], axes_name: str, axes: Sequence[int]) -> RowLayout:
        """Split a tensor's shape.

        Args:
            name: What the caller calls the tensor, for error messages.
            tensor: The normalized tensor, of any rank from 1.
            axes_name: What the caller calls the normalized shape, for error messages.
            axes: The normalized shape; the tensor's shape must end in it.

        Returns:
            The layout.

        Raises:
            TypeError: The tensor's data type is none of float16, bfloat16, float32 and float64.
            ValueError: `axes` is empty or is not how the tensor's shape ends.
        """
        if tensor.dtype not in ACCUMULATION_DTYPES:
            raise TypeError(
                f"{name} has the data type {tensor.dtype}; "
                "it must be float16, bfloat16, float32 or float64"
            )
        normalized = tuple(int(size) for size in axes)
        lead = tensor.ndim - len(normalized)
        if not normalized or lead < 0 or tensor.shape[lead:] != normalized:
            raise ValueError(
                f"{axes_name} is {normalized}; it must be the last one or more axes of {name}, "
                f"which has the shape {tensor.shape}"
            )
        return cls(tensor.shape[:lead], normalized, ACCUMULATION_DTYPES[tensor.dtype])

    @property
    def rows(self) -> int:
        """M, the number of rows."""
        return math.prod(self.leading)

    @property
    def columns(self) -> int:
        """N, the number of elements that are normalized together."""
        return math.prod(self.normalized)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor itself."""
        return self.leading + self.normalized

    @property
    def statistic_shape(self) -> tuple[int, ...]:
        """The shape of one number per row: the leading axes, then a 1 for each normalized axis."""
        return self.leading + (1,) * len(self.normalized)

    def blocks(self) -> Iterator[slice]:
        """Yield slices of rows that cover the matrix; none if it has no elements."""
        if self.columns == 0:
            return
        step = max(1, BLOCK_ELEMENTS // self.columns)
        for start in range(0, self.rows, step):
            yield slice(start, start + step)

    def matrix(self, name: str, tensor: ArrayLike) -> NDArray[Any]:
        """View a tensor of this shape as (M, N), in its own data type."""
        array = np.asarray(tensor)
        if array.shape != self.shape:
            raise ValueError(f"{name} has the shape {array.shape}; it must be {self.shape}")
        return array.reshape(self.rows, self.columns)

    def column_vector(self, name: str, statistic: ArrayLike) -> NDArray[Any]:
        """Bring one number per row to (M, 1) in the arithmetic's data type, whatever its shape."""
        array = np.asarray(statistic)
        if array.size != self.rows:
            raise ValueError(
                f"{name} has the shape {array.shape}, which is {array.size} elements; "
                f"it must have one for each of the {self.rows} rows"
            )
        return array.astype(self.dtype, copy=False).reshape(self.rows, 1)

    def row_vector(self, name: str, parameter: ArrayLike) -> NDArray[Any]:
        """Bring a tensor of the normalized shape to (N,) in the arithmetic's data type."""
        array = np.asarray(parameter)
        if array.shape != self.normalized:
            raise ValueError(f"{name} has the shape {array.shape}; it must be {self.normalized}")
        return array.astype(self.dtype, copy=False).reshape(self.columns)

    def parameter(self, total: NDArray[np.float64]) -> NDArray[Any]:
        """Round float64 sums over rows, (N,), to a tensor of the normalized shape."""
        return total.astype(self.dtype, copy=False).reshape(self.normalized)


def row_mean(block: NDArray[Any]) -> NDArray[Any]:
    """Average each row of a block: (rows, N) to (rows, 1), summed pairwise."""
    mean: NDArray[Any] = block.mean(axis=1, keepdims=True)
    return mean


def column_sum(block: NDArray[Any]) -> NDArray[np.float64]:
    """Sum the rows of a block: (rows, N) to (N,), in float64.

    A gradient of a parameter is a sum over every row of the tensor; carried on in float32 it would
    lose a digit every few thousand rows.
    """
    total: NDArray[np.float64] = block.sum(axis=0, dtype=np.float64)
    return total
