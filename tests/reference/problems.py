# SPDX-License-Identifier: Apache-2.0
"""The space of inputs: shapes of rank 1 to 8, normalized axes, data types, memory layouts."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from pyaclnn.reference.fast import strips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["DTYPES", "Problem", "f16", "f32", "f64", "in_pieces", "problems"]

DTYPES: tuple[np.dtype[Any], ...] = tuple(
    np.dtype(name) for name in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
)


@contextmanager
def in_pieces(elements: int) -> Iterator[None]:
    """Have programs compute tensors of any size, in pieces of about so many elements."""
    constants: dict[str, Any] = {
        "FEWEST_ELEMENTS": 1,
        "PIECE_ELEMENTS": elements,
        "PANEL_COLUMNS": 1,
    }
    with mock.patch.multiple(strips, **constants):
        yield


def f16(values: object) -> NDArray[np.float16]:
    return np.array(values, np.float16)


def f32(values: object) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def f64(values: object) -> NDArray[np.float64]:
    return np.array(values, np.float64)


LAYOUTS = ("contiguous", "fortran", "strided", "reversed")


@dataclass(frozen=True)
class Problem:
    """One point of the space.

    Attributes:
        dtype: The tensor's data type.
        shape: The tensor's shape.
        lead: How many axes lead; the others are normalized.
        layout: How the tensors lie in memory.
        wide: True if the parameters are float32 (float64 for float64) beside a narrower tensor.
        seed: Where the values come from.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    lead: int
    layout: str
    wide: bool
    seed: int

    @property
    def normalized(self) -> tuple[int, ...]:
        return self.shape[self.lead :]

    @property
    def rows(self) -> int:
        return math.prod(self.shape[: self.lead])

    @property
    def columns(self) -> int:
        return math.prod(self.normalized)

    @property
    def wide_dtype(self) -> np.dtype[Any]:
        """Dtype of statistics and parameter gradients."""
        return np.dtype(np.float64 if self.dtype == np.float64 else np.float32)

    def tensor(self, salt: int, bound: int = 40) -> NDArray[Any]:
        return self._lay_out(self._values(salt, bound, self.shape, self.dtype))

    def parameter(self, salt: int) -> NDArray[Any]:
        dtype = self.wide_dtype if self.wide else self.dtype
        return self._lay_out(self._values(salt, 16, self.normalized, dtype))

    def statistic(self, salt: int, shape: tuple[int, ...]) -> NDArray[Any]:
        """Numbers from 1/8 to 2, one a row: a possible rstd, and a mean that is nobody's mean."""
        values = np.abs(self._values(salt, 16, shape, self.wide_dtype))
        return self._lay_out(np.asarray(np.maximum(values, self.wide_dtype.type(1 / 8))))

    def _values(
        self, salt: int, bound: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> NDArray[Any]:
        # Eighths are exact in every data type, and two that differ differ visibly.
        generator = np.random.default_rng((self.seed, salt))
        return (generator.integers(-bound, bound + 1, shape) / 8).astype(dtype)

    def _lay_out(self, array: NDArray[Any]) -> NDArray[Any]:
        if self.layout == "fortran":
            return np.asfortranarray(array)
        if self.layout == "strided":
            sparse = np.zeros([2 * size for size in array.shape], array.dtype)
            view = np.asarray(sparse[tuple(slice(None, None, 2) for _ in array.shape)])
            view[...] = array
            return view
        if self.layout == "reversed":
            return np.flip(np.flip(array).copy())
        return array


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Draw a problem of at most 512 elements; some have none."""
    shape = draw(
        st.lists(st.integers(1, 5), min_size=1, max_size=8).filter(lambda s: math.prod(s) <= 512)
        | st.lists(st.integers(0, 2), min_size=1, max_size=8)
    )
    return Problem(
        dtype=draw(st.sampled_from(DTYPES)),
        shape=tuple(shape),
        lead=draw(st.integers(0, len(shape) - 1)),
        layout=draw(st.sampled_from(LAYOUTS)),
        wide=draw(st.booleans()),
        seed=draw(st.integers(0, 2**32 - 1)),
    )
