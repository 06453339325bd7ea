# SPDX-License-Identifier: Apache-2.0
"""The sum of two tensors and its root mean squares, with which several operators begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.precision import rounded, total, wide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.reference.arithmetic.definition import Given, RowsGiven

__all__ = ["Added"]

ROUNDING = ("910b", "910_93", "310p")
"""The families whose kernels go on in the tensor's own type after a step in float32."""


class Added(NamedTuple):
    """Common part of kernels that add before an RMS normalization.

    Attributes:
        rows: The rows of x1.
        x: The sum, (M, N): rounded to the tensor's type already where the family does so.
        rstd: The reciprocal root mean square of each row of `x`, (M, 1).
        gamma: The scale, (N,).
        rounds: True if the family rounds steps to the type of x1.
    """

    rows: RowsGiven
    x: NDArray[Any]
    rstd: NDArray[Any]
    gamma: NDArray[Any]
    rounds: bool

    @classmethod
    def of(cls, given: Given) -> Added:
        """Add, and find the root mean squares.

        float16 is added in float16 where the family rounds, which is the same as to round the sum.
        Most bfloat16 kernels normalize the rounded sum, as here; one for small rows does not.
        """
        rows = given.rows("x1")
        layout, rounds = rows.layout, getattr(given, "family", None) in ROUNDING
        x = rows.matrix("x1") + rows.matrix("x2")
        if rounds:
            x = wide(rounded(x, rows.dtype), layout.dtype)
        # Kernels divide each square, not their sum; the mean of nothing is NaN all the same.
        share = layout.dtype.type(1) / max(layout.columns, 1)
        mean_square = total(x * x * share, 1) if layout.columns else total(x, 1) / 0
        rstd = 1 / np.sqrt(mean_square + given.epsilon)
        return cls(rows, x, rstd, rows.row("gamma"), rounds)

    def scaled(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return `x * rstd * gamma`, rounded to the type of x1, in the tensor's shape."""
        normalized = self.x * self.rstd
        if self.rounds:
            normalized = wide(rounded(normalized, dtype), self.rows.layout.dtype)
        return self.rows.tensor(normalized * self.gamma, dtype)

    @property
    def sum(self) -> NDArray[Any]:
        """The sum, rounded to the type of x1, in the tensor's shape."""
        return self.rows.tensor(self.x)

    @property
    def row_rstd(self) -> NDArray[Any]:
        """The reciprocal root mean squares, in the shape of one number per row."""
        return self.rows.layout.statistic(self.rstd)
