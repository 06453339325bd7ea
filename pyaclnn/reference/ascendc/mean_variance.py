# SPDX-License-Identifier: Apache-2.0
"""LayerNorm as kernels call it, in the form that gives mean and variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.ascendc.operands import origin_length, parameter, scalar, source, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["LayerNormOutputs", "layer_norm"]


class LayerNormOutputs(NamedTuple):
    """Results of `layer_norm`, all in the data type of its input.

    Attributes:
        output: The normalized tensor, [B, S, H].
        output_mean: The mean of each row, [B, S].
        output_variance: The biased variance of each row, without epsilon, [B, S].
    """

    output: NDArray[Any]
    output_mean: NDArray[Any]
    output_variance: NDArray[Any]


@np.errstate(all="ignore")
def layer_norm(
    input_x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    epsilon: float | np.floating[Any],
    *,
    origin_h: int | None = None,
) -> LayerNormOutputs:
    """Normalize rows to mean 0 and variance 1, then scale and shift them.

    Mean and variance are those of a row's first `origin_h` elements. The rest of a stored row is
    padding, which goes through the elementwise part like all else: where gamma and beta are padded
    with zeros, as CANN asks, the output's padding is zero.

    Args:
        input_x: The rows, [B, S, H]: float16 or float32 (float64 for checking).
        gamma: The scale, [H], of the same data type.
        beta: The shift, [H], of the same data type.
        epsilon: Added to the variance. A half kernel gets it as a half.
        origin_h: Number of elements of a row that are data, `originHLength`; None means all H.

    Returns:
        `output`, `output_mean` and `output_variance`.

    Raises:
        ValueError: An argument does not fit; the message names it.

    Source: CANN: asc-devkit adv_api/normalization, `AscendC::LayerNorm` with `outputVariance`.
    """
    stored = source("input_x", input_x, "BSH")
    storage_h = stored.shape[-1]
    h = origin_length("origin_h", origin_h, storage_h)
    scale = parameter("gamma", gamma, (storage_h,), stored.dtype)
    shift = parameter("beta", beta, (storage_h,), stored.dtype)
    eps = scalar("epsilon", epsilon, stored.dtype)
    x = wide(stored)

    mean = x[..., :h].mean(axis=-1, keepdims=True)
    centered = x - mean
    variance = np.square(centered[..., :h]).mean(axis=-1, keepdims=True)
    output = centered / np.sqrt(variance + eps) * scale + shift
    return LayerNormOutputs(
        output.astype(stored.dtype),
        mean[..., 0].astype(stored.dtype),
        variance[..., 0].astype(stored.dtype),
    )
