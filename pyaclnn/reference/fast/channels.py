# SPDX-License-Identifier: Apache-2.0
"""Channels of a tensor, computed with in strips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout, WholeChannels
from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.strips import Operand, is_worth_strips, run

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pyaclnn.reference.arithmetic.channels import Channels

__all__ = ["channels_of"]

# Channels of so many positions are rows of their own; shorter ones lie side by side in a row.
FEWEST_POSITIONS = 64
MEAN = "total += x"
DEVIATIONS = """
    a = x - mean
    left += a
    squares += a * a
"""
NORMALIZED = """
    a = x - mean
    a = a * factor
    a = a + shift
    out = a
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
            The sums ``total``, ``left`` and ``squares`` of each channel, (C, 1), as far as there
            are.
        """
        layout, (rows, columns) = self.layout, self._shape
        operands: dict[str, Any] = {"x": self.tensor.reshape(rows, columns)}
        if out is not None:
            operands["out"] = out.reshape(rows, columns)
        numbers: dict[str, Any] = {}
        names = [name for name in ("total", "left", "squares") if f"{name} +=" in text]
        sums = {}
        if columns == layout.positions:
            numbers = {name: np.tile(vector[:, 0], layout.samples) for name, vector in each.items()}
        else:
            operands |= {
                name: Operand(vector[:, 0], repeat=layout.positions)
                for name, vector in each.items()
            }
            sums = dict.fromkeys(names, True)
        found = run(text, (rows, columns), operands, numbers, sums)
        # Rows are channels of samples; columns are positions of channels.
        parts = (1, layout.channels, -1) if sums else (layout.samples, layout.channels, 1)
        each_part = {name: found[name].reshape(parts) for name in names}
        if sums and layout.positions == 1:  # nothing to add up, of many
            return {name: part.reshape(-1, 1) for name, part in each_part.items()}
        return {name: part.sum(axis=(0, 2))[:, None] for name, part in each_part.items()}

    def moments(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the mean and the biased variance of each channel, (C, 1) both."""
        layout = self.layout
        count = layout.samples * layout.positions
        mean = (self._run(MEAN)["total"] / count).astype(layout.dtype)
        # The mean is rounded before it is subtracted; what that leaves out is added up too.
        found = self._run(DEVIATIONS, mean=mean)
        rest, variance = found["left"], found["squares"]
        rest /= count
        variance /= count
        variance -= rest * rest
        # Of infinite numbers the rest is none.
        np.add(mean, rest, out=mean, where=np.isfinite(rest), casting="same_kind")
        return mean, variance.astype(layout.dtype)

    def normalized(
        self, mean: NDArray[Any], factor: NDArray[Any], shift: NDArray[Any]
    ) -> NDArray[Any]:
        """Return `(x - mean) * factor + shift` in the tensor's type, from (C, 1) each."""
        output = empty(self.tensor.shape, self.tensor.dtype)
        self._run(NORMALIZED, output, mean=mean, factor=factor, shift=shift)
        return output
