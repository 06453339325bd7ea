# SPDX-License-Identifier: Apache-2.0
"""Sums of one device for a BatchNorm over devices, forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.precision import total

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BatchNormReduceGrads",
    "BatchNormReduceResult",
    "batch_norm_reduce",
    "batch_norm_reduce_backward",
]


class BatchNormReduceResult(NamedTuple):
    """What `batch_norm_reduce` returns.

    Attributes:
        sum: The sum of each channel: (C,), float32 (float64 for float64 x).
        square_sum: The sum of the squares of each channel, like `sum`.
    """

    sum: NDArray[Any]
    square_sum: NDArray[Any]


class BatchNormReduceGrads(NamedTuple):
    """What `batch_norm_reduce_backward` returns; None stands for what was not asked for.

    Attributes:
        sum_dy: The sum of the gradient of each channel: (C,), float32 (float64 for float64 input).
        sum_dy_xmu: The sum of the gradient times what the input is above the mean, like `sum_dy`.
        grad_weight: The gradient of the weight, like `sum_dy`.
        grad_bias: The gradient of the bias, like `sum_dy`.
    """

    sum_dy: NDArray[Any] | None
    sum_dy_xmu: NDArray[Any] | None
    grad_weight: NDArray[Any] | None
    grad_bias: NDArray[Any] | None


@np.errstate(all="ignore")
def batch_norm_reduce(x: ArrayLike) -> BatchNormReduceResult:
    """Add up each channel and its squares, over all samples and positions.

    Args:
        x: A float16, bfloat16, float32 or float64 tensor (N, C, ...) of any rank from 2.

    Returns:
        `sum` and `square_sum`. Those of nothing are 0.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: x has no axis of channels.

    Source: CANN: ops-nn norm/bn_training_reduce.
    """
    values = ChannelLayout.of("x", np.asarray(x)).wide("x", x)
    sums = (total(part, (0, 2)).ravel() for part in (values, values * values))
    return BatchNormReduceResult(*sums)


@np.errstate(all="ignore")
def batch_norm_reduce_backward(
    grad_out: ArrayLike,
    input: ArrayLike,
    mean: ArrayLike,
    invstd: ArrayLike,
    weight: ArrayLike | None = None,
    input_g: bool = True,
    weight_g: bool = True,
    bias_g: bool = True,
) -> BatchNormReduceGrads:
    """Add up, over one device's part of a batch, what the gradients need of it.

    Over all samples and positions: `sum_dy = sum(grad_out)`,
    `sum_dy_xmu = sum(grad_out * (input - mean))`, `grad_weight = sum_dy_xmu * invstd`,
    `grad_bias = sum_dy`.

    Args:
        grad_out: The gradient of the forward output; the shape of the input, any float type.
        input: The forward input: float16, bfloat16, float32 or float64, (N, C, ...).
        mean: The mean of each channel of the whole batch: (C,), any float type.
        invstd: The reciprocal standard deviation of each channel, like `mean`.
        weight: Not used.
        input_g: Whether to return `sum_dy` and `sum_dy_xmu`.
        weight_g: Whether to return `grad_weight`.
        bias_g: Whether to return `grad_bias`.

    Returns:
        The four sums, None where not asked for.

    Raises:
        TypeError: The input's data type is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/sync_batch_norm_backward_reduce.
    """
    del weight
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    grad = layout.wide("grad_out", grad_out)
    centred = layout.wide("input", tensor) - layout.per_channel("mean", mean, 0)
    sum_dy, sum_dy_xmu = (total(part, (0, 2)).ravel() for part in (grad, grad * centred))
    deviation = layout.per_channel("invstd", invstd, 1)[:, 0]
    return BatchNormReduceGrads(
        sum_dy if input_g else None,
        sum_dy_xmu if input_g else None,
        sum_dy_xmu * deviation if weight_g else None,
        sum_dy if bias_g else None,
    )
