# SPDX-License-Identifier: Apache-2.0
"""LayerNorm that gives integers (CANN: aclnnLayerNormQuant, aclnnAddLayerNormQuant, ...)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.add_layer_norm import add_layer_norm
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import rounded, wide
from pyaclnn.reference.arithmetic.quantization import quantized, quantized_rows
from pyaclnn.reference.arithmetic.rows import RowLayout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "AddLayerNormQuantResult",
    "AddLayerNormQuantV2Result",
    "add_layer_norm_quant",
    "add_layer_norm_quant_v2",
    "layer_norm_quant",
]


class AddLayerNormQuantResult(NamedTuple):
    """Results of `add_layer_norm_quant`; None for each that is not computed."""

    y1: NDArray[np.int8]
    y2: NDArray[np.int8] | None
    x: NDArray[Any] | None
    out_scales1: NDArray[Any] | None
    out_scales2: NDArray[Any] | None


class AddLayerNormQuantV2Result(NamedTuple):
    """Results of `add_layer_norm_quant_v2`; None for each that is not computed."""

    y1: NDArray[np.int8]
    y2: NDArray[np.int8] | None
    x: NDArray[Any] | None
    layernorm_res: NDArray[Any]
    out_scales1: NDArray[Any] | None
    out_scales2: NDArray[Any] | None


def last_axis(parameter: ArrayLike) -> NDArray[Any]:
    """Take (1, H) for (H,)."""
    array = np.asarray(parameter)
    return array[0] if array.ndim > 1 and len(array) == 1 else array


@np.errstate(all="ignore")
def layer_norm_quant(
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    scale: ArrayLike,
    zero_points: ArrayLike | None = None,
    epsilon: float = 1e-5,
) -> NDArray[np.int8]:
    """Normalize rows as `layer_norm` does, then quantize them by one scale.

    With y, what `layer_norm` gives, not rounded: `round(y / scale + zero_points)`, ties to even, as
    far as int8 goes. NaN becomes 0.
    """
    tensor, gain = np.asarray(x), last_axis(gamma)
    layout = RowLayout.of("x", tensor, "the shape of gamma", gain.shape)
    centred, _, variance = moments(layout.wide_matrix("x", tensor), 1)
    y = centred * (1 / np.sqrt(variance + epsilon)) * layout.wide_row("gamma", gain)
    y += layout.wide_row("beta", last_axis(beta))
    shift = 0 if zero_points is None else layout.wide_scale("zero_points", zero_points)
    return quantized(y, layout.wide_scale("scale", scale), shift).reshape(layout.shape)


def add_layer_norm_quant(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    bias: ArrayLike | None = None,
    scales1: ArrayLike | None = None,
    scales2: ArrayLike | None = None,
    zero_points1: ArrayLike | None = None,
    zero_points2: ArrayLike | None = None,
    quant_mode: str = "static",
    epsilon: float = 1e-5,
    additional_output: bool = False,
    div_mode: bool = True,
) -> AddLayerNormQuantResult:
    """Do what `add_layer_norm_quant_v2` does, without the normalized sum itself."""
    operands = x1, x2, gamma, beta, bias, scales1, scales2, zero_points1, zero_points2
    result = add_layer_norm_quant_v2(*operands, quant_mode, epsilon, additional_output, div_mode)
    return AddLayerNormQuantResult(*result[:3], *result[4:])


@np.errstate(all="ignore")
def add_layer_norm_quant_v2(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    bias: ArrayLike | None = None,
    scales1: ArrayLike | None = None,
    scales2: ArrayLike | None = None,
    zero_points1: ArrayLike | None = None,
    zero_points2: ArrayLike | None = None,
    quant_mode: str = "static",
    epsilon: float = 1e-5,
    additional_output: bool = False,
    div_mode: bool = False,
    *,
    family: str | None = None,
) -> AddLayerNormQuantV2Result:
    """Add tensors and normalize the rows of the sum as `add_layer_norm` does, then quantize them.

    With y, what `add_layer_norm` gives, not rounded. Static: `round(y / scales + zero_points)`,
    ties to even. Dynamic, with `v = y * scales`: `factor = 127 / max(|v|)` of a row,
    `round(v * factor)`, and `1 / factor` is returned as well.

    On all families but ``"950"`` scales divide whatever `div_mode` says.
    """
    if quant_mode not in ("static", "dynamic"):
        raise ValueError(f"quant_mode is {quant_mode!r}; it must be 'static' or 'dynamic'")
    tensor, other, gain = np.asarray(x1), np.asarray(x2), np.asarray(gamma)
    if gain.shape != tensor.shape[tensor.ndim - gain.ndim :]:
        gain = last_axis(gain)
    divides = div_mode or family not in (None, "950")
    layout = RowLayout.of("x1", tensor, "the shape of gamma", gain.shape)
    shift = np.reshape(beta, gain.shape) if np.size(beta) == gain.size else beta
    if bias is not None and np.shape(bias) != tensor.shape and np.size(bias) == gain.size:
        bias = np.reshape(bias, gain.shape)
    operands = wide(tensor, layout.dtype), wide(other, layout.dtype), gain, shift, bias
    normalized = add_layer_norm(*operands, epsilon, additional_output=True)
    y = normalized.y.reshape(layout.rows, layout.columns)

    def result(
        index: int, scales: ArrayLike | None, zero_points: ArrayLike | None
    ) -> tuple[NDArray[np.int8], NDArray[Any] | None]:
        step = 1 if scales is None else layout.wide_scale(f"scales{index}", scales)
        if quant_mode == "dynamic":
            integers, worth = quantized_rows(y * step)
            return integers.reshape(layout.shape), worth.reshape(layout.leading)
        name = f"zero_points{index}"
        offset = 0 if zero_points is None else layout.wide_scale(name, zero_points)
        return quantized(y, step, offset, div_mode=divides).reshape(layout.shape), None

    y1, out_scales1 = result(1, scales1, zero_points1)
    y2, out_scales2 = (None, None) if scales2 is None else result(2, scales2, zero_points2)
    x = None
    if additional_output and normalized.x is not None:
        x = rounded(normalized.x, np.result_type(tensor, other))
    return AddLayerNormQuantV2Result(
        y1, y2, x, rounded(normalized.y, tensor.dtype), out_scales1, out_scales2
    )
