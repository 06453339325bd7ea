# SPDX-License-Identifier: Apache-2.0
"""Channels of a tensor, computed with in strips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout, WholeChannels
from pyaclnn.reference.arithmetic.precision import wide
from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.strips import Operand, is_worth_strips, run

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pyaclnn.reference.arithmetic.channels import Channels

__all__ = ["channels_of"]

# Channels of so many positions are rows of their own; shorter ones lie side by side in a row.
FEWEST_POSITIONS = 64
# So many channels' moments are finished at a time: they stay in the processor's cache.
BLOCK_CHANNELS = 8192
MOMENTS = "distances squares += x - pivot"
NORMALIZED = """
    a = (x - mean) * factor
    out = a + shift
"""


def channels_of(name: str, tensor: ArrayLike) -> Channels:
    """Split a tensor into channels that compute in strips, if it is large enough for that.

    Args:
        name: The name of the tensor in the caller, for error messages.
        tensor: A tensor of rank 2 at least.

    Raises:
        TypeError: The tensor's data type is none of float16, bfloat16, float32 and float64.
        ValueError: It has no axis of channels.
    """
    array = np.asarray(tensor)
    layout = ChannelLayout.of(name, array)
    return (StripChannels if is_worth_strips(array) else WholeChannels)(layout, array)


class StripChannels(NamedTuple):
    """The channels of a tensor, which is the matrix of a program.

    Attributes:
        layout: The samples, channels and positions.
        tensor: The tensor.
    """

    layout: ChannelLayout
    tensor: NDArray[Any]

    @property
    def _shape(self) -> tuple[int, int]:
        """The shape of the matrix: a channel of a sample each row, or all channels of a sample."""
        samples, channels = self.layout.samples, self.layout.channels
        positions = self.layout.positions
        if positions >= FEWEST_POSITIONS:
            return samples * channels, positions
        return samples, channels * positions

    def _run(
        self, text: str, out: NDArray[Any] | None = None, **each: NDArray[Any]
    ) -> dict[str, NDArray[Any]]:
        """Run a program with a number for each channel, (C, 1), by name.

        Returns:
            The sums ``distances`` and ``squares`` of each channel, (C, 1), if there are any.
        """
        layout, (rows, columns) = self.layout, self._shape
        operands: dict[str, Any] = {"x": self.tensor.reshape(rows, columns)}
        if out is not None:
            operands["out"] = out.reshape(rows, columns)
        names = ["distances", "squares"] if out is None else []
        if columns == layout.positions:
            numbers = {name: np.tile(vector[:, 0], layout.samples) for name, vector in each.items()}
            found = run(text, (rows, columns), operands, numbers)
        else:
            operands |= {
                name: Operand(vector[:, 0], repeat=layout.positions)
                for name, vector in each.items()
            }
            found = {name: np.empty(columns) for name in names}
            run(text, (rows, columns), operands, {}, found)
        # Rows are channels of samples; columns are positions of channels.
        if columns != layout.positions and layout.positions == 1:  # nothing to add up, of many
            return {name: found[name].reshape(-1, 1) for name in names}
        parts = (-1, layout.channels, 1 if columns == layout.positions else layout.positions)
        return {name: found[name].reshape(parts).sum(axis=(0, 2))[:, None] for name in names}

    def moments(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the mean and the biased variance of each channel, (C, 1) both."""
        layout = self.layout
        count = layout.samples * layout.positions
        # An element of each channel: squares of distances from it are about the variance.
        pivot = wide(layout.split(self.tensor)[0, :, :1], layout.dtype)
        finite = np.isfinite(pivot)
        if not finite.all():
            pivot = np.where(finite, pivot, np.float32(0))
        found = self._run(MOMENTS, pivot=pivot)
        means, variances = (np.empty(pivot.shape, layout.dtype) for _ in found)
        with np.errstate(invalid="ignore"):  # an infinity in a channel
            for start in range(0, layout.channels, BLOCK_CHANNELS):
                part = slice(start, start + BLOCK_CHANNELS)
                mean, variance = (found[name][part] for name in ("distances", "squares"))
                mean /= count
                variance /= count
                variance -= mean * mean
                mean += pivot[part]
                means[part], variances[part] = mean, variance
        return means, variances

    def normalized(
        self, mean: NDArray[Any], factor: NDArray[Any], shift: NDArray[Any]
    ) -> NDArray[Any]:
        """Return `(x - mean) * factor + shift` in the tensor's type, from (C, 1) each."""
        output = empty(self.tensor.shape, self.tensor.dtype)
        self._run(NORMALIZED, output, mean=mean, factor=factor, shift=shift)
        return output
