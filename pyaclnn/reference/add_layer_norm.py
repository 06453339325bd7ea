# SPDX-License-Identifier: Apache-2.0
"""LayerNorm of a sum, and its gradient (CANN: aclnnAddLayerNorm, aclnnAddLayerNormGrad)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.moments import moments, standardized_gradient


@defined(
    "x1, x2, gamma, beta, bias=None, epsilon=1e-5, additional_output=False",
    "AddLayerNormResult: y mean rstd x",
)
def add_layer_norm(given: Given) -> Any:
    """Add tensors, bring the rows of the sum to mean 0 and variance 1, then scale and shift them.

    `x = x1 + x2 + bias`, and with the mean and the biased variance of each row, which is what the
    axes of gamma span: `rstd = 1 / sqrt(variance + epsilon)`,
    `y = (x - mean) * rstd * gamma + beta`. The `x` that is returned is rounded, not the one that is
    computed with.
    """
    rows = given.rows("x1")
    x = rows.matrix("x1") + rows.matrix("x2")
    if given.bias is not None:
        whole = np.shape(given.bias) == rows.layout.shape
        x = x + (rows.matrix("bias") if whole else rows.row("bias"))
    centred, mean, variance = moments(x, 1)
    rstd = 1 / np.sqrt(variance + given.epsilon)
    y = centred * rstd * rows.row("gamma") + rows.row("beta")
    dtype = np.result_type(given.array("x1"), given.array("x2"))
    added = rows.tensor(x, dtype) if given.additional_output else None
    return rows.tensor(y, dtype), *rows.statistics(mean, rstd), added


@defined("dy, x1, x2, rstd, mean, gamma, dsum=None", "AddLayerNormGrads: dx dgamma dbeta")
def add_layer_norm_grad(given: Given) -> Any:
    """Propagate a gradient back through `add_layer_norm`.

    With `xhat = (x1 + x2 - mean) * rstd` and `g = dy * gamma`, means over a row and sums over all
    rows: `dx = (g - mean(g) - xhat * mean(g * xhat)) * rstd + dsum`, `dgamma = sum(dy * xhat)`,
    `dbeta = sum(dy)`. The given mean and rstd are used as they are.
    """
    rows = given.rows("x1")
    grad, rstd = rows.matrix("dy"), rows.columns("rstd")
    xhat = (rows.matrix("x1") + rows.matrix("x2") - rows.columns("mean")) * rstd
    dx = standardized_gradient(grad * rows.row("gamma"), xhat, rstd)
    if given.dsum is not None:
        dx = dx + rows.matrix("dsum")
    return rows.tensor(dx), *rows.parameters(grad * xhat, grad)
