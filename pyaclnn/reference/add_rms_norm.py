# SPDX-License-Identifier: Apache-2.0
"""RmsNorm of a sum (CANN: aclnnAddRmsNorm, aclnnInplaceAddRmsNorm, aclnnAddRmsNormCast)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.added import Added
from pyaclnn.reference.arithmetic.precision import wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "AddRmsNormCastResult",
    "AddRmsNormResult",
    "InplaceAddRmsNormResult",
    "add_rms_norm",
    "add_rms_norm_cast",
    "inplace_add_rms_norm",
]


class AddRmsNormResult(NamedTuple):
    """Results of `add_rms_norm`."""

    y: NDArray[Any]
    rstd: NDArray[Any]
    x: NDArray[Any]


class InplaceAddRmsNormResult(NamedTuple):
    """Results of `inplace_add_rms_norm`: its updated arguments and `rstd`."""

    x1: NDArray[Any]
    x2: NDArray[Any]
    rstd: NDArray[Any]


class AddRmsNormCastResult(NamedTuple):
    """Results of `add_rms_norm_cast`."""

    y1: NDArray[Any]
    y2: NDArray[Any]
    rstd: NDArray[Any]
    x: NDArray[Any]


@np.errstate(all="ignore")
def add_rms_norm(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    epsilon: float = 1e-6,
    *,
    family: str | None = None,
) -> AddRmsNormResult:
    """Add two tensors, divide the rows of the sum by their root mean square, then scale them.

    `x = x1 + x2`, and then what `rms_norm` does: `rstd = 1 / sqrt(mean(x * x) + epsilon)`,
    `y = x * rstd * gamma`.

    If gamma holds no elements, rstd is NaN: the mean of nothing. ``"910b"``, ``"910_93"`` and
    ``"310p"`` round to a 16-bit type more than once: the sum before it is normalized, `x * rstd`
    before it is scaled.
    """
    tensor = np.asarray(x1)
    added = Added.of(tensor, x2, gamma, epsilon, family)
    return AddRmsNormResult(added.scaled(tensor.dtype), added.row_rstd, added.sum(tensor.dtype))


def inplace_add_rms_norm(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    epsilon: float = 1e-6,
    *,
    family: str | None = None,
) -> InplaceAddRmsNormResult:
    """Do what `add_rms_norm` does, for an operator that overwrites both summands.

    Families differ as in `add_rms_norm`.
    """
    y, rstd, x = add_rms_norm(x1, x2, gamma, epsilon, family=family)
    return InplaceAddRmsNormResult(y, x, rstd)


@np.errstate(all="ignore")
def add_rms_norm_cast(
    x1: ArrayLike,
    x2: ArrayLike,
    gamma: ArrayLike,
    epsilon: float = 1e-6,
    *,
    family: str | None = None,
) -> AddRmsNormCastResult:
    """Do what `add_rms_norm` does, and give the normalized sum in float32 as well.

    Families differ as in `add_rms_norm`. Those that round more than once give the rounded `y2`,
    widened, for `y1`; the others give it before it is rounded.
    """
    tensor = np.asarray(x1)
    added = Added.of(tensor, x2, gamma, epsilon, family)
    y2 = added.scaled(tensor.dtype)
    dtype = added.layout.dtype
    y1 = wide(y2, dtype) if added.rounds else added.scaled(dtype)
    return AddRmsNormCastResult(y1, y2, added.row_rstd, added.sum(tensor.dtype))
