# SPDX-License-Identifier: Apache-2.0
"""Tensors to compute with, and how close to exact a kernel's arithmetic comes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .textbook import Array

__all__ = ["TOLERANCE", "Sample", "f32", "samples"]


def f32(values: object) -> NDArray[np.float32]:
    return np.array(values, np.float32)


# Rounding of the result, and for float that of sums over a row.
TOLERANCE = {
    np.dtype(np.float16): 2e-3,
    np.dtype(np.float32): 2e-5,
    np.dtype(np.float64): 1e-12,
}


@dataclass(frozen=True)
class Sample:
    """Operands of all three interfaces, [B, S, H].

    Attributes:
        dtype: The data type of all of them.
        shape: B, S and H.
        seed: Where the numbers come from.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, int, int]
    seed: int

    def _draw(self, salt: int, shape: tuple[int, ...]) -> Array:
        # Eighths up to 4 are exact in half, and so are sums of a few of them.
        generator = np.random.default_rng((self.seed, salt))
        return np.asarray(generator.integers(-32, 33, shape) / 8, self.dtype)

    @cached_property
    def x(self) -> Array:
        x = self._draw(0, self.shape)
        # Not all equal: a variance of zero would leave rounding alone to decide the result.
        x[..., 0] += self.dtype.type(5)
        return x

    @cached_property
    def dy(self) -> Array:
        return self._draw(1, self.shape)

    @cached_property
    def gamma(self) -> Array:
        return self._draw(2, self.shape[-1:])

    @cached_property
    def beta(self) -> Array:
        return self._draw(3, self.shape[-1:])

    @cached_property
    def mean(self) -> Array:
        """Some number a row, nobody's mean."""
        return self._draw(4, self.shape[:-1])

    @cached_property
    def variance(self) -> Array:
        """Some positive number a row."""
        return np.asarray(np.abs(self._draw(5, self.shape[:-1])) + 0.5, self.dtype)

    def close(self, found: Array, expected: object) -> bool:
        """Return whether results equal the expected ones within the dtype's precision."""
        tolerance = TOLERANCE[self.dtype]
        exact = np.asarray(expected, np.float64).reshape(found.shape)
        scale = max(1.0, float(np.abs(exact).max(initial=0)))
        return found.dtype == self.dtype and bool(
            np.allclose(found.astype(np.float64), exact, rtol=tolerance, atol=tolerance * scale)
        )


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    return Sample(
        dtype=draw(st.sampled_from(list(TOLERANCE))),
        shape=(draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(2, 24))),
        seed=draw(st.integers(0, 2**32 - 1)),
    )
