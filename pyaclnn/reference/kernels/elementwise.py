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


def _of_two(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Make the kernel of a function of two tensors."""

    def compute(self: Array, other: Array, out: Array) -> NDArray[Any]:
        return _combined(function, out, self, other)

    return operator(name)(compute)


maximum = _of_two(np.maximum, "aclnnMaximum")  # NaN where one is NaN
minimum = _of_two(np.minimum, "aclnnMinimum")


@operator("aclnnPowTensorScalar", "aclnnPowTensorTensor")
def power(self: Array, exponent: Any, out: Array) -> Array:
    """``self ** exponent``."""
    if category(promoted(self, exponent)) in "bi" and np.any(np.asarray(exponent) < 0):
        raise ValueError("an integer cannot be raised to a negative power")
    return _combined(np.power, out, self, exponent)


def _of_one(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """Make the kernel of a function of one real number; of integers it is computed in float32."""

    def compute(self: Array, out: Array) -> NDArray[Any]:
        return _combined(function, out, self, real=True)

    def compute_in_place(self: Array, out: Array | None = None) -> NDArray[Any]:
        return _combined(function, out, self, real=True)

    return operator(*names)(compute if len(names) == 1 else compute_in_place)


sqrt = _of_one(np.sqrt, "aclnnSqrt", "aclnnInplaceSqrt")
rsqrt = _of_one(lambda x: 1 / np.sqrt(x), "aclnnRsqrt")
reciprocal = _of_one(lambda x: 1 / x, "aclnnReciprocal")
exp = _of_one(np.exp, "aclnnExp")
log = _of_one(np.log, "aclnnLog")
sin = _of_one(np.sin, "aclnnSin")
erf = _of_one(np.vectorize(math.erf, otypes=[np.float64]), "aclnnErf")


@operator("aclnnCos")
def cos(input_: Array, out: Array) -> Array:
    """The cosine."""
    return _combined(np.cos, out, input_, real=True)


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


def _to_whole(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Make the kernel of a function that rounds; integers stay as they are."""

    def compute(self: Array, out: Array) -> NDArray[Any]:
        return _combined(function if category(self.dtype) == "f" else np.positive, out, self)

    return operator(name)(compute)


ceil = _to_whole(np.ceil, "aclnnCeil")
floor = _to_whole(np.floor, "aclnnFloor")


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


def _compare(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Make the kernel of a comparison with a tensor or a number."""

    def compute(self: Array, other: Any, out: Array) -> NDArray[Any]:
        dtype = promoted(self, other)
        return cast(function(wide(self, dtype), wide(other, dtype)), np.dtype(np.bool_), out)

    return operator(f"{name}Tensor", f"{name}Scalar")(compute)


equal_to = _compare(np.equal, "aclnnEq")
not_equal_to = _compare(np.not_equal, "aclnnNe")
greater = _compare(np.greater, "aclnnGt")
greater_or_equal = _compare(np.greater_equal, "aclnnGe")
less = _compare(np.less, "aclnnLt")
less_or_equal = _compare(np.less_equal, "aclnnLe")


@operator("aclnnBitwiseAndTensor")
def bitwise_and(self: Array, other: Array, out: Array) -> Array:
    """``self & other``, of integers or bool."""
    if category(promoted(self, other)) not in "bi":
        raise ValueError(f"{promoted(self, other)} has no bits; they must be integers or bool")
    return _combined(np.bitwise_and, out, self, other)


def _logical(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Make the kernel of a function of two truth values; a number that is not 0 is true."""

    def compute(self: Array, other: Array, out: Array) -> NDArray[Any]:
        return cast(function(self != 0, other != 0), np.dtype(np.bool_), out)

    return operator(name)(compute)


logical_and = _logical(np.logical_and, "aclnnLogicalAnd")
logical_or = _logical(np.logical_or, "aclnnLogicalOr")


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
