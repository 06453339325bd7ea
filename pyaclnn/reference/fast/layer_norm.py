# SPDX-License-Identifier: Apache-2.0
"""LayerNorm and its gradient in strips."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, chosen, same
from pyaclnn.reference.arithmetic.rows import RowLayout
from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.strips import is_worth_strips, run
from pyaclnn.reference.layer_norm import (
    check_impl_mode,
    layer_norm as definition,
    layer_norm_backward as gradient,
    layer_norm_with_impl_mode as with_impl_mode,
)

NORMALIZED = """
    pivot = first x
    distance squares += x - pivot
    shift = distance / columns
    mean = pivot + shift
    square = squares / columns
    rest = shift * shift
    variance = square - rest
    sum = variance + eps
    rstd = rsqrt sum
    a = (x - mean) * rstd
    out = a * weight + bias
"""
SUMS = """
    a = (x - mean) * rstd
    grad_bias grad_weight += dy * a
"""
GRADIENT = """
    b = dy * weight
    along_ones along_xhat += b * a
    mean_g = along_ones / columns
    mean_xhat = along_xhat / columns
    slope = mean_xhat * rstd
    slope = zero - slope
    a = (x - mean) * slope
    b = dy * weight + a
    grad_input = (b - mean_g) * rstd
"""


@same(definition)
def layer_norm(given: Given) -> Any:
    """Compute the same as `definition("layer_norm")`, strip by strip."""
    tensor = given.array("input")
    if not is_worth_strips(tensor):
        return definition(**vars(given))
    layout = RowLayout.of("input", tensor, "normalized_shape", given.normalized_shape)
    out = empty(tensor.shape, tensor.dtype)
    found = run(
        NORMALIZED,
        (layout.rows, layout.columns),
        {
            "x": layout.matrix("input", tensor),
            "weight": layout.given_row(given, "weight"),
            "bias": layout.given_row(given, "bias"),
            "out": layout.matrix("out", out),
        },
        {"eps": given.eps},
    )
    mean, rstd = (layout.statistic(found[name].astype(layout.dtype)) for name in ("mean", "rstd"))
    return out, mean, rstd


fast_layer_norm = layer_norm  # of another operator with the same results


@same(with_impl_mode)
def layer_norm_with_impl_mode(given: Given) -> Any:
    """Compute the same as `definition("layer_norm_with_impl_mode")`, strip by strip."""
    check_impl_mode(given)
    return given.passed_to(layer_norm)


@same(gradient)
def layer_norm_backward(given: Given) -> Any:
    """Compute the same as `definition("layer_norm_backward")`, strip by strip."""
    tensor = given.array("input")
    if not is_worth_strips(tensor):
        return gradient(**vars(given))
    layout = RowLayout.of("input", tensor, "normalized_shape", given.normalized_shape)
    want_input, want_weight, want_bias = chosen(given.output_mask, *[True] * 3)
    out = empty(tensor.shape, tensor.dtype) if want_input else None
    layout.given_row(given, "bias")  # its shape must fit
    operands = {
        "dy": layout.matrix("grad_out", given.grad_out),
        "x": layout.matrix("input", tensor),
        "weight": layout.given_row(given, "weight"),
        "grad_input": None if out is None else layout.matrix("grad_input", out),
    }
    numbers = {
        name: layout.column_vector(name, getattr(given, name))[:, 0] for name in ("mean", "rstd")
    }
    if not any(given.output_mask):
        return None, None, None
    sums = {
        name: empty((layout.columns,), np.float32) if wanted else None
        for name, wanted in (("grad_bias", want_bias), ("grad_weight", want_weight))
    }
    run(
        SUMS if out is None else SUMS.rstrip() + GRADIENT,
        (layout.rows, layout.columns),
        operands,
        numbers,
        sums,
    )
    return out, *(
        None if each is None else each.reshape(layout.normalized)
        for each in (sums["grad_weight"], sums["grad_bias"])
    )
