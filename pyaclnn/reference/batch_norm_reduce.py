# SPDX-License-Identifier: Apache-2.0
"""Sums of one device for a BatchNorm over devices, forward and backward."""

from __future__ import annotations

from typing import Any

from pyaclnn.reference.arithmetic.definition import Given, chosen, defined
from pyaclnn.reference.arithmetic.precision import total


@defined("x", "BatchNormReduceResult: sum square_sum")
def batch_norm_reduce(given: Given) -> Any:
    """Add up each channel and its squares, over all samples and positions.

    Sums of nothing are 0.
    """
    values = given.channels("x").wide("x")
    return [total(part, (0, 2)).ravel() for part in (values, values * values)]


@defined(
    "grad_out, input, mean, invstd, weight=None, input_g=True, weight_g=True, bias_g=True",
    "BatchNormReduceGrads: sum_dy sum_dy_xmu grad_weight grad_bias",
)
def batch_norm_reduce_backward(given: Given) -> Any:
    """Add up, over one device's part of a batch, what the gradients need of it.

    Over all samples and positions: `sum_dy = sum(grad_out)`,
    `sum_dy_xmu = sum(grad_out * (input - mean))`, `grad_weight = sum_dy_xmu * invstd`,
    `grad_bias = sum_dy`.
    """
    channels = given.channels("input")
    grad = channels.wide("grad_out")
    centred = channels.wide("input") - channels.each("mean", 0)
    sum_dy, sum_dy_xmu = (total(part, (0, 2)).ravel() for part in (grad, grad * centred))
    sums = sum_dy, sum_dy_xmu, sum_dy_xmu * channels.each("invstd", 1)[:, 0], sum_dy
    return chosen((given.input_g, given.input_g, given.weight_g, given.bias_g), *sums)
