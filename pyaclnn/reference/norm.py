# SPDX-License-Identifier: Apache-2.0
"""Norms of vectors (CANN: aclnnNorm, aclnnLinalgVectorNorm, aclnnForeachNorm)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.norms import norms
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, wide

LARGEST_INTEGER = 2**31 - 1


@defined("input, ord=2, dim=None, keepdim=False, *, dtype=None, family=None")
def linalg_vector_norm(given: Given) -> Any:
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
    tensor, target, dim = given.array("input"), given.dtype_like("input"), given.dim
    arithmetic = np.result_type(
        arithmetic_dtype("input", tensor), arithmetic_dtype("the result", np.empty(0, target))
    )
    axes = (dim,) if isinstance(dim, int) else tuple(dim or range(tensor.ndim))
    if not tensor.ndim and axes in ((0,), (-1,)):
        axes = ()  # a number has the axis that it has not
    order = float(given.ord)
    if given.family not in (None, "950") and abs(np.float32(order)) == np.float32(LARGEST_INTEGER):
        order = math.copysign(math.inf, order)
    found = norms(wide(tensor, arithmetic), axes, order)
    return rounded(found if given.keepdim else np.squeeze(found, axes), target)


@defined("input, p=2, dim=None, keepdim=False, *, dtype=None, family=None")
def norm(given: Given) -> Any:
    """Take the norm of the vectors that lie along some axes, as `linalg_vector_norm` does.

    Norms of no elements are 0 for every order; `dtype` is that of the result. Families differ as in
    `linalg_vector_norm`.

    Raises:
        TypeError: The data type of the input or of the result is not one of the four.
        numpy.exceptions.AxisError: An axis does not exist.
        ValueError: An axis is named twice.
    """
    return given.passed_to(linalg_vector_norm, ord=given.p)


@defined("x, scalar=2, *, family=None")
def foreach_norm(given: Given) -> Any:
    """Take the norm of each of several tensors, of all its elements at once.

    ``"950"`` knows the orders infinity, and 1 for what begins with it; 2 is every other.

    Raises:
        TypeError: The data type of a tensor is not one of the four.
    """
    order = float(given.scalar)
    if given.family == "950" and order != math.inf:
        order = 1 if math.isfinite(order) and int(order) == 1 else 2
    tensors = [np.asarray(tensor) for tensor in given.x]
    return [linalg_vector_norm(tensor.reshape(-1), order, 0, keepdim=True) for tensor in tensors]
