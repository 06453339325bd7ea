# SPDX-License-Identifier: Apache-2.0
"""RmsNorm of a sum (CANN: aclnnAddRmsNorm, aclnnInplaceAddRmsNorm, aclnnAddRmsNormCast)."""

from __future__ import annotations

from typing import Any

from pyaclnn.reference.arithmetic.added import Added
from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.precision import wide

PARAMETERS = "x1, x2, gamma, epsilon=1e-6, *, family=None"


@defined(PARAMETERS, "AddRmsNormResult: y rstd x")
def add_rms_norm(given: Given) -> Any:
    """Add two tensors, divide the rows of the sum by their root mean square, then scale them.

    `x = x1 + x2`, and then what `rms_norm` does: `rstd = 1 / sqrt(mean(x * x) + epsilon)`,
    `y = x * rstd * gamma`.

    If gamma holds no elements, rstd is NaN: the mean of nothing. ``"910b"``, ``"910_93"`` and
    ``"310p"`` round to a 16-bit type more than once: the sum before it is normalized, `x * rstd`
    before it is scaled.
    """
    added = Added.of(given)
    return added.scaled(added.rows.dtype), added.row_rstd, added.sum


@defined(PARAMETERS, "InplaceAddRmsNormResult: x1 x2 rstd")
def inplace_add_rms_norm(given: Given) -> Any:
    """Do what `add_rms_norm` does, for an operator that overwrites both summands.

    Families differ as in `add_rms_norm`.
    """
    y, rstd, x = given.passed_to(add_rms_norm)
    return y, x, rstd


@defined(PARAMETERS, "AddRmsNormCastResult: y1 y2 rstd x")
def add_rms_norm_cast(given: Given) -> Any:
    """Do what `add_rms_norm` does, and give the normalized sum in float32 as well.

    Families differ as in `add_rms_norm`. Those that round more than once give the rounded `y2`,
    widened, for `y1`; the others give it before it is rounded.
    """
    added = Added.of(given)
    y2, dtype = added.scaled(added.rows.dtype), added.rows.layout.dtype
    y1 = wide(y2, dtype) if added.rounds else added.scaled(dtype)
    return y1, y2, added.row_rstd, added.sum
