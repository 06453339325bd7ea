# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, functions and comparisons, element by element, with broadcasting.

``other`` and ``exponent`` are a tensor or a number. Operators of one NumPy function are a table.
"""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.reference.kernels.kernel import KernelLimitError, operator
from pyaclnn.reference.kernels.promotion import cast, category, floating, promoted, wide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__: list[str] = []

Array = Any
_HALF_WAY = 0.5


def _combined(function: Callable[..., Any], *operands: Any, real: bool = False) -> NDArray[Any]:
    """Compute in the operands' common type."""
    dtype = promoted(*operands)
    dtype = floating(dtype) if real else dtype
    result = function(*(wide(operand, dtype) for operand in operands))
    if dtype.kind == "c" and result.dtype.kind == "f":
        dtype = result.dtype  # a magnitude
    return cast(result, dtype)


def _scaled(alpha: Any, other: Any, dtype: np.dtype[Any]) -> Any:
    if category(dtype) in "bi" and category(np.asarray(alpha).dtype) not in "bi":
        raise ValueError(f"alpha is {alpha}; with {dtype} it must be an integer")
    return other if alpha == 1 else other * wide(alpha, dtype)


@operator("aclnnAdd", "aclnnAdds", "aclnnInplaceAdd", "aclnnInplaceAdds")
def add(self: Array, other: Any, alpha: Any) -> Array:
    """``self + alpha * other``."""
    dtype = promoted(self, other)
    return _combined(lambda a, b: a + _scaled(alpha, b, dtype), self, other)


@operator("aclnnSub", "aclnnSubs", "aclnnInplaceSub", "aclnnInplaceSubs")
def sub(self: Array, other: Any, alpha: Any) -> Array:
    """``self - alpha * other``; that of two truth values is true if it is not 0."""
    dtype = promoted(self, other)
    difference = np.not_equal if category(dtype) == "b" else np.subtract
    return _combined(lambda a, b: difference(a, _scaled(alpha, b, dtype)), self, other)


@operator("aclnnRsub", "aclnnRsubs")
def rsub(self: Array, other: Any, alpha: Any) -> Array:
    """``other - alpha * self``."""
    return sub(other, self, alpha)


@operator("aclnnMul", "aclnnMuls", "aclnnInplaceMul", "aclnnInplaceMuls")
def mul(self: Array, other: Any) -> Array:
    """``self * other``."""
    return _combined(np.multiply, self, other)


@operator("aclnnDiv", "aclnnDivs", "aclnnInplaceDiv", "aclnnInplaceDivs")
def div(self: Array, other: Any) -> Array:
    """``self / other``, of integers in float32."""
    return _combined(np.true_divide, self, other, real=True)


@operator("aclnnClamp")
def clamp(self: Array, clipValueMin: Any = None, clipValueMax: Any = None) -> Array:
    """``self``, not below one number and not above another one, which wins."""
    if clipValueMin is None:
        if clipValueMax is None:
            raise ValueError("clipValueMin and clipValueMax are both NULL")
        return clamp_max(self, clipValueMax)
    if clipValueMax is None:
        return clamp_min(self, clipValueMin)
    return _combined(
        lambda x, low, high: np.minimum(np.maximum(x, low), high),
        self,
        clipValueMin,
        clipValueMax,
    )


@operator("aclnnClampMin")
def clamp_min(self: Array, clipValueMin: Any) -> Array:
    """``self``, not below a number."""
    return _combined(np.maximum, self, clipValueMin)


@operator("aclnnClampMax")
def clamp_max(self: Array, clipValueMax: Any) -> Array:
    """``self``, not above a number."""
    return _combined(np.minimum, self, clipValueMax)


@operator("aclnnAddcmul", "aclnnInplaceAddcmul")
def addcmul(self: Array, tensor1: Array, tensor2: Array, value: Any) -> Array:
    """``self + value * tensor1 * tensor2``."""
    return _combined(lambda x, a, b, v: x + v * a * b, self, tensor1, tensor2, value)


