# SPDX-License-Identifier: Apache-2.0
"""LayerNorm that gives integers (CANN: aclnnLayerNormQuant, aclnnAddLayerNormQuant, ...)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.add_layer_norm import add_layer_norm
from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import rounded, wide
from pyaclnn.reference.arithmetic.quantization import quantized, quantized_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

PARAMETERS = (
    "x1, x2, gamma, beta, bias=None, scales1=None, scales2=None, zero_points1=None, "
    "zero_points2=None, quant_mode='static', epsilon=1e-5, additional_output=False, "
)


def last_axis(parameter: ArrayLike) -> NDArray[Any]:
    """Take (1, H) for (H,)."""
    array = np.asarray(parameter)
    return array[0] if array.ndim > 1 and len(array) == 1 else array


@defined("x, gamma, beta, scale, zero_points=None, epsilon=1e-5")
def layer_norm_quant(given: Given) -> Any:
    """Normalize rows as `layer_norm` does, then quantize them by one scale.

    With y, what `layer_norm` gives, not rounded: `round(y / scale + zero_points)`, ties to even, as
    far as int8 goes. NaN becomes 0.
    """
    given.gamma, given.beta = last_axis(given.gamma), last_axis(given.beta)
    rows = given.rows("x")
    centred, _, variance = moments(rows.matrix("x"), 1)
    y = centred * (1 / np.sqrt(variance + given.epsilon)) * rows.row("gamma")
    y += rows.row("beta")
    shift, scale = rows.scale("zero_points"), rows.scale("scale")
    return quantized(y, scale, shift).reshape(rows.layout.shape)


@defined(f"{PARAMETERS}div_mode=True", "AddLayerNormQuantResult: y1 y2 x out_scales1 out_scales2")
def add_layer_norm_quant(given: Given) -> Any:
    """Do what `add_layer_norm_quant_v2` does, without the normalized sum itself."""
    result = given.passed_to(add_layer_norm_quant_v2)
    return *result[:3], *result[4:]


@defined(
    f"{PARAMETERS}div_mode=False, *, family=None",
    "AddLayerNormQuantV2Result: y1 y2 x layernorm_res out_scales1 out_scales2",
)
def add_layer_norm_quant_v2(given: Given) -> Any:
    """Add tensors and normalize the rows of the sum as `add_layer_norm` does, then quantize them.

    With y, what `add_layer_norm` gives, not rounded. Static: `round(y / scales + zero_points)`,
    ties to even. Dynamic, with `v = y * scales`: `factor = 127 / max(|v|)` of a row,
    `round(v * factor)`, and `1 / factor` is returned as well.

    On all families but ``"950"`` scales divide whatever `div_mode` says.
    """
    if given.quant_mode not in ("static", "dynamic"):
        raise ValueError(f"quant_mode is {given.quant_mode!r}; it must be 'static' or 'dynamic'")
    tensor, other, gain = (given.array(name) for name in ("x1", "x2", "gamma"))
    if gain.shape != tensor.shape[tensor.ndim - gain.ndim :]:
        gain = given.gamma = last_axis(gain)
    divides = given.div_mode or given.family not in (None, "950")
    rows, bias, beta = given.rows("x1"), given.bias, given.beta
    layout = rows.layout
    shift = np.reshape(beta, gain.shape) if np.size(beta) == gain.size else beta
    if bias is not None and np.shape(bias) != tensor.shape and np.size(bias) == gain.size:
        bias = np.reshape(bias, gain.shape)
    operands = wide(tensor, layout.dtype), wide(other, layout.dtype), gain, shift, bias
    normalized = add_layer_norm(*operands, given.epsilon, additional_output=True)
    y = normalized.y.reshape(layout.rows, layout.columns)

    def result(index: int) -> tuple[NDArray[np.int8], NDArray[Any] | None]:
        step = rows.scale(f"scales{index}", 1)
        if given.quant_mode == "dynamic":
            integers, worth = quantized_rows(y * step)
            return integers.reshape(layout.shape), worth.reshape(layout.leading)
        offset = rows.scale(f"zero_points{index}")
        return quantized(y, step, offset, div_mode=divides).reshape(layout.shape), None

    y1, out_scales1 = result(1)
    y2, out_scales2 = (None, None) if given.scales2 is None else result(2)
    x = None
    if given.additional_output:
        x = rounded(normalized.x, np.result_type(tensor, other))
    return y1, y2, x, rounded(normalized.y, tensor.dtype), out_scales1, out_scales2
