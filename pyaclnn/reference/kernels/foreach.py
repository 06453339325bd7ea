# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on each tensor of a list, as optimizers do it."""

from __future__ import annotations

from typing import Any

from pyaclnn.reference.kernels import elementwise
from pyaclnn.reference.kernels.kernel import operator

__all__: list[str] = []

Arrays = Any


@operator("aclnnForeachAddListV2")
def add_list(x1: Arrays, x2: Arrays, alpha: Any) -> Arrays:
    """``x1 + alpha * x2``."""
    return [elementwise.add(a, b, alpha) for a, b in zip(x1, x2, strict=True)]


@operator("aclnnForeachAddScalarV2")
def add_scalar(x: Arrays, scalar: Any) -> Arrays:
    """``x + scalar``."""
    return [elementwise.add(a, scalar, 1) for a in x]


@operator("aclnnForeachMulScalarV2")
def mul_scalar(x: Arrays, scalar: Any) -> Arrays:
    """``x * scalar``."""
    return [elementwise.mul(a, scalar) for a in x]


@operator("aclnnForeachMulList")
def mul_list(x1: Arrays, x2: Arrays) -> Arrays:
    """``x1 * x2``."""
    return [elementwise.mul(a, b) for a, b in zip(x1, x2, strict=True)]


@operator("aclnnForeachDivScalarList")
def div_scalar_list(x: Arrays, scalars: Any) -> Arrays:
    """``x / scalar``, each by a number of its own."""
    return [elementwise.div(a, number) for a, number in zip(x, scalars, strict=True)]


@operator("aclnnForeachLerpScalar")
def lerp_scalar(x1: Arrays, x2: Arrays, weight: Any) -> Arrays:
    """``x1 + weight * (x2 - x1)``."""
    return [elementwise.lerp(a, b, weight) for a, b in zip(x1, x2, strict=True)]


@operator("aclnnForeachAddcmulScalarV2")
def addcmul_scalar(x1: Arrays, x2: Arrays, x3: Arrays, scalar: Any) -> Arrays:
    """``x1 + scalar * x2 * x3``."""
    rows = zip(x1, x2, x3, strict=True)
    return [elementwise.addcmul(a, b, c, scalar) for a, b, c in rows]


@operator("aclnnForeachAddcdivScalarV2")
def addcdiv_scalar(x1: Arrays, x2: Arrays, x3: Arrays, scalar: Any) -> Arrays:
    """``x1 + scalar * x2 / x3``."""
    rows = zip(x1, x2, x3, strict=True)
    return [elementwise.addcdiv(a, b, c, scalar) for a, b, c in rows]


@operator("aclnnForeachSqrt")
def sqrt(x: Arrays) -> Arrays:
    """The square root."""
    return [elementwise.compute("Sqrt", a) for a in x]


@operator("aclnnForeachNeg")
def negative(x: Arrays) -> Arrays:
    """``-x``."""
    return [elementwise.compute("Neg", a) for a in x]