@operator("aclnnAddcdiv", "aclnnInplaceAddcdiv")
def addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Any) -> Array:
    """``self + value * tensor1 / tensor2``.

    CANN lists INT64, and states neither the order nor the rounding of the division.
    """
    if category(promoted(self, tensor1, tensor2)) in "bi":
        raise KernelLimitError("aclnnAddcdiv has no kernel for integers on the simulated NPU")
    return _combined(lambda x, a, b, v: x + v * a / b, self, tensor1, tensor2, value)


@operator("aclnnLerp", "aclnnLerps", "aclnnInplaceLerps")
def lerp(self: Array, end: Array, weight: Any) -> Array:
    """``self + weight * (end - self)``, from the nearer end, as PyTorch defines it."""

    def between(a: Array, b: Array, w: Array) -> Array:
        return np.where(np.abs(w) < _HALF_WAY, a + w * (b - a), b - (b - a) * (1 - w))

    return _combined(between, self, end, weight)


@operator("aclnnIsClose")
def is_close(self: Array, other: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    """``|self - other| <= atol + rtol * |other|``, or equal."""
    near = np.isclose(wide(self), wide(other), rtol, atol, equal_nan)
    return cast(near, np.dtype(np.bool_))


@operator("aclnnSWhere")
def where(condition: Array, self: Array, other: Array) -> Array:
    """``self`` where the condition is true, else ``other``."""
    dtype = promoted(self, other)
    chosen = np.where(condition != 0, self.astype(dtype), other.astype(dtype))
    return cast(chosen, dtype)


# ---- operators of one NumPy function -------------------------------------------------------------


def _power(base: Array, exponent: Array) -> Array:
    if base.dtype.kind in "biu" and np.any(exponent < 0):
        raise ValueError("an integer cannot be raised to a negative power")
    return np.power(base, exponent)


def _power_each(base: Array, exponent: Array) -> Array:
    """Powers; of an integer the reciprocal, cut off, where the exponent is negative."""
    if base.dtype.kind in "iu":
        reciprocal = np.where(np.abs(base) == 1, base, 0)
        base, exponent = np.where(exponent < 0, reciprocal, base), np.abs(exponent)
    return np.power(base, exponent)


def _negative(x: Array) -> Array:
    if x.dtype.kind == "b":
        raise ValueError("a tensor of bool has no negative")
    return np.negative(x)


def _to_whole(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: function(x) if x.dtype.kind == "f" else x


def _of_bits(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(*operands: Array) -> Array:
        if operands[0].dtype.kind not in "biu":
            raise ValueError(f"{operands[0].dtype} has no bits; they must be integers or bool")
        return function(*operands)

    return compute


def _logical(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*(operand != 0 for operand in operands))


_SAME: Final[Mapping[str, Callable[..., Any]]] = {
    "Abs": np.abs,
    "BitwiseAndScalar": _of_bits(np.bitwise_and),
    "BitwiseAndTensor": _of_bits(np.bitwise_and),
    "BitwiseNot": _of_bits(np.invert),
    "BitwiseOrScalar": _of_bits(np.bitwise_or),
    "BitwiseOrTensor": _of_bits(np.bitwise_or),
    "BitwiseXorScalar": _of_bits(np.bitwise_xor),
    "BitwiseXorTensor": _of_bits(np.bitwise_xor),
    "Ceil": _to_whole(np.ceil),
    "Floor": _to_whole(np.floor),
    "FloorDivide": np.floor_divide,
    "FloorDivides": np.floor_divide,
    "FmodScalar": np.fmod,
    "FmodTensor": np.fmod,
    "Gcd": np.gcd,
    "LeftShift": _of_bits(np.left_shift),
    "LeftShifts": _of_bits(np.left_shift),
    "Maximum": np.maximum,  # NaN where one is NaN
    "Minimum": np.minimum,
    "Neg": _negative,
    "PowScalarTensor": _power,
    "PowTensorScalar": _power,
    "PowTensorTensor": _power_each,
    "RemainderScalarTensor": np.remainder,
    "RemainderTensorScalar": np.remainder,
    "RemainderTensorTensor": np.remainder,
    "RightShift": _of_bits(np.right_shift),
    "Round": _to_whole(np.rint),
    "Sign": lambda x: x if x.dtype.kind == "b" else np.sign(x),
    "Square": np.square,
    "Trunc": _to_whole(np.trunc),
}
"""Functions whose results have the common type of the operands."""
_REAL: Final[Mapping[str, Callable[..., Any]]] = {
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atan2": np.arctan2,
    "Atanh": np.arctanh,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Erf": np.vectorize(math.erf, otypes=[np.float64]),
    "Exp": np.exp,
    "Exp2": np.exp2,
    "Expm1": np.expm1,
    "Heaviside": np.heaviside,
    "Log": np.log,
    "Log10": np.log10,
    "Log1p": np.log1p,
    "Log2": np.log2,
    "LogAddExp": np.logaddexp,
    "LogAddExp2": np.logaddexp2,
    "Reciprocal": lambda x: 1 / x,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Tan": np.tan,
}
"""Functions of real and complex numbers; of integers they are computed in float32."""
_TRUTH: Final[Mapping[str, Callable[..., Any]]] = {
    "EqScalar": np.equal,
    "EqTensor": np.equal,
    "GeScalar": np.greater_equal,
    "GeTensor": np.greater_equal,
    "GtScalar": np.greater,
    "GtTensor": np.greater,
    "IsFinite": np.isfinite,
    "IsInf": np.isinf,
    "LeScalar": np.less_equal,
    "LeTensor": np.less_equal,
    "LogicalAnd": _logical(np.logical_and),
    "LogicalNot": _logical(np.logical_not),
    "LogicalOr": _logical(np.logical_or),
    "LogicalXor": _logical(np.logical_xor),
    "LtScalar": np.less,
    "LtTensor": np.less,
    "NeScalar": np.not_equal,
    "NeTensor": np.not_equal,
    "Signbit": np.signbit,
}
"""Functions whose results are truth values."""


def compute(name: str, *operands: Array) -> NDArray[Any]:
    """Compute an operator of the tables.

    Args:
        name: Its name without ``aclnn``.
        operands: What it reads; the result has the dtype of the first one.
    """
    return _combined(_SAME.get(name) or _REAL[name], *operands, real=name in _REAL)


def _with_real(function: Callable[..., Any], *operands: Any) -> NDArray[Any]:
    return _combined(function, *operands, real=True)


def _with_truth(function: Callable[..., Any], *operands: Any) -> NDArray[Any]:
    dtype = promoted(*operands)
    result = function(*(wide(operand, dtype) for operand in operands))
    return cast(result, np.dtype(np.bool_))


def _kernel(name: str, function: Callable[..., Any], combine: Callable[..., Any]) -> Any:
    """Make the kernel of an operator, with the parameters of C."""
    parameters = catalogue()[name].parameters
    read = [parameter.name for parameter in parameters if parameter.read]

    def kernel(**given: Any) -> Any:
        return combine(function, *(given[parameter] for parameter in read))

    kind = inspect.Parameter.KEYWORD_ONLY
    vars(kernel)["__signature__"] = inspect.Signature(
        [inspect.Parameter(parameter, kind) for parameter in read]
    )
    return operator(name)(kernel)


for _functions, _combine in ((_SAME, _combined), (_REAL, _with_real), (_TRUTH, _with_truth)):
    for _name, _function in _functions.items():
        for _c_name in (f"aclnn{_name}", f"aclnnInplace{_name}"):
            if _c_name in catalogue():
                globals()[_c_name] = _kernel(_c_name, _function, _combine)
