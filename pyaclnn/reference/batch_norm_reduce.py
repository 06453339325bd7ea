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
    """Results of `batch_norm_reduce`."""

    sum: NDArray[Any]
    square_sum: NDArray[Any]


class BatchNormReduceGrads(NamedTuple):
    """Results of `batch_norm_reduce_backward`; None for each that is not requested."""

    sum_dy: NDArray[Any] | None
    sum_dy_xmu: NDArray[Any] | None
    grad_weight: NDArray[Any] | None
    grad_bias: NDArray[Any] | None


@np.errstate(all="ignore")
def batch_norm_reduce(x: ArrayLike) -> BatchNormReduceResult:
    """Add up each channel and its squares, over all samples and positions.

    Sums of nothing are 0.
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
