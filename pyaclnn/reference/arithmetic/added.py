# SPDX-License-Identifier: Apache-2.0
"""The sum of two tensors and its root mean squares, with which several operators begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.precision import rounded, total, wide
from pyaclnn.reference.arithmetic.rows import RowLayout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Added"]

ROUNDING = ("910b", "910_93", "310p")
"""The families whose kernels go on in the tensor's own type after a step in float32."""


class Added(NamedTuple):
    """Common part of kernels that add before an RMS normalization.

    Attributes:
        layout: How x1 splits into rows.
        x: The sum, (M, N): rounded to the tensor's type already where the family does so.
        rstd: The reciprocal root mean square of each row of `x`, (M, 1).
        gamma: The scale, (N,).
        rounds: Whether the family rounds steps to the type of x1.
    """

    layout: RowLayout
    x: NDArray[Any]
    rstd: NDArray[Any]
    gamma: NDArray[Any]
    rounds: bool

    @classmethod
    def of(
        cls,
        x1: NDArray[Any],
        x2: ArrayLike,
        gamma: ArrayLike,
        epsilon: float,
        family: str | None,
    ) -> Added:
        """Add, and find the root mean squares.

        float16 is added in float16 where the family rounds, which is the same as to round the sum.
        Of bfloat16 kernels most normalize the rounded sum, one for small rows does not; this is
        what most do.
        """
        scale = np.asarray(gamma)
        layout = RowLayout.of("x1", x1, "the shape of gamma", scale.shape)
        rounds = family in ROUNDING
        x = layout.wide_matrix("x1", x1) + layout.wide_matrix("x2", x2)
        if rounds:
            x = wide(rounded(x, x1.dtype), layout.dtype)
        # Kernels divide each square, not their sum; the mean of nothing is NaN all the same.
        share = layout.dtype.type(1) / max(layout.columns, 1)
        mean_square = total(x * x * share, 1) if layout.columns else total(x, 1) / 0
        rstd = 1 / np.sqrt(mean_square + epsilon)
        return cls(layout, x, rstd, layout.wide_row("gamma", scale), rounds)

    def scaled(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return `x * rstd * gamma`, rounded to the type of x1, in the tensor's shape."""
        normalized = self.x * self.rstd
        if self.rounds:
            normalized = wide(rounded(normalized, dtype), self.layout.dtype)
        return self.layout.tensor(normalized * self.gamma, dtype)

    def sum(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the sum, rounded to the type of x1, in the tensor's shape."""
        return self.layout.tensor(self.x, dtype)

    @property
    def row_rstd(self) -> NDArray[Any]:
        """The reciprocal root mean squares, in the shape of one number per row."""
        return self.layout.statistic(self.rstd)
