# SPDX-License-Identifier: Apache-2.0
"""RmsNorm and its gradient (CANN: aclnnRmsNorm, aclnnRmsNormGrad)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, total, wide
from pyaclnn.reference.arithmetic.rows import RowLayout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "RmsNormGrads",
    "RmsNormResult",
    "gemma_rms_norm",
    "rms_norm",
    "rms_norm_grad",
]


class RmsNormResult(NamedTuple):
    """Results of `rms_norm`."""

    y: NDArray[Any]
    rstd: NDArray[Any]


class RmsNormGrads(NamedTuple):
    """Results of `rms_norm_grad`."""

    dx: NDArray[Any]
    dgamma: NDArray[Any]


@np.errstate(all="ignore")
def rms_norm(x: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-6) -> RmsNormResult:
    """Divide rows by their root mean square, then scale them.

    A row is what the axes of gamma span: the trailing axes of x. With the mean taken over a row:
    `rstd = 1 / sqrt(mean(x * x) + epsilon)`, `y = x * rstd * gamma`.

    If gamma holds no elements, rstd is NaN: the mean of nothing.
    """
    tensor, parameter = np.asarray(x), np.asarray(gamma)
    layout = RowLayout.of("x", tensor, "the shape of gamma", parameter.shape)
    row = layout.wide_matrix("x", tensor)
    scale = layout.wide_row("gamma", parameter)
    rstd = 1 / np.sqrt(total(row * row, 1) / layout.columns + epsilon)
    return RmsNormResult(layout.tensor(row * rstd * scale, tensor.dtype), layout.statistic(rstd))


def gemma_rms_norm(x: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-6) -> RmsNormResult:
    """Do as `rms_norm`, with `1 + gamma` for gamma (CANN: ops-nn norm/gemma_rms_norm)."""
    return rms_norm(x, 1 + wide(gamma, arithmetic_dtype("x", np.asarray(x))), epsilon)


@np.errstate(all="ignore")
def rms_norm_grad(dy: ArrayLike, x: ArrayLike, rstd: ArrayLike, gamma: ArrayLike) -> RmsNormGrads:
    """Propagate a gradient back through `rms_norm`.

    With `xhat = x * rstd` and `g = dy * gamma`, the mean over a row and the sum over all rows:
    `dx = (g - xhat * mean(g * xhat)) * rstd`, `dgamma = sum(dy * xhat)`.

    The given `rstd` is used as it is, also where it is not that of x; there is no epsilon here.

    Without rows dgamma is zeros, the sum of nothing.
    """
    tensor, parameter = np.asarray(x), np.asarray(gamma)
    layout = RowLayout.of("x", tensor, "the shape of gamma", parameter.shape)
    grad = layout.wide_matrix("dy", dy)
    row_rstd = layout.wide_columns("rstd", rstd)
    xhat = layout.wide_matrix("x", tensor) * row_rstd
    g = grad * layout.wide_row("gamma", parameter)
    dx = (g - xhat * (total(g * xhat, 1) / layout.columns)) * row_rstd
    return RmsNormGrads(layout.tensor(dx, tensor.dtype), layout.parameter(grad * xhat))
