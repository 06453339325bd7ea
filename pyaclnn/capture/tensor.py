# SPDX-License-Identifier: Apache-2.0
"""Tensor of a trace: its layout, and its elements in the bytes that it covers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.runtime.dtypes import numpy_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Tensor", "made_up"]


class Tensor(NamedTuple):
    """Layout of a tensor in the memory of the traced program.

    Attributes:
        acl_type: Its ``aclDataType``.
        shape: Its shape.
        strides: Those of its axes, in elements.
        begin: Where its first element lies.
    """

    acl_type: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    begin: int

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Its dtype, or None if NumPy has none for it."""
        try:
            return numpy_dtype(self.acl_type)
        except (KeyError, ValueError, TypeError):
            return None

    @property
    def span(self) -> int:
        """The bytes from its first element to its last in memory; 0 if they cannot be read."""
        dtype = self.dtype
        empty = any(size <= 0 for size in self.shape)
        if dtype is None or empty or min(self.strides, default=0) < 0:
            return 0
        steps = ((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        return int((1 + sum(steps)) * dtype.itemsize)

    def view(self, memory: NDArray[np.uint8]) -> NDArray[Any]:
        """Return the elements as an array of its shape, in memory of its span."""
        dtype = numpy_dtype(self.acl_type)
        strides = [step * dtype.itemsize for step in self.strides]
        view: NDArray[Any] = np.ndarray(self.shape, dtype, memory.data, strides=strides)
        return view


def made_up(tensor: Tensor, seed: int) -> NDArray[Any]:
    """Return contents for a tensor whose own were not recorded: the same for the same hash.

    Args:
        tensor: The descriptor.
        seed: The recorded hash.
    """
    dtype = numpy_dtype(tensor.acl_type)
    generator = np.random.default_rng(seed)
    if dtype.kind in "biu":
        return generator.integers(0, 2, tensor.shape).astype(dtype)
    return generator.standard_normal(tensor.shape).astype(dtype)
