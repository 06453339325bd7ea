# SPDX-License-Identifier: Apache-2.0
"""RmsNorm as narrow floats with shared scales (CANN: aclnnRmsNormDynamicMxQuant, ...)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.reference.arithmetic.added import Added
from pyaclnn.reference.arithmetic.definition import Given, RowsGiven, defined
from pyaclnn.reference.arithmetic.microscaling import E4M3, block_scaled
from pyaclnn.reference.rms_norm_quant import normalized

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARAMETERS = (
    "gamma, beta=None, epsilon=1e-6, scale_alg=0, round_mode='rint', output_rstd=False, *, "
    "dtype=None"
)


@defined(f"x, {PARAMETERS}", "RmsNormDynamicMxQuantResult: y mxscale rstd")
def rms_norm_dynamic_mx_quant(given: Given) -> Any:
    """Normalize rows as `rms_norm` does, shift them, then scale and round blocks of 32 elements.

    With `v = x * rstd * gamma + beta` and m, the largest of `|v|` in a block: `mxscale` is
    `2 ** (floor(log2(m)) - e)`, where e is the exponent of the largest number of `dtype`, or with
    `scale_alg=1` the least power of two that is at least m over that number. `y = v / mxscale` to
    the nearest, as far as the type goes. A row with an infinite number or NaN gives 0, with scales
    that are NaN.

    Scales are in pairs: without a block for the last one it is 0, in bits. `dtype` is
    float8_e4m3fn, float8_e5m2 or float4_e2m1fn of ml_dtypes; None stands for the first one.
    """
    return scaled(given, *normalized(given))


@defined(f"x1, x2, {PARAMETERS}", "AddRmsNormDynamicMxQuantResult: y x mxscale rstd")
def add_rms_norm_dynamic_mx_quant(given: Given) -> Any:
    """Add two tensors, then do what `rms_norm_dynamic_mx_quant` does; `x` is rounded on its own."""
    added = Added.of(given)
    v = added.x * added.rstd * added.gamma
    if given.beta is not None:
        v = v + added.rows.row("beta")
    y, *others = scaled(given, added.rows, v, added.rstd)
    return y, added.sum, *others


def scaled(given: Given, rows: RowsGiven, v: NDArray[Any], rstd: NDArray[Any]) -> Any:
    """Return the scaled blocks, their scales, and `rstd` if it is asked for."""
    unknown = ~(rstd[:, 0] > 0)  # 0 of an infinite number, NaN of none
    kind = E4M3 if given.dtype is None else given.dtype
    y, mxscale = block_scaled(v, unknown, kind, given.scale_alg, given.round_mode)
    (statistic,) = rows.statistics(rstd) if given.output_rstd else (None,)
    return y.reshape(rows.layout.shape), mxscale.reshape(*rows.layout.leading, -1, 2), statistic
