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
    """What `rms_norm` returns.

    Attributes:
        y: The normalized tensor: the shape and data type of x.
        rstd: The reciprocal root mean square of each row: the leading axes, then ones; float32
            (float64 for float64 x).
    """

    y: NDArray[Any]
    rstd: NDArray[Any]


class RmsNormGrads(NamedTuple):
    """What `rms_norm_grad` returns.

    Attributes:
        dx: The gradient of x: its shape and data type.
        dgamma: The gradient of gamma: its shape; float32 (float64 for float64 x).
    """

    dx: NDArray[Any]
    dgamma: NDArray[Any]


@np.errstate(all="ignore")
def rms_norm(x: ArrayLike, gamma: ArrayLike, epsilon: float = 1e-6) -> RmsNormResult:
    """Divide rows by their root mean square, then scale them.

    A row is what the axes of gamma span: the trailing axes of x. With the mean taken over a row:
    `rstd = 1 / sqrt(mean(x * x) + epsilon)`, `y = x * rstd * gamma`.

    Args:
        x: A float16, bfloat16, float32 or float64 tensor of any rank from 1.
        gamma: The scale, any float type; the shape of x must end in the shape of gamma.
        epsilon: Added to the mean of squares.

    Returns:
        `y` and `rstd`. If gamma holds no elements, rstd is NaN: the mean of nothing.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: The shape of gamma does not fit.

    Source: CANN: ops-nn norm/rms_norm.
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

    Args:
        dy: The gradient of the forward output; the shape of x, any float type.
        x: The forward input: float16, bfloat16, float32 or float64, of any rank from 1.
        rstd: The reciprocal root mean square of each row: as many elements as there are rows, in
            any shape and float type.
        gamma: The forward scale, any float type; the shape of x must end in the shape of gamma.

    Returns:
        `dx` and `dgamma`. Without rows dgamma is zeros, the sum of nothing.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/rms_norm_grad.
    """
    tensor, parameter = np.asarray(x), np.asarray(gamma)
    layout = RowLayout.of("x", tensor, "the shape of gamma", parameter.shape)
    grad = layout.wide_matrix("dy", dy)
    row_rstd = layout.wide_columns("rstd", rstd)
    xhat = layout.wide_matrix("x", tensor) * row_rstd
    g = grad * layout.wide_row("gamma", parameter)
    dx = (g - xhat * (total(g * xhat, 1) / layout.columns)) * row_rstd
    return RmsNormGrads(layout.tensor(dx, tensor.dtype), layout.parameter(grad * xhat))
