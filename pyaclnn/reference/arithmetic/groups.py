# SPDX-License-Identifier: Apache-2.0
"""Common parts of gradients of group normalizations, and the activation after some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.moments import moments, standardized_gradient
from pyaclnn.reference.arithmetic.precision import rounded, rounded_away, total, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pyaclnn.reference.arithmetic.channels import ChannelLayout
    from pyaclnn.reference.arithmetic.definition import ChannelsGiven

__all__ = ["GroupGradient", "GroupNormalization", "swish"]

AWAY = ("910b", "910_93")
"""The families that round the gradients of group normalizations half away from zero."""


def swish(numbers: NDArray[Any], scale: float) -> NDArray[Any]:
    """`y / (1 + exp(-scale * y))`."""
    result: NDArray[Any] = numbers / (1 + np.exp(-scale * numbers))
    return result


class GroupNormalization(NamedTuple):
    """A tensor normalized by groups of its channels, not rounded yet.

    Attributes:
        out: The normalized tensor, in its own shape.
        mean: The mean of each group, (N, groups).
        variance: The biased variance of each group, like `mean`.
        rstd: `1 / sqrt(variance + eps)`, like `mean`.
    """

    out: NDArray[Any]
    mean: NDArray[Any]
    variance: NDArray[Any]
    rstd: NDArray[Any]

    @classmethod
    def of(
        cls, channels: ChannelsGiven, x: str, groups: str, scale: str, shift: str, eps: float
    ) -> GroupNormalization:
        """Normalize a tensor.

        Args:
            channels: Arguments on its channels.
            x: The name of the tensor.
            groups: The name of the number of groups.
            scale: The name of the scale of each channel.
            shift: The name of the shift of each channel.
            eps: Added to the variance.
        """
        layout, count = channels.layout, channels.groups(groups)
        tensor = channels.wide(x)
        factor, term = channels.each(scale, 1), channels.each(shift, 0)
        centred, mean, variance = moments(tensor.reshape(layout.groups(count)), 1)
        rstd = 1 / np.sqrt(variance + eps)
        centred *= rstd
        out = layout.split(centred)
        out *= factor
        out += term
        statistics = (part.reshape(layout.samples, count) for part in (mean, variance, rstd))
        return cls(out.reshape(layout.shape), *statistics)


class GroupGradient(NamedTuple):
    """The input of a group normalization, standardized by given statistics.

    Attributes:
        layout: Split of the input into channels.
        xhat: `(input - mean) * rstd`, a row for each group.
        rstd: A reciprocal standard deviation for each group, a column.
    """

    layout: ChannelLayout
    xhat: NDArray[Any]
    rstd: NDArray[Any]

    @classmethod
    def of(cls, channels: ChannelsGiven, x: str, groups: str) -> GroupGradient:
        """Standardize a tensor by ``mean`` and ``rstd``, a number each for each group of a sample.

        Args:
            channels: Arguments on its channels.
            x: The name of the tensor.
            groups: The name of the number of groups.
        """
        layout = channels.layout
        shape = layout.groups(channels.groups(groups))

        def column(name: str) -> NDArray[Any]:
            array = channels.given.array(name)
            if array.size != shape[0]:
                raise ValueError(
                    f"{name} has the shape {array.shape}, which is {array.size} elements; "
                    f"it must have one for each of the {shape[0]} groups of all samples"
                )
            return wide(array, layout.dtype).reshape(shape[0], 1)

        centred = channels.wide(x).reshape(shape) - column("mean")
        deviations = column("rstd")
        return cls(layout, centred * deviations, deviations)

    def of_input(self, g: NDArray[Any]) -> NDArray[Any]:
        """Turn the gradient of `xhat` into that of the input, in the input's shape."""
        rows = standardized_gradient(g.reshape(self.xhat.shape), self.xhat, self.rstd)
        return rows.reshape(self.layout.shape)

    def of_scale(self, grad: NDArray[Any]) -> NDArray[Any]:
        """Add up what a gradient (N, C, S) leaves to the scale of each channel."""
        return self.of_shift(grad * self.layout.split(self.xhat))

    def of_shift(self, grad: NDArray[Any]) -> NDArray[Any]:
        """Add up what a gradient (N, C, S) leaves to the shift of each channel."""
        return total(grad, (0, 2)).reshape(self.layout.channels)

    @staticmethod
    def rounding(family: str | None) -> Callable[[NDArray[Any], np.dtype[Any]], NDArray[Any]]:
        """Choose how a family of chips rounds the results."""
        return rounded_away if family in AWAY else rounded
