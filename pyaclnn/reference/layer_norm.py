# SPDX-License-Identifier: Apache-2.0
"""LayerNorm and its gradient (CANN: aclnnLayerNorm, aclnnLayerNormBackward)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, chosen, defined
from pyaclnn.reference.arithmetic.moments import moments, standardized_gradient

IMPL_MODES = (0, 1, 2)
PARAMETERS = "input, normalized_shape, weight=None, bias=None, eps=1e-5"
RESULTS = "LayerNormResult: out mean rstd"


@defined(PARAMETERS, RESULTS)
def layer_norm(given: Given) -> Any:
    """Normalize rows to mean 0 and variance 1, then scale and shift them.

    With the mean and the biased variance taken over the normalized axes:
    `rstd = 1 / sqrt(variance + eps)`, `out = (input - mean) * rstd * weight + bias`.

    If the normalized shape holds no elements, the mean is 0 and rstd is NaN, as CANN fills them.
    """
    rows = given.rows("input", "normalized_shape")
    x, scale, shift = rows.matrix("input"), rows.row("weight"), rows.row("bias", 0)
    centred, mean, variance = moments(x, 1)
    rstd = 1 / np.sqrt(variance + given.eps)
    return rows.tensor(centred * rstd * scale + shift), *rows.statistics(mean, rstd)


@defined(
    "grad_out, input, normalized_shape, mean, rstd, weight=None, bias=None, *, "
    "output_mask=(True, True, True)",
    "LayerNormGrads: grad_input grad_weight grad_bias",
)
def layer_norm_backward(given: Given) -> Any:
    """Propagate a gradient back through `layer_norm`.

    With `xhat = (input - mean) * rstd` and `g = grad_out * weight`, means taken over a row and sums
    over all rows:
    `grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd`,
    `grad_weight = sum(grad_out * xhat)`, `grad_bias = sum(grad_out)`.

    The given `mean` and `rstd` are used as they are, also where they are not those of the input.

    Without rows, the gradients of weight and bias are 0.
    """
    rows = given.rows("input", "normalized_shape")
    dy, rstd = rows.matrix("grad_out"), rows.columns("rstd")
    xhat = (rows.matrix("input") - rows.columns("mean")) * rstd
    g = dy * rows.row("weight")
    rows.row("bias")  # its shape must fit
    grad_input = rows.tensor(standardized_gradient(g, xhat, rstd))
    return chosen(given.output_mask, grad_input, *rows.parameters(dy * xhat, dy))


def check_impl_mode(given: Given) -> None:
    """Check that there is such a mode."""
    if given.impl_mode not in IMPL_MODES:
        raise ValueError(f"impl_mode is {given.impl_mode}; it must be 0, 1 or 2")


@defined(f"{PARAMETERS}, impl_mode=0", RESULTS)
def layer_norm_with_impl_mode(given: Given) -> Any:
    """Do what `layer_norm` does; an NPU may be asked to do it faster or in float16."""
    check_impl_mode(given)
    return given.passed_to(layer_norm)


fast_layer_norm = layer_norm  # of another operator with the same results
