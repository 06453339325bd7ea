# SPDX-License-Identifier: Apache-2.0
"""Norms of vectors (CANN: aclnnLinalgVectorNorm)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, total, wide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["linalg_vector_norm"]

EUCLIDEAN = 2
LARGEST_INTEGER = 2**31 - 1


@np.errstate(all="ignore")
def linalg_vector_norm(
    input: ArrayLike,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    family: str | None = None,
) -> NDArray[Any]:
    """Take the norm of the vectors that lie along some axes.

    `sum(|x| ** ord) ** (1 / ord)`; for `ord` infinity the largest |x|, for minus infinity the
    smallest, for 0 the number of elements that are not 0.

    Args:
        input: A float16, bfloat16, float32 or float64 tensor of any rank.
        ord: The order of the norm.
        dim: The axes; None or none at all means all of them.
        keepdim: Whether the axes stay, with one element each.
        dtype: The data type of the result; None means the input's. Arithmetic runs in float64 if
            either is float64, else in float32.
        family: The family of chips. All but ``"950"`` take 2147483647 for infinity.

    Returns:
        The norms. Those of no elements are 0 for every order, as CANN fills them.

    Raises:
        TypeError: The data type of the input or of the result is not one of the four.
        numpy.exceptions.AxisError: An axis does not exist.
        ValueError: An axis is named twice.

    Source: CANN: ops-nn norm/lp_norm_v2.
    """
    tensor = np.asarray(input)
    target = tensor.dtype if dtype is None else np.dtype(dtype)
    x = np.abs(wide(tensor, arithmetic_dtype("input", tensor)))
    x = wide(x, np.result_type(x.dtype, arithmetic_dtype("the result", np.empty(0, target))))
    axes = (dim,) if isinstance(dim, int) else tuple(dim or range(tensor.ndim))
    order = order_of(ord, family)
    if not tensor.size:
        norms = np.zeros_like(total(x, axes))
    elif math.isinf(order):
        norms = (np.maximum if order > 0 else np.minimum).reduce(x, axes, keepdims=True)
    elif order == 0:
        norms = total((x != 0).astype(x.dtype), axes)
    elif order == 1:
        norms = total(x, axes)
    elif order == EUCLIDEAN:
        norms = np.sqrt(total(x * x, axes))
    else:
        norms = total(x**order, axes) ** (1 / order)
    return rounded(norms if keepdim else np.squeeze(norms, axes), target)


def order_of(order: float, family: str | None) -> float:
    """Find out which order a kernel takes: it knows infinity as the largest 32-bit integer."""
    if family not in (None, "950") and abs(np.float32(order)) == np.float32(LARGEST_INTEGER):
        return math.copysign(math.inf, order)
    return float(order)
