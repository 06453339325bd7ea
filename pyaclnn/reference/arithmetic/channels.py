# SPDX-License-Identifier: Apache-2.0
"""Tensors seen as samples of channels, as group, batch and instance normalization see them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ChannelLayout", "Channels", "WholeChannels"]

FEWEST_AXES = 2


class ChannelLayout(NamedTuple):
    """A tensor as samples (N), channels (C) and positions (S).

    Attributes:
        shape: The tensor's shape: N, C, and any other axes, which together are S.
        dtype: The type of the arithmetic: float64 for a float64 tensor, else float32.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, name: str, tensor: NDArray[Any]) -> ChannelLayout:
        """Split a tensor's shape.

        Args:
            name: The name of the tensor in the caller, for error messages.
            tensor: A tensor of rank 2 at least.

        Raises:
            TypeError: The tensor's data type is none of float16, bfloat16, float32 and float64.
            ValueError: It has no axis of channels.
        """
        dtype = arithmetic_dtype(name, tensor)
        if tensor.ndim < FEWEST_AXES:
            raise ValueError(
                f"{name} has the shape {tensor.shape}; it must have two axes or more, "
                "the second one the channels"
            )
        return cls(tensor.shape, dtype)

    @property
    def samples(self) -> int:
        """N."""
        return self.shape[0]

    @property
    def channels(self) -> int:
        """C."""
        return self.shape[1]

    @property
    def positions(self) -> int:
        """S, the number of elements of a channel of a sample."""
        return math.prod(self.shape[2:])

    def wide(self, name: str, tensor: ArrayLike) -> NDArray[Any]:
        """Bring a tensor of this shape to (N, C, S), in the arithmetic's data type."""
        array = np.asarray(tensor)
        if array.shape != self.shape:
            raise ValueError(f"{name} has the shape {array.shape}; it must be {self.shape}")
        return self.split(wide(array, self.dtype))

    def split(self, tensor: NDArray[Any]) -> NDArray[Any]:
        """View a tensor with as many elements as (N, C, S)."""
        return tensor.reshape(self.samples, self.channels, self.positions)

    def check_groups(self, name: str, count: int) -> None:
        """Check that the channels of a sample split into groups.

        Args:
            name: The name of the number of groups in the caller.
            count: The number of groups.

        Raises:
            ValueError: They do not.
        """
        if count < 1 or self.channels % count:
            raise ValueError(
                f"{name} is {count}; it must be at least 1 and divide the {self.channels} channels"
            )

    def groups(self, count: int) -> tuple[int, int]:
        """Return the shape that has a row for each group of channels of each sample."""
        return self.samples * count, self.channels // count * self.positions

    def per_channel(self, name: str, parameter: ArrayLike | None, absent: float) -> NDArray[Any]:
        """Bring one number per channel to (C, 1), in the arithmetic's data type.

        Args:
            name: Its name in the caller.
            parameter: A tensor of the shape (C,), any float type, or None.
            absent: The number that every element of a missing one is.
        """
        if parameter is None:
            return np.full((self.channels, 1), absent, self.dtype)
        array = np.asarray(parameter)
        if array.shape != (self.channels,):
            raise ValueError(f"{name} has the shape {array.shape}; it must be ({self.channels},)")
        return wide(array, self.dtype)[:, None]


class Channels(Protocol):
    """The channels of a tensor, and how they are computed with."""

    @property
    def layout(self) -> ChannelLayout:
        """The samples, channels and positions."""

    @property
    def tensor(self) -> NDArray[Any]:
        """The tensor."""

    def moments(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the mean and the biased variance of each channel, (C, 1) both."""

    def normalized(
        self, mean: NDArray[Any], factor: NDArray[Any], shift: NDArray[Any]
    ) -> NDArray[Any]:
        """Return `(x - mean) * factor + shift` in the tensor's type, from (C, 1) each."""


class WholeChannels(NamedTuple):
    """The channels of a tensor, computed with as a whole."""

    layout: ChannelLayout
    tensor: NDArray[Any]

    @classmethod
    def of(cls, name: str, tensor: NDArray[Any]) -> WholeChannels:
        """Split a tensor, which has a name in error messages."""
        return cls(ChannelLayout.of(name, tensor), tensor)

    def moments(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the mean and the biased variance of each channel, (C, 1) both."""
        _, mean, variance = moments(self.layout.wide("input", self.tensor), (0, 2))
        return mean[0], variance[0]

    def normalized(
        self, mean: NDArray[Any], factor: NDArray[Any], shift: NDArray[Any]
    ) -> NDArray[Any]:
        """Return `(x - mean) * factor + shift` in the tensor's type, from (C, 1) each."""
        centred = self.layout.wide("input", self.tensor) - mean
        centred *= factor
        centred += shift
        return rounded(centred, self.tensor.dtype).reshape(self.tensor.shape)
