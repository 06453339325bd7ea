# SPDX-License-Identifier: Apache-2.0
"""DeepNorm and its gradient (CANN: aclnnDeepNorm, aclnnDeepNormGrad)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import average


@defined("x, gx, beta, gamma, alpha=0.3, epsilon=1e-6", "DeepNormResult: mean rstd y")
def deep_norm(given: Given) -> Any:
    """Normalize the rows of a weighted residual sum, then scale and shift them.

    With `s = alpha * x + gx`, and the mean and the biased variance of each row of it, which is what
    the axes of gamma span: `rstd = 1 / sqrt(variance + epsilon)`,
    `y = (s - mean) * rstd * gamma + beta`.
    """
    rows = given.rows("x")
    centred, mean, variance = moments(given.alpha * rows.matrix("x") + rows.matrix("gx"), 1)
    rstd = 1 / np.sqrt(variance + given.epsilon)
    y = centred * rstd * rows.row("gamma") + rows.row("beta")
    return *rows.statistics(mean, rstd), rows.tensor(y)


@defined("dy, x, gx, gamma, mean, rstd, alpha=0.3", "DeepNormGrads: dx dgx dbeta dgamma")
def deep_norm_grad(given: Given) -> Any:
    """Propagate a gradient back through `deep_norm`.

    With `c = alpha * x + gx - mean` and `g = dy * gamma`, means over a row, sums over all rows:
    `dgx = g * rstd - c * mean(g * c * rstd ** 3) - mean(g * rstd)`, `dx = alpha * dgx`,
    `dbeta = sum(dy)`, `dgamma = sum(dy * rstd * c)`. The given mean and rstd are used as they are.
    """
    rows, alpha = given.rows("x"), given.alpha
    grad, rstd = rows.matrix("dy"), rows.columns("rstd")
    centred = alpha * rows.matrix("x") + rows.matrix("gx") - rows.columns("mean")
    g = grad * rows.row("gamma")
    of_variance = -average(g * centred * rstd**3, 1)
    dgx = g * rstd + of_variance * centred + -average(g * rstd, 1)
    of_parameters = rows.parameters(grad, grad * rstd * centred)
    return rows.tensor(alpha * dgx), rows.tensor(dgx), *of_parameters
