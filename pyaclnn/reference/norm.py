# SPDX-License-Identifier: Apache-2.0
"""Norms of vectors (CANN: aclnnNorm, aclnnLinalgVectorNorm, aclnnForeachNorm)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.norms import norms
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, wide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["foreach_norm", "linalg_vector_norm", "norm"]

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

    Norms of no elements are 0 for every order, as CANN fills them. All families but ``"950"`` take
    2147483647 for infinity. Without `dtype` the result has the data type of the input; arithmetic
    runs in float64 if either is float64, else in float32.

    Raises:
        TypeError: The data type of the input or of the result is not one of the four.
        numpy.exceptions.AxisError: An axis does not exist.
        ValueError: An axis is named twice.
    """
    tensor = np.asarray(input)
    target = tensor.dtype if dtype is None else np.dtype(dtype)
    arithmetic = np.result_type(
        arithmetic_dtype("input", tensor), arithmetic_dtype("the result", np.empty(0, target))
    )
    axes = (dim,) if isinstance(dim, int) else tuple(dim or range(tensor.ndim))
    if not tensor.ndim and axes in ((0,), (-1,)):
        axes = ()  # a number has the axis that it has not
    order = float(ord)
    if family not in (None, "950") and abs(np.float32(order)) == np.float32(LARGEST_INTEGER):
        order = math.copysign(math.inf, order)
    found = norms(wide(tensor, arithmetic), axes, order)
    return rounded(found if keepdim else np.squeeze(found, axes), target)


def norm(
    input: ArrayLike,
    p: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DTypeLike | None = None,
    family: str | None = None,
) -> NDArray[Any]:
    """Take the norm of the vectors that lie along some axes, as `linalg_vector_norm` does.

    Norms of no elements are 0 for every order; `dtype` is that of the result. Families differ as in
    `linalg_vector_norm`.

    Raises:
        TypeError: The data type of the input or of the result is not one of the four.
        numpy.exceptions.AxisError: An axis does not exist.
        ValueError: An axis is named twice.
    """
    return linalg_vector_norm(input, p, dim, keepdim, dtype=dtype, family=family)


@np.errstate(all="ignore")
def foreach_norm(
    x: Sequence[ArrayLike], scalar: float = 2, *, family: str | None = None
) -> list[NDArray[Any]]:
    """Take the norm of each of several tensors, of all its elements at once.

    ``"950"`` knows the orders infinity, and 1 for what begins with it; 2 is every other.

    Raises:
        TypeError: The data type of a tensor is not one of the four.
    """
    order = float(scalar)
    if family == "950" and order != math.inf:
        order = 1 if math.isfinite(order) and int(order) == 1 else 2
    tensors = [np.asarray(tensor) for tensor in x]
    return [linalg_vector_norm(tensor.reshape(-1), order, 0, keepdim=True) for tensor in tensors]
