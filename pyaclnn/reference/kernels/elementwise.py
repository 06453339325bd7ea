# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, functions and comparisons, element by element, with broadcasting.

``other`` and ``exponent`` are a tensor or a number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.kernel import operator
from pyaclnn.reference.kernels.promotion import cast, category, floating, promoted, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__: list[str] = []

Array = Any
_HALF_WAY = 0.5


def _combined(
    function: Callable[..., Any], out: Array | None, *operands: Any, real: bool = False
) -> NDArray[Any]:
    """Compute in the operands' common type; the result goes to `out`, else to the first one."""
    dtype = promoted(*operands)
    dtype = floating(dtype) if real else dtype
    result = function(*(wide(operand, dtype) for operand in operands))
    return cast(result, dtype, operands[0] if out is None else out)


def _scaled(alpha: Any, other: Any, dtype: np.dtype[Any]) -> Any:
    if category(dtype) in "bi" and category(np.asarray(alpha).dtype) not in "bi":
        raise ValueError(f"alpha is {alpha}; with {dtype} it must be an integer")
    return other if alpha == 1 else other * wide(alpha, dtype)


@operator("aclnnAdd", "aclnnAdds", "aclnnInplaceAdd", "aclnnInplaceAdds")
def add(self: Array, other: Any, alpha: Any, out: Array | None = None) -> Array:
    """``self + alpha * other``."""
    dtype = promoted(self, other)
    return _combined(lambda a, b: a + _scaled(alpha, b, dtype), out, self, other)


@operator("aclnnSub", "aclnnSubs", "aclnnInplaceSub", "aclnnInplaceSubs")
def sub(self: Array, other: Any, alpha: Any, out: Array | None = None) -> Array:
    """``self - alpha * other``."""
    dtype = promoted(self, other)
    if category(dtype) == "b":
        raise ValueError("tensors of bool cannot be subtracted")
    return _combined(lambda a, b: a - _scaled(alpha, b, dtype), out, self, other)


@operator("aclnnRsub")
def rsub(self: Array, other: Any, alpha: Any, out: Array) -> Array:
    """``other - alpha * self``."""
    return sub(other, self, alpha, out)


@operator("aclnnMul", "aclnnMuls", "aclnnInplaceMul", "aclnnInplaceMuls")
def mul(self: Array, other: Any, out: Array | None = None) -> Array:
    """``self * other``."""
    return _combined(np.multiply, out, self, other)


@operator("aclnnDiv", "aclnnDivs", "aclnnInplaceDiv", "aclnnInplaceDivs")
def div(self: Array, other: Any, out: Array | None = None) -> Array:
    """``self / other``, of integers in float32."""
    return _combined(np.true_divide, out, self, other, real=True)


@operator("aclnnMaximum")
def maximum(self: Array, other: Array, out: Array) -> Array:
    """The larger one; NaN where one is NaN."""
    return _combined(np.maximum, out, self, other)


@operator("aclnnMinimum")
def minimum(self: Array, other: Array, out: Array) -> Array:
    """The smaller one; NaN where one is NaN."""
    return _combined(np.minimum, out, self, other)


@operator("aclnnPowTensorScalar", "aclnnPowTensorTensor")
def power(self: Array, exponent: Any, out: Array) -> Array:
    """``self ** exponent``."""
    if category(promoted(self, exponent)) in "bi" and np.any(np.asarray(exponent) < 0):
        raise ValueError("an integer cannot be raised to a negative power")
    return _combined(np.power, out, self, exponent)


def _function(function: Callable[..., Any], x: Array, out: Array | None) -> NDArray[Any]:
    return _combined(function, out, x, real=True)


@operator("aclnnSqrt", "aclnnInplaceSqrt")
def sqrt(self: Array, out: Array | None = None) -> Array:
    """The square root."""
    return _function(np.sqrt, self, out)


@operator("aclnnRsqrt")
def rsqrt(self: Array, out: Array) -> Array:
    """``1 / sqrt(self)``."""
    return _function(lambda x: 1 / np.sqrt(x), self, out)


@operator("aclnnReciprocal")
def reciprocal(self: Array, out: Array) -> Array:
    """``1 / self``."""
    return _function(lambda x: 1 / x, self, out)


@operator("aclnnExp")
def exp(self: Array, out: Array) -> Array:
    """The exponential."""
    return _function(np.exp, self, out)


@operator("aclnnLog")
def log(self: Array, out: Array) -> Array:
    """The natural logarithm."""
    return _function(np.log, self, out)


@operator("aclnnSin")
def sin(self: Array, out: Array) -> Array:
    """The sine."""
    return _function(np.sin, self, out)


@operator("aclnnCos")
def cos(input_: Array, out: Array) -> Array:
    """The cosine."""
    return _function(np.cos, input_, out)


@operator("aclnnErf")
def erf(self: Array, out: Array) -> Array:
    """The error function."""
    return _function(np.vectorize(math.erf, otypes=[np.float64]), self, out)


@operator("aclnnAbs")
def absolute(self: Array, out: Array) -> Array:
    """The absolute value."""
    return _combined(np.abs, out, self)


@operator("aclnnNeg")
def negative(self: Array, out: Array) -> Array:
    """``-self``."""
    if category(self.dtype) == "b":
        raise ValueError("a tensor of bool has no negative")
    return _combined(np.negative, out, self)


@operator("aclnnCeil")
def ceil(self: Array, out: Array) -> Array:
    """The smallest integer that is not smaller."""
    return _combined(np.ceil if category(self.dtype) == "f" else np.positive, out, self)


@operator("aclnnFloor")
def floor(self: Array, out: Array) -> Array:
    """The largest integer that is not larger."""
    return _combined(np.floor if category(self.dtype) == "f" else np.positive, out, self)


