# SPDX-License-Identifier: Apache-2.0
"""RmsNorm as narrow floats with shared scales (CANN: aclnnRmsNormDynamicMxQuant, ...)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.added import Added
from pyaclnn.reference.arithmetic.microscaling import E4M3, block_scaled
from pyaclnn.reference.rms_norm_quant import normalized

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from pyaclnn.reference.arithmetic.rows import RowLayout

__all__ = [
    "AddRmsNormDynamicMxQuantResult",
    "RmsNormDynamicMxQuantResult",
    "add_rms_norm_dynamic_mx_quant",
    "rms_norm_dynamic_mx_quant",
]


class RmsNormDynamicMxQuantResult(NamedTuple):
    """Results of `rms_norm_dynamic_mx_quant`."""

    y: NDArray[Any]
    mxscale: NDArray[Any]
    rstd: NDArray[Any] | None


class AddRmsNormDynamicMxQuantResult(NamedTuple):
    """Results of `add_rms_norm_dynamic_mx_quant`."""

    y: NDArray[Any]
    x: NDArray[Any]
    mxscale: NDArray[Any]
    rstd: NDArray[Any] | None


@np.errstate(all="ignore")
def rms_norm_dynamic_mx_quant(
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike | None = None,
    epsilon: float = 1e-6,
    scale_alg: int = 0,
    round_mode: str = "rint",
    output_rstd: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> RmsNormDynamicMxQuantResult:
    """Normalize rows as `rms_norm` does, shift them, then scale and round blocks of 32 elements.

    With `v = x * rstd * gamma + beta` and m, the largest of `|v|` in a block: `mxscale` is
    `2 ** (floor(log2(m)) - e)`, where e is the exponent of the largest number of `dtype`, or with
    `scale_alg=1` the least power of two that is at least m over that number. `y = v / mxscale` to
    the nearest, as far as the type goes. A row with an infinite number or NaN gives 0, with scales
    that are NaN.

    Scales are in pairs: without a block for the last one it is 0, in bits. `dtype` is
    float8_e4m3fn, float8_e5m2 or float4_e2m1fn of ml_dtypes; None stands for the first one.
    """
    layout, v, rstd = normalized(x, gamma, beta, epsilon)
    y, mxscale = _scaled(layout, v, rstd, dtype, scale_alg, round_mode)
    return RmsNormDynamicMxQuantResult(y, mxscale, layout.statistic(rstd) if output_rstd else None)


@np.errstate(all="ignore")
def add_rms_norm_dynamic_mx_quant(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike | None = None,
    epsilon: float = 1e-6,
    scale_alg: int = 0,
    round_mode: str = "rint",
    output_rstd: bool = False,
    *,
    dtype: DTypeLike | None = None,
) -> AddRmsNormDynamicMxQuantResult:
    """Add two tensors, then do what `rms_norm_dynamic_mx_quant` does; `x` is rounded on its own."""
    tensor = np.asarray(x1)
    added = Added.of(tensor, x2, gamma, epsilon, None)
    layout, v = added.layout, added.x * added.rstd * added.gamma
    if beta is not None:
        v = v + layout.wide_row("beta", beta)
    y, mxscale = _scaled(layout, v, added.rstd, dtype, scale_alg, round_mode)
    rstd = layout.statistic(added.rstd) if output_rstd else None
    return AddRmsNormDynamicMxQuantResult(y, added.sum(tensor.dtype), mxscale, rstd)


def _scaled(
    layout: RowLayout,
    v: NDArray[Any],
    rstd: NDArray[Any],
    dtype: DTypeLike | None,
    scale_alg: int,
    round_mode: str,
) -> tuple[NDArray[Any], NDArray[Any]]:
    unknown = ~(rstd[:, 0] > 0)  # 0 of an infinite number, NaN of none
    kind = E4M3 if dtype is None else dtype
    y, mxscale = block_scaled(v, unknown, kind, scale_alg, round_mode)
    return y.reshape(layout.shape), mxscale.reshape(*layout.leading, -1, 2)
