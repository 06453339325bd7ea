# SPDX-License-Identifier: Apache-2.0
"""LayerNorm and its gradient (CANN: aclnnLayerNorm, aclnnLayerNormBackward)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.moments import moments, standardized_gradient
from pyaclnn.reference.arithmetic.rows import RowLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "LayerNormGrads",
    "LayerNormResult",
    "fast_layer_norm",
    "layer_norm",
    "layer_norm_backward",
    "layer_norm_with_impl_mode",
]

IMPL_MODES = (0, 1, 2)


class LayerNormResult(NamedTuple):
    """Results of `layer_norm`."""

    out: NDArray[Any]
    mean: NDArray[Any]
    rstd: NDArray[Any]


class LayerNormGrads(NamedTuple):
    """Results of `layer_norm_backward`; None for each that is not computed."""

    grad_input: NDArray[Any] | None
    grad_weight: NDArray[Any] | None
    grad_bias: NDArray[Any] | None


@np.errstate(all="ignore")
def layer_norm(
    input: ArrayLike,
    normalized_shape: Sequence[int],
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
) -> LayerNormResult:
    """Normalize rows to mean 0 and variance 1, then scale and shift them.

    With the mean and the biased variance taken over the normalized axes:
    `rstd = 1 / sqrt(variance + eps)`, `out = (input - mean) * rstd * weight + bias`.

    If the normalized shape holds no elements, the mean is 0 and rstd is NaN, as CANN fills them.
    """
    tensor = np.asarray(input)
    layout = RowLayout.of("input", tensor, "normalized_shape", normalized_shape)
    x = layout.wide_matrix("input", tensor)
    scale = layout.wide_row("weight", weight)
    shift = layout.wide_row("bias", bias, absent=0)
    centred, mean, variance = moments(x, 1)
    rstd = 1 / np.sqrt(variance + eps)
    out = centred * rstd * scale + shift
    return LayerNormResult(
        layout.tensor(out, tensor.dtype), layout.statistic(mean), layout.statistic(rstd)
    )


@np.errstate(all="ignore")
def layer_norm_backward(
    grad_out: ArrayLike,
    input: ArrayLike,
    normalized_shape: Sequence[int],
    mean: ArrayLike,
    rstd: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    *,
    output_mask: tuple[bool, bool, bool] = (True, True, True),
) -> LayerNormGrads:
    """Propagate a gradient back through `layer_norm`.

    With `xhat = (input - mean) * rstd` and `g = grad_out * weight`, means taken over a row and sums
    over all rows:
    `grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd`,
    `grad_weight = sum(grad_out * xhat)`, `grad_bias = sum(grad_out)`.

    The given `mean` and `rstd` are used as they are, also where they are not those of the input.

    Without rows, the gradients of weight and bias are 0.
    """
    tensor = np.asarray(input)
    layout = RowLayout.of("input", tensor, "normalized_shape", normalized_shape)
    dy = layout.wide_matrix("grad_out", grad_out)
    row_rstd = layout.wide_columns("rstd", rstd)
    xhat = layout.wide_matrix("input", tensor) - layout.wide_columns("mean", mean)
    xhat *= row_rstd
    scale = layout.wide_row("weight", weight)
    if bias is not None:
        layout.row_vector("bias", bias)
    if len(output_mask) != len(LayerNormGrads._fields):
        raise ValueError(
            f"output_mask has {len(output_mask)} elements; it must have one for each of "
            f"{', '.join(LayerNormGrads._fields)}"
        )
    grad_input = standardized_gradient(dy * scale, xhat, row_rstd)
    grads = (
        layout.tensor(grad_input, tensor.dtype),
        layout.parameter(dy * xhat),
        layout.parameter(dy),
    )
    return LayerNormGrads(
        *(grad if wanted else None for grad, wanted in zip(grads, output_mask, strict=True))
    )


def layer_norm_with_impl_mode(
    input: ArrayLike,
    normalized_shape: Sequence[int],
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
    impl_mode: int = 0,
) -> LayerNormResult:
    """Do what `layer_norm` does; an NPU may be asked to do it faster or in float16."""
    if impl_mode not in IMPL_MODES:
        raise ValueError(f"impl_mode is {impl_mode}; it must be 0, 1 or 2")
    return layer_norm(input, normalized_shape, weight, bias, eps)


def fast_layer_norm(
    input: ArrayLike,
    normalized_shape: Sequence[int],
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
) -> LayerNormResult:
    """Do what `layer_norm` does."""
    return layer_norm(input, normalized_shape, weight, bias, eps)
