# SPDX-License-Identifier: Apache-2.0
"""LayerNorm as kernels call it, in the form that gives the reciprocal standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import ml_dtypes
import numpy as np

from pyaclnn.reference.ascendc.operands import (
    HALF_AND_FLOAT,
    origin_length,
    parameter,
    scalar,
    source,
    wide,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["LayerNormConfig", "LayerNormPara", "LayerNormRstdOutputs", "layer_norm_rstd"]


@dataclass(frozen=True)
class LayerNormConfig:
    """Compile-time options of the kernel; the default is CANN's `LNCFG_NORM`.

    Attributes:
        is_no_beta: `isNoBeta`: beta is not used.
        is_no_gamma: `isNoGamma`: gamma is not used.
        is_only_output: `isOnlyOutput`: reserved; CANN supports False only.
        is_output_rstd: `isOutputRstd`: False gives the variance in place of its reciprocal root.
            Newer than CANN 8.1, and for Ascend 950 only.
    """

    is_no_beta: bool = False
    is_no_gamma: bool = False
    is_only_output: bool = False
    is_output_rstd: bool = True


@dataclass(frozen=True)
class LayerNormPara:
    """Layout of the rows in memory.

    Attributes:
        a_length: `aLength`: the number of rows.
        r_length: `rLength`: how many elements of a row are data.
        r_length_with_padding: `rLengthWithPadding`: how many a stored row has.
    """

    a_length: int
    r_length: int
    r_length_with_padding: int


class LayerNormRstdOutputs(NamedTuple):
    """Results of `layer_norm_rstd`.

    Attributes:
        output: The normalized tensor, [A, R with padding], in the data type of the input.
        output_mean: The mean of each row, [A], float32 (float64 for float64 input).
        output_rstd: 1 / sqrt(variance + epsilon) of each row, or the variance if the configuration
            says so; as `output_mean`.
    """

    output: NDArray[Any]
    output_mean: NDArray[Any]
    output_rstd: NDArray[Any]


@np.errstate(all="ignore")
def layer_norm_rstd(
    input_x: ArrayLike,
    gamma: ArrayLike | None,
    beta: ArrayLike | None,
    epsilon: float | np.floating[Any],
    para: LayerNormPara | None = None,
    config: LayerNormConfig | None = None,
) -> LayerNormRstdOutputs:
    """Normalize rows to mean 0 and variance 1, then scale and shift them.

    The padding of the input is ignored. CANN promises nothing about the padding of the
    output; here it is zero.

    Args:
        input_x: The rows, [A, R with padding]: float16, bfloat16 (Ascend 950) or float32 (float64
            for checking).
        gamma: The scale, [R] or [R with padding], of the input's data type or float32; None only
            if the configuration has no gamma.
        beta: The shift; shape as gamma's, data type equal to gamma's; None only if the
            configuration has no beta.
        epsilon: Added to the variance, as a float.
        para: Layout of the rows; None means that they have no padding.
        config: The computation; None means CANN's default.

    Returns:
        `output`, `output_mean` and `output_rstd`.

    Raises:
        ValueError: An argument does not fit; the message names it.

    Source: CANN: asc-devkit adv_api/normalization, `AscendC::LayerNorm` with `outputRstd`.
    """
    stored = source("input_x", input_x, "AR", HALF_AND_FLOAT | {np.dtype(ml_dtypes.bfloat16)})
    r = _row_length(stored.shape, para)
    config = config or LayerNormConfig()
    if config.is_only_output:
        raise ValueError("config has is_only_output=True; CANN supports False only")
    scale = None if config.is_no_gamma else _weight("gamma", gamma, stored, r)
    shift = None if config.is_no_beta else _weight("beta", beta, stored, r)
    if scale is not None and shift is not None:
        _equal_dtypes(gamma, beta)
    x = wide(stored[:, :r])

    mean = x.mean(axis=1, keepdims=True)
    variance = np.square(x - mean).mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt(variance + scalar("epsilon", epsilon, x.dtype))
    normalized = (x - mean) * rstd
    if scale is not None:
        normalized = normalized * scale
    if shift is not None:
        normalized = normalized + shift
    output = np.zeros_like(stored, order="C", subok=False)
    output[:, :r] = normalized
    return LayerNormRstdOutputs(
        output, mean[:, 0], (rstd if config.is_output_rstd else variance)[:, 0]
    )


def _row_length(shape: tuple[int, ...], para: LayerNormPara | None) -> int:
    if para is None:
        return origin_length("input_x's R axis", None, shape[1])
    expected = (para.a_length, para.r_length_with_padding)
    if shape != expected:
        raise ValueError(
            f"input_x has the shape {shape}; it must be {expected}, "
            "para's a_length and r_length_with_padding"
        )
    return origin_length("para.r_length", para.r_length, para.r_length_with_padding)


def _weight(name: str, tensor: ArrayLike | None, stored: NDArray[Any], r: int) -> NDArray[Any]:
    """Take gamma or beta, whose data type U is no narrower than the input's, without padding."""
    if tensor is None:
        raise ValueError(f"{name} is None; it must be a tensor unless config has is_no_{name}=True")
    array = np.asarray(tensor)
    padded = stored.shape[1]
    if array.shape not in {(r,), (padded,)}:
        shapes = " or ".join(str((length,)) for length in sorted({r, padded}))
        raise ValueError(f"{name} has the shape {array.shape}; it must be {shapes}")
    float_weights = stored.dtype.itemsize < np.dtype(np.float32).itemsize
    if float_weights and array.dtype == np.float32:
        return array[:r]
    return parameter(name, array, array.shape, stored.dtype)[:r]


def _equal_dtypes(gamma: ArrayLike | None, beta: ArrayLike | None) -> None:
    expected, found = np.asarray(gamma).dtype, np.asarray(beta).dtype
    if found != expected:
        raise ValueError(f"beta has the data type {found}; it must be gamma's, {expected}")
