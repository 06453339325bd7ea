# SPDX-License-Identifier: Apache-2.0
"""Filling, copying and casting."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.kernels.kernel import operator

__all__: list[str] = []

Array = Any


@operator("aclnnInplaceFillScalar", "aclnnInplaceFillTensor")
def fill(self: Array, value: Any) -> Array:
    """A number, or the one element of a tensor, everywhere."""
    if np.size(value) != 1:
        raise ValueError(f"value has {np.size(value)} elements; it must have one")
    return np.full(self.shape, np.reshape(value, ()), self.dtype)


@operator("aclnnInplaceZero")
def zero(self: Array) -> Array:
    """0 everywhere."""
    return np.zeros(self.shape, self.dtype)


@operator("aclnnInplaceOne")
def one(self: Array) -> Array:
    """1 everywhere."""
    return np.ones(self.shape, self.dtype)


@operator("aclnnInplaceCopy")
def copy(self: Array, src: Array) -> Array:
    """``src``, broadcast and cast; a fraction is cut off by an integer type."""
    return np.broadcast_to(src, self.shape).astype(self.dtype)


@operator("aclnnCast")
def cast_to(self: Array, dtype: np.dtype[Any]) -> Array:
    """``self`` in another data type; a fraction is cut off by an integer type."""
    return self.astype(dtype)
