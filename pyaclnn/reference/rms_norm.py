# SPDX-License-Identifier: Apache-2.0
"""RmsNorm and its gradient (CANN: aclnnRmsNorm, aclnnRmsNormGrad)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, average, wide

PARAMETERS, RESULTS = "x, gamma, epsilon=1e-6", "RmsNormResult: y rstd"


@defined(PARAMETERS, RESULTS)
def rms_norm(given: Given) -> Any:
    """Divide rows by their root mean square, then scale them.

    A row is what the axes of gamma span: the trailing axes of x. With the mean taken over a row:
    `rstd = 1 / sqrt(mean(x * x) + epsilon)`, `y = x * rstd * gamma`.

    If gamma holds no elements, rstd is NaN: the mean of nothing.
    """
    rows = given.rows("x")
    row, scale = rows.matrix("x"), rows.row("gamma")
    rstd = 1 / np.sqrt(average(row * row, 1) + given.epsilon)
    return rows.tensor(row * rstd * scale), *rows.statistics(rstd)


@defined(PARAMETERS, RESULTS)
def gemma_rms_norm(given: Given) -> Any:
    """Do as `rms_norm`, with `1 + gamma` for gamma (CANN: ops-nn norm/gemma_rms_norm)."""
    dtype = arithmetic_dtype("x", given.array("x"))
    return given.passed_to(rms_norm, gamma=1 + wide(given.gamma, dtype))


@defined("dy, x, rstd, gamma", "RmsNormGrads: dx dgamma")
def rms_norm_grad(given: Given) -> Any:
    """Propagate a gradient back through `rms_norm`.

    With `xhat = x * rstd` and `g = dy * gamma`, the mean over a row and the sum over all rows:
    `dx = (g - xhat * mean(g * xhat)) * rstd`, `dgamma = sum(dy * xhat)`.

    The given `rstd` is used as it is, also where it is not that of x; there is no epsilon here.

    Without rows dgamma is zeros, the sum of nothing.
    """
    rows = given.rows("x")
    grad, rstd = rows.matrix("dy"), rows.columns("rstd")
    xhat = rows.matrix("x") * rstd
    g = grad * rows.row("gamma")
    dx = (g - xhat * average(g * xhat, 1)) * rstd
    return rows.tensor(dx), *rows.parameters(grad * xhat)
