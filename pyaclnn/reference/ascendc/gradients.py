# SPDX-License-Identifier: Apache-2.0
"""The gradient of LayerNorm as kernels compute it: two interfaces, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.ascendc.operands import origin_length, parameter, scalar, source, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "LayerNormGradBetaOutputs",
    "LayerNormGradOutputs",
    "layer_norm_grad",
    "layer_norm_grad_beta",
]


class LayerNormGradOutputs(NamedTuple):
    """Results of `layer_norm_grad`, all [B, S, H] and in the data type of its inputs.

    Attributes:
        output_pd_x: The gradient of x.
        res_for_gamma: The normalized x, which `layer_norm_grad_beta` takes.
    """

    output_pd_x: NDArray[Any]
    res_for_gamma: NDArray[Any]


class LayerNormGradBetaOutputs(NamedTuple):
    """Results of `layer_norm_grad_beta`, all [H] and in the data type of its inputs.

    Attributes:
        output_pd_gamma: The gradient of gamma.
        output_pd_beta: The gradient of beta.
    """

    output_pd_gamma: NDArray[Any]
    output_pd_beta: NDArray[Any]


@np.errstate(all="ignore")
def layer_norm_grad(
    input_dy: ArrayLike,
    input_x: ArrayLike,
    input_variance: ArrayLike,
    input_mean: ArrayLike,
    input_gamma: ArrayLike,
    epsilon: float | np.floating[Any],
    *,
    origin_h: int | None = None,
) -> LayerNormGradOutputs:
    """Propagate a gradient back to the input of a layer norm.

    With v = variance + epsilon, all sums over a row:
    `pd_xl = dy * gamma`,
    `pd_var = sum(-0.5 * pd_xl * (x - mean) * v**-1.5)`,
    `pd_mean = sum(-pd_xl * v**-0.5) + pd_var / H * sum(-2 * (x - mean))`,
    `pd_x = pd_xl * v**-0.5 + pd_var * 2 / H * (x - mean) + pd_mean / H`,
    `res_for_gamma = (x - mean) * v**-0.5`.

    The second sum of `pd_mean` is zero if the mean is that of x. aclnnLayerNormBackward does
    without it, so the two differ by `pd_var / H**2 * sum(-2 * (x - mean))` where it is not.

    Args:
        input_dy: The gradient of the output, [B, S, H]: float16 or float32 (float64 for checking).
        input_x: The input of the layer norm, [B, S, H].
        input_variance: The variance of each row, [B, S]; not its reciprocal root.
        input_mean: The mean of each row, [B, S].
        input_gamma: The scale, [H].
        epsilon: Added to the variance. A half kernel gets it as a half.
        origin_h: The H that is divided by, `originHLength`; None means that of the tensors. CANN
            supports no other: the sums run over padding too, so the padding of x, which is zero,
            adds -2 * (0 - mean) to `pd_mean`.

    Returns:
        `output_pd_x` and `res_for_gamma`.

    Raises:
        ValueError: An argument does not fit; the message names it. All have one data type.

    Source: CANN: asc-devkit adv_api/normalization, `AscendC::LayerNormGrad`.
    """
    grad = source("input_dy", input_dy, "BSH")
    shape, dtype = grad.shape, grad.dtype
    h = origin_length("origin_h", origin_h, shape[-1])
    x = parameter("input_x", input_x, shape, dtype)
    variance = parameter("input_variance", input_variance, shape[:-1], dtype)[..., None]
    mean = parameter("input_mean", input_mean, shape[:-1], dtype)[..., None]
    gamma = parameter("input_gamma", input_gamma, shape[-1:], dtype)
    rstd = 1 / np.sqrt(variance + scalar("epsilon", epsilon, dtype))
    centered = x - mean

    pd_xl = wide(grad) * gamma
    pd_var = _row_sum(-0.5 * pd_xl * centered * rstd**3)
    pd_mean = _row_sum(-pd_xl * rstd) + pd_var / h * _row_sum(-2 * centered)
    pd_x = pd_xl * rstd + pd_var * 2 / h * centered + pd_mean / h
    return LayerNormGradOutputs(pd_x.astype(dtype), (centered * rstd).astype(dtype))


@np.errstate(all="ignore")
def layer_norm_grad_beta(res_for_gamma: ArrayLike, input_dy: ArrayLike) -> LayerNormGradBetaOutputs:
    """Propagate a gradient back to the scale and the shift of a layer norm.

    `pd_gamma = sum(dy * res_for_gamma)` and `pd_beta = sum(dy)`, over all rows.

    Args:
        res_for_gamma: The normalized x that `layer_norm_grad` returns, [B, S, H]: float16 or
            float32 (float64 for checking).
        input_dy: The gradient of the output, [B, S, H], of the same data type.

    Returns:
        `output_pd_gamma` and `output_pd_beta`.

    Raises:
        ValueError: An argument does not fit; the message names it.

    Source: CANN: asc-devkit adv_api/normalization, `AscendC::LayerNormGradBeta`.
    """
    normalized = source("res_for_gamma", res_for_gamma, "BSH")
    dy = parameter("input_dy", input_dy, normalized.shape, normalized.dtype)
    pd_gamma = (dy * wide(normalized)).sum(axis=(0, 1))
    pd_beta = dy.sum(axis=(0, 1))
    return LayerNormGradBetaOutputs(
        pd_gamma.astype(normalized.dtype), pd_beta.astype(normalized.dtype)
    )


def _row_sum(block: NDArray[Any]) -> NDArray[Any]:
    total: NDArray[Any] = block.sum(axis=-1, keepdims=True)
    return total
