# SPDX-License-Identifier: Apache-2.0
"""RMS normalizations that give integers (CANN: aclnnAddRmsNormQuant)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.added import Added
from pyaclnn.reference.arithmetic.precision import FLOAT16, rounded, wide
from pyaclnn.reference.arithmetic.quantization import quantized

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["AddRmsNormQuantResult", "add_rms_norm_quant"]


class AddRmsNormQuantResult(NamedTuple):
    """What `add_rms_norm_quant` returns.

    Attributes:
        y1: The normalized sum as int8, by the first scale: the shape of x1.
        y2: The same by the second scale; None if there is none.
        x: The sum: the shape and data type of x1.
    """

    y1: NDArray[np.int8]
    y2: NDArray[np.int8] | None
    x: NDArray[Any]


@np.errstate(all="ignore")
def add_rms_norm_quant(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    scales1: ArrayLike,
    scales2: ArrayLike | None = None,
    zero_points1: ArrayLike | None = None,
    zero_points2: ArrayLike | None = None,
    epsilon: float = 1e-6,
    *,
    div_mode: bool = True,
    family: str | None = None,
) -> AddRmsNormQuantResult:
    """Add two tensors, normalize rows of the sum as `add_rms_norm` does, then quantize them.

    With y of `add_rms_norm`: `y1 = round(y / scales1 + zero_points1)`, ties to even, as far as int8
    goes; `y2` alike. NaN becomes 0.

    Args:
        x1: A float16, bfloat16, float32 or float64 tensor of any rank from 1.
        x2: The other summand; the shape of x1, any float type.
        gamma: The scale of the norm, any float type; the shape of x1 must end in that of gamma.
        scales1: The shape of gamma, any float type.
        scales2: Like `scales1`; None means that there is no second result.
        zero_points1: The shape of gamma, any number type; None means zeros.
        zero_points2: Like `zero_points1`.
        epsilon: Added to the mean of squares.
        div_mode: Whether scales divide; else they multiply.
        family: The family of chips. ``"910b"``, ``"910_93"`` and ``"310p"`` normalize the sum
            rounded to the type of x1, and for float16 round `x * rstd` and its product with gamma.

    Returns:
        `y1`, `y2` and `x`.

    Raises:
        TypeError: The data type of x1 is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/add_rms_norm_quant.
    """
    tensor = np.asarray(x1)
    layout, x, rstd, scale, rounds = Added.of(tensor, x2, gamma, epsilon, family)
    y = x * rstd
    if rounds and tensor.dtype == FLOAT16:
        y = wide(rounded(wide(rounded(y, FLOAT16), layout.dtype) * scale, FLOAT16), layout.dtype)
    else:
        y = y * scale

    def result(index: int, scales: ArrayLike, zero_points: ArrayLike | None) -> NDArray[np.int8]:
        divisor = layout.wide_row(f"scales{index}", scales)
        shift = layout.wide_row(f"zero_points{index}", zero_points, absent=0)
        return quantized(y, divisor, shift, div_mode=div_mode).reshape(layout.shape)

    return AddRmsNormQuantResult(
        result(1, scales1, zero_points1),
        None if scales2 is None else result(2, scales2, zero_points2),
        layout.tensor(x, tensor.dtype),
    )
