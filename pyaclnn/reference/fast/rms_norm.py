# SPDX-License-Identifier: Apache-2.0
"""RmsNorm and its gradient in strips."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, same
from pyaclnn.reference.arithmetic.rows import RowLayout
from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.strips import is_worth_strips, run
from pyaclnn.reference.rms_norm import rms_norm as definition, rms_norm_grad as gradient

NORMALIZED = """
    squares += x * x
    mean = squares / columns
    sum = mean + epsilon
    rstd = rsqrt sum
    a = x * rstd
    y = a * gamma
"""
GRADIENT = """
    a = x * rstd
    dgamma += dy * a
    b = dy * gamma
    along_xhat += b * a
    mean = along_xhat / columns
    slope = mean * rstd
    slope = zero - slope
    a = x * slope
    b = dy * gamma + a
    dx = b * rstd
"""


@same(definition)
def rms_norm(given: Given) -> Any:
    """Compute the same as `definition("rms_norm")`, strip by strip."""
    tensor = given.array("x")
    if not is_worth_strips(tensor):
        return definition(**vars(given))
    layout = RowLayout.of("x", tensor, "the shape of gamma", np.shape(given.gamma))
    y = empty(tensor.shape, tensor.dtype)
    found = run(
        NORMALIZED,
        (layout.rows, layout.columns),
        {
            "x": layout.matrix("x", tensor),
            "gamma": layout.given_row(given, "gamma"),
            "y": layout.matrix("y", y),
        },
        {"epsilon": given.epsilon},
    )
    return y, layout.statistic(found["rstd"].astype(layout.dtype))


@same(gradient)
def rms_norm_grad(given: Given) -> Any:
    """Compute the same as `definition("rms_norm_grad")`, strip by strip."""
    tensor = given.array("x")
    if not is_worth_strips(tensor):
        return gradient(**vars(given))
    layout = RowLayout.of("x", tensor, "the shape of gamma", np.shape(given.gamma))
    dx = empty(tensor.shape, tensor.dtype)
    dgamma = empty(layout.normalized, layout.dtype)
    run(
        GRADIENT,
        (layout.rows, layout.columns),
        {
            "dy": layout.matrix("dy", given.dy),
            "x": layout.matrix("x", tensor),
            "gamma": layout.given_row(given, "gamma"),
            "dx": layout.matrix("dx", dx),
        },
        {"rstd": layout.column_vector("rstd", given.rstd)[:, 0]},
        {"dgamma": dgamma.reshape(-1)},
    )
    return dx, dgamma