@operator("aclnnClamp")
def clamp(self: Array, out: Array, clipValueMin: Any = None, clipValueMax: Any = None) -> Array:
    """``self``, not below one number and not above another one, which wins."""
    if clipValueMin is None:
        if clipValueMax is None:
            raise ValueError("clipValueMin and clipValueMax are both NULL")
        return clamp_max(self, clipValueMax, out)
    if clipValueMax is None:
        return clamp_min(self, clipValueMin, out)
    return _combined(
        lambda x, low, high: np.minimum(np.maximum(x, low), high),
        out,
        self,
        clipValueMin,
        clipValueMax,
    )


@operator("aclnnClampMin")
def clamp_min(self: Array, clipValueMin: Any, out: Array) -> Array:
    """``self``, not below a number."""
    return _combined(np.maximum, out, self, clipValueMin)


@operator("aclnnClampMax")
def clamp_max(self: Array, clipValueMax: Any, out: Array) -> Array:
    """``self``, not above a number."""
    return _combined(np.minimum, out, self, clipValueMax)


@operator("aclnnAddcmul", "aclnnInplaceAddcmul")
def addcmul(
    self: Array, tensor1: Array, tensor2: Array, value: Any, out: Array | None = None
) -> Array:
    """``self + value * tensor1 * tensor2``."""
    return _combined(lambda x, a, b, v: x + v * a * b, out, self, tensor1, tensor2, value)


@operator("aclnnAddcdiv", "aclnnInplaceAddcdiv")
def addcdiv(
    self: Array, tensor1: Array, tensor2: Array, value: Any, out: Array | None = None
) -> Array:
    """``self + value * tensor1 / tensor2``."""
    if category(promoted(self, tensor1, tensor2)) in "bi":
        raise ValueError("integers are not divided here")
    return _combined(lambda x, a, b, v: x + v * a / b, out, self, tensor1, tensor2, value)


@operator("aclnnLerp", "aclnnLerps", "aclnnInplaceLerps")
def lerp(self: Array, end: Array, weight: Any, out: Array | None = None) -> Array:
    """``self + weight * (end - self)``, from the nearer end, as PyTorch defines it."""

    def between(a: Array, b: Array, w: Array) -> Array:
        return np.where(np.abs(w) < _HALF_WAY, a + w * (b - a), b - (b - a) * (1 - w))

    return _combined(between, out, self, end, weight)


def _compared(function: Callable[..., Any], self: Array, other: Any, out: Array) -> NDArray[Any]:
    dtype = promoted(self, other)
    return cast(function(wide(self, dtype), wide(other, dtype)), np.dtype(np.bool_), out)


@operator("aclnnEqTensor", "aclnnEqScalar")
def equal_to(self: Array, other: Any, out: Array) -> Array:
    """``self == other``."""
    return _compared(np.equal, self, other, out)


@operator("aclnnNeTensor", "aclnnNeScalar")
def not_equal_to(self: Array, other: Any, out: Array) -> Array:
    """``self != other``."""
    return _compared(np.not_equal, self, other, out)


@operator("aclnnGtTensor", "aclnnGtScalar")
def greater(self: Array, other: Any, out: Array) -> Array:
    """``self > other``."""
    return _compared(np.greater, self, other, out)


@operator("aclnnGeTensor", "aclnnGeScalar")
def greater_or_equal(self: Array, other: Any, out: Array) -> Array:
    """``self >= other``."""
    return _compared(np.greater_equal, self, other, out)


@operator("aclnnLtTensor", "aclnnLtScalar")
def less(self: Array, other: Any, out: Array) -> Array:
    """``self < other``."""
    return _compared(np.less, self, other, out)


@operator("aclnnLeTensor", "aclnnLeScalar")
def less_or_equal(self: Array, other: Any, out: Array) -> Array:
    """``self <= other``."""
    return _compared(np.less_equal, self, other, out)


@operator("aclnnBitwiseAndTensor")
def bitwise_and(self: Array, other: Array, out: Array) -> Array:
    """``self & other``, of integers or bool."""
    if category(promoted(self, other)) not in "bi":
        raise ValueError(f"{promoted(self, other)} has no bits; they must be integers or bool")
    return _combined(np.bitwise_and, out, self, other)


@operator("aclnnLogicalAnd")
def logical_and(self: Array, other: Array, out: Array) -> Array:
    """Whether neither is 0."""
    return cast((self != 0) & (other != 0), np.dtype(np.bool_), out)


@operator("aclnnLogicalOr")
def logical_or(self: Array, other: Array, out: Array) -> Array:
    """Whether one is not 0."""
    return cast((self != 0) | (other != 0), np.dtype(np.bool_), out)


@operator("aclnnLogicalNot")
def logical_not(self: Array, out: Array) -> Array:
    """Whether it is 0."""
    return cast(self == 0, np.dtype(np.bool_), out)


@operator("aclnnIsFinite")
def is_finite(self: Array, out: Array) -> Array:
    """Whether it is neither infinite nor NaN."""
    return cast(np.isfinite(wide(self)), np.dtype(np.bool_), out)


@operator("aclnnIsClose")
def is_close(
    self: Array, other: Array, rtol: float, atol: float, equal_nan: bool, out: Array
) -> Array:
    """``|self - other| <= atol + rtol * |other|``, or equal."""
    near = np.isclose(wide(self), wide(other), rtol, atol, equal_nan)
    return cast(near, np.dtype(np.bool_), out)


@operator("aclnnSWhere")
def where(condition: Array, self: Array, other: Array, out: Array) -> Array:
    """``self`` where the condition is true, else ``other``."""
    dtype = promoted(self, other)
    chosen = np.where(condition != 0, self.astype(dtype), other.astype(dtype))
    return cast(chosen, dtype, out)
