# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, accumulated in float32. ``cubeMathType`` may lower that, and does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.kernels.kernel import operator
from pyaclnn.reference.kernels.promotion import cast, category, promoted, wide

__all__: list[str] = []

Array = Any
_MATRIX = 2
_CUBE_MATH_TYPES = range(4)


def _product(a: Array, b: Array, cube: int) -> Array:
    dtype = promoted(a, b)
    if cube not in _CUBE_MATH_TYPES:
        raise ValueError(f"cubeMathType is {cube}; it must be 0 to 3")
    if category(dtype) != "f":
        raise ValueError(f"matrices of {dtype} are not multiplied; they must be of floats")
    if a.ndim and b.ndim and a.shape[-1] != b.shape[max(b.ndim - _MATRIX, 0)]:
        raise ValueError(f"shapes {a.shape} and {b.shape} do not go together as factors")
    return cast(np.matmul(wide(a, dtype), wide(b, dtype)), dtype)


def _must_be(rank: int, **matrices: Array) -> None:
    for name, matrix in matrices.items():
        if matrix.ndim != rank:
            raise ValueError(f"{name} has {matrix.ndim} dimensions; it must have {rank}")


@operator("aclnnMatmul")
def matmul(self: Array, mat2: Array, cubeMathType: int) -> Array:
    """``self @ mat2``, with broadcasting of what stands before the last two dimensions."""
    return _product(self, mat2, cubeMathType)


@operator("aclnnMm")
def mm(self: Array, mat2: Array, cubeMathType: int) -> Array:
    """The product of two matrices."""
    _must_be(_MATRIX, self=self, mat2=mat2)
    return _product(self, mat2, cubeMathType)


@operator("aclnnBatchMatMul")
def batch_matmul(self: Array, mat2: Array, cubeMathType: int) -> Array:
    """The products of two rows of matrices."""
    _must_be(_MATRIX + 1, self=self, mat2=mat2)
    return _product(self, mat2, cubeMathType)


@operator("aclnnAddmm")
def addmm(
    self: Array,
    mat1: Array,
    mat2: Array,
    beta: Any,
    alpha: Any,
    cubeMathType: int,
) -> Array:
    """``beta * self + alpha * (mat1 @ mat2)``; with ``beta`` 0, ``self`` is not read."""
    _must_be(_MATRIX, mat1=mat1, mat2=mat2)
    dtype = promoted(self, mat1, mat2)
    product = _product(wide(mat1, dtype), wide(mat2, dtype), cubeMathType)
    result = wide(alpha, dtype) * product
    if beta != 0:
        result = wide(beta, dtype) * wide(self, dtype) + result
    return cast(result, dtype)
