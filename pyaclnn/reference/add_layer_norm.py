# SPDX-License-Identifier: Apache-2.0
"""LayerNorm of a sum, and its gradient (CANN: aclnnAddLayerNorm, aclnnAddLayerNormGrad)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.moments import moments, standardized_gradient
from pyaclnn.reference.arithmetic.rows import RowLayout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["AddLayerNormGrads", "AddLayerNormResult", "add_layer_norm", "add_layer_norm_grad"]


class AddLayerNormResult(NamedTuple):
    """Results of `add_layer_norm`."""

    y: NDArray[Any]
    mean: NDArray[Any]
    rstd: NDArray[Any]
    x: NDArray[Any] | None


class AddLayerNormGrads(NamedTuple):
    """Results of `add_layer_norm_grad`."""

    dx: NDArray[Any]
    dgamma: NDArray[Any]
    dbeta: NDArray[Any]


@np.errstate(all="ignore")
def add_layer_norm(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    bias: ArrayLike | None = None,
    epsilon: float = 1e-5,
    additional_output: bool = False,
) -> AddLayerNormResult:
    """Add tensors, bring the rows of the sum to mean 0 and variance 1, then scale and shift them.

    `x = x1 + x2 + bias`, and with the mean and the biased variance of each row, which is what the
    axes of gamma span: `rstd = 1 / sqrt(variance + epsilon)`,
    `y = (x - mean) * rstd * gamma + beta`. The `x` that is returned is rounded, not the one that is
    computed with.
    """
    tensor, other, scale = np.asarray(x1), np.asarray(x2), np.asarray(gamma)
    layout = RowLayout.of("x1", tensor, "the shape of gamma", scale.shape)
    x = layout.wide_matrix("x1", tensor) + layout.wide_matrix("x2", other)
    if bias is not None:
        whole = np.shape(bias) == layout.shape
        x = x + (layout.wide_matrix if whole else layout.wide_row)("bias", bias)
    centred, mean, variance = moments(x, 1)
    rstd = 1 / np.sqrt(variance + epsilon)
    y = centred * rstd * layout.wide_row("gamma", scale) + layout.wide_row("beta", beta)
    dtype = np.result_type(tensor, other)
    return AddLayerNormResult(
        layout.tensor(y, dtype),
        layout.statistic(mean),
        layout.statistic(rstd),
        layout.tensor(x, dtype) if additional_output else None,
    )


@np.errstate(all="ignore")
def add_layer_norm_grad(
    dy: ArrayLike,
    x1: ArrayLike,
    x2: ArrayLike,
    rstd: ArrayLike,
    mean: ArrayLike,
    gamma: ArrayLike,
    dsum: ArrayLike | None = None,
) -> AddLayerNormGrads:
    """Propagate a gradient back through `add_layer_norm`.

    With `xhat = (x1 + x2 - mean) * rstd` and `g = dy * gamma`, means over a row and sums over all
    rows: `dx = (g - mean(g) - xhat * mean(g * xhat)) * rstd + dsum`, `dgamma = sum(dy * xhat)`,
    `dbeta = sum(dy)`. The given mean and rstd are used as they are.
    """
    tensor, scale = np.asarray(x1), np.asarray(gamma)
    layout = RowLayout.of("x1", tensor, "the shape of gamma", scale.shape)
    grad, row_rstd = layout.wide_matrix("dy", dy), layout.wide_columns("rstd", rstd)
    x = layout.wide_matrix("x1", tensor) + layout.wide_matrix("x2", x2)
    xhat = (x - layout.wide_columns("mean", mean)) * row_rstd
    dx = standardized_gradient(grad * layout.wide_row("gamma", scale), xhat, row_rstd)
    if dsum is not None:
        dx = dx + layout.wide_matrix("dsum", dsum)
    return AddLayerNormGrads(
        layout.tensor(dx, tensor.dtype), layout.parameter(grad * xhat), layout.parameter(grad)
    )
