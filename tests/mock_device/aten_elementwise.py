# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators in NumPy: expected results for arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.facts.operators.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ANY = np.array([[-2.0, -0.75, 0.0], [0.5, 1.0, 2.5]], np.float32)
OTHER = np.array([[1.5, -0.5, 2.0], [-2.0, 4.0, 0.25]], np.float32)
INSIDE = np.array([-0.875, -0.25, 0.0, 0.125, 0.75], np.float32)
ABOVE = np.array([1.0, 1.25, 2.0, 7.5], np.float32)
POSITIVE = np.array([[0.0625, 0.5, 1.0], [2.0, 3.75, 10.0]], np.float32)
EXTREME = np.array([-np.inf, -1.5, 0.0, np.nan, np.inf], np.float32)
INTEGERS = np.array([[12, -7, 0], [5, 6, -30]], np.int32)
MORE = np.array([[8, 3, 4], [-10, 1, 12]], np.int32)
FLAGS = np.array([True, False, True, False])
GRADIENT = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -3.0]], np.float32)


class Vector(NamedTuple):
    """Arguments and expected results of an operator."""

    operator: str
    given: Mapping[str, Any]
    results: Mapping[str, Any]


def vector(name: str, results: Any, *given: Any) -> Vector:
    """Arguments in C's order, without those that are only written; one result, or a tuple.

    Arrays of floating point are in single precision.
    """
    parameters = catalogue()[name].parameters
    read = [p.name for p in parameters if p.read]
    written = [p.name for p in parameters if p.written]
    found = [single(r) for r in (results if isinstance(results, tuple) else (results,))]
    return Vector(
        name,
        dict(zip(read, map(narrow, given), strict=True)),
        dict(zip(written, found, strict=True)),
    )


def single(result: Any) -> Any:
    """A result in float32, if it is of floating point; a list one by one; None is not wanted."""
    if result is None or isinstance(result, list):
        return result and [single(item) for item in result]
    array = np.asarray(result)
    return array.astype({"f": np.float32, "c": np.complex64}.get(array.dtype.kind, array.dtype))


def narrow(given: Any) -> Any:
    """Return the arguments with the result arrays."""
    if isinstance(given, list):
        return [narrow(item) for item in given]
    return single(given) if isinstance(given, np.ndarray) else given


def each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python's numbers, element by element."""
    return np.vectorize(function, otypes=[np.float64])


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


# erf is in Python, its inverse is not: the input is made of the result.
_ERF = each(math.erf)(INSIDE)
_GAMMA = 0.5772156649015329

UNARY: dict[str, tuple[Any, Any]] = {
    "Acos": (np.arccos, INSIDE),
    "Acosh": (np.arccosh, ABOVE),
    "Asin": (np.arcsin, INSIDE),
    "Asinh": (np.arcsinh, ANY),
    "Atan": (np.arctan, ANY),
    "Atanh": (np.arctanh, INSIDE),
    "Ceil": (np.ceil, ANY),
    "Cos": (np.cos, ANY),
    "Cosh": (np.cosh, ANY),
    "Digamma": (
        lambda _: [-_GAMMA - 2 * math.log(2), -_GAMMA, 1 - _GAMMA, 1.5 - _GAMMA],
        np.array([0.5, 1, 2, 3], np.float32),
    ),
    "Erf": (each(math.erf), ANY),
    "Erfc": (each(math.erfc), ANY),
    "Erfinv": (lambda _: INSIDE, _ERF.astype(np.float32)),
    "Exp": (np.exp, ANY),
    "Exp2": (np.exp2, ANY),
    "Expm1": (np.expm1, ANY),
    "Floor": (np.floor, ANY),
    "Frac": (lambda x: x - np.trunc(x), ANY),
    "Hardsigmoid": (lambda x: np.clip(x / 6 + 0.5, 0, 1), ANY * 2),
    "Hardswish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), ANY * 2),
    "Lgamma": (each(math.lgamma), POSITIVE),
    "Log": (np.log, POSITIVE),
    "Log10": (np.log10, POSITIVE),
    "Log1p": (np.log1p, POSITIVE),
    "Log2": (np.log2, POSITIVE),
    "LogSigmoid": (lambda x: -softplus(-x), ANY),
    "LogicalNot": (np.logical_not, ANY),
    "Mish": (lambda x: x * np.tanh(softplus(x)), ANY),
    "Neg": (np.negative, ANY),
    "Reciprocal": (np.reciprocal, POSITIVE),
    "Round": (np.rint, np.array([-2.5, -1.5, -0.4, 0.5, 1.5, 2.6], np.float32)),
    "Rsqrt": (lambda x: x**-0.5, POSITIVE),
    "Selu": (
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
        ANY,
    ),
    "Sigmoid": (sigmoid, ANY),
    "Sign": (np.sign, ANY),
    "Sin": (np.sin, ANY),
    "Sinc": (np.sinc, ANY),
    "Sinh": (np.sinh, ANY),
    "Tan": (np.tan, ANY),
    "Tanh": (np.tanh, ANY),
    "Trunc": (np.trunc, ANY),
}
PREDICATES: dict[str, tuple[Any, Any]] = {
    "BitwiseNot": (np.invert, INTEGERS),
    "IsInf": (np.isinf, EXTREME),
    "IsNegInf": (np.isneginf, EXTREME),
    "IsPosInf": (np.isposinf, EXTREME),
    "Signbit": (np.signbit, ANY),
}
COMPARISONS = {
    "Eq": np.equal,
    "Ge": np.greater_equal,
    "Gt": np.greater,
    "Le": np.less_equal,
    "Lt": np.less,
    "Ne": np.not_equal,
}
# The result's type is that of the first array.
BINARY: dict[str, tuple[Any, Any, Any]] = {
    "Atan2": (np.arctan2, ANY, OTHER),
    "BitwiseAndScalar": (np.bitwise_and, INTEGERS, 6),
    "BitwiseAndTensor": (np.bitwise_and, INTEGERS, MORE),
    "BitwiseOrScalar": (np.bitwise_or, INTEGERS, 6),
    "BitwiseOrTensor": (np.bitwise_or, INTEGERS, MORE),
    "BitwiseXorScalar": (np.bitwise_xor, INTEGERS, 6),
    "BitwiseXorTensor": (np.bitwise_xor, INTEGERS, MORE),
    "ClampMax": (np.minimum, ANY, 0.75),
    "ClampMaxTensor": (np.minimum, ANY, OTHER),
    "ClampMinTensor": (np.maximum, ANY, OTHER),
    "FloorDivide": (np.floor_divide, INTEGERS, MORE),
    "FloorDivides": (np.floor_divide, ANY, 0.75),
    "FmodScalar": (np.fmod, ANY, 0.75),
    "FmodTensor": (np.fmod, INTEGERS, MORE),
    "Gcd": (np.gcd, INTEGERS, MORE),
    "LogAddExp": (np.logaddexp, ANY, OTHER),
    "LogAddExp2": (np.logaddexp2, ANY, OTHER),
    "LogicalAnd": (np.logical_and, ANY, OTHER - 1.5),
    "LogicalOr": (np.logical_or, ANY, OTHER - 1.5),
    "PowScalarTensor": (np.power, 2.0, ANY),
    "PowTensorScalar": (np.power, POSITIVE, 1.5),
    "PowTensorTensor": (np.power, POSITIVE, OTHER),
    "RemainderScalarTensor": (np.remainder, 7, MORE),
    "RemainderTensorScalar": (np.remainder, ANY, -0.75),
    "RemainderTensorTensor": (np.remainder, INTEGERS, MORE),
    "XLogYScalarOther": (lambda x, y: x * np.log(y), ANY, 3.0),
    "XLogYScalarSelf": (lambda x, y: x * np.log(y), 3.0, POSITIVE),
    "XLogYTensor": (lambda x, y: x * np.log(y), ANY, POSITIVE),
    **{f"{name}Scalar": (function, ANY, 0.5) for name, function in COMPARISONS.items()},
    **{f"{name}Tensor": (function, ANY, OTHER) for name, function in COMPARISONS.items()},
}
# More arguments than tensors: what they are, and the result for all.
SETTINGS: dict[str, list[tuple[Any, ...]]] = {
    "AddRelu": [(np.maximum(ANY + 2 * OTHER, 0), ANY, OTHER, 2.0)],
    "Celu": [(np.where(ANY > 0, ANY, 2 * np.expm1(ANY / 2)), ANY, 2.0)],
    "DivMod": [
        (ANY / OTHER, ANY, OTHER, 0),
        (np.trunc(ANY / OTHER), ANY, OTHER, 1),
        (np.floor(ANY / OTHER), ANY, OTHER, 2),
    ],
    "DivMods": [(np.trunc(ANY / 0.75), ANY, 0.75, 1), (np.floor(ANY / 0.75), ANY, 0.75, 2)],
    "Elu": [(np.where(ANY > 0, 3 * ANY, 3 * 1.5 * np.expm1(2 * ANY)), ANY, 1.5, 3.0, 2.0)],
    "Hardtanh": [(np.clip(ANY, -0.5, 1.5), ANY, -0.5, 1.5)],
    "LeakyRelu": [(np.where(ANY > 0, ANY, 0.25 * ANY), ANY, 0.25)],
    "Lerp": [(ANY + POSITIVE * (OTHER - ANY), ANY, OTHER, POSITIVE)],
    "NanToNum": [(np.array([-9, -1.5, 0, 7, 8]), EXTREME, 7.0, 8.0, -9.0)],
    "RoundDecimals": [(np.round(ANY / 3, 2), ANY / 3, 2)],
    "Threshold": [(np.where(ANY > 0.5, ANY, -7), ANY, 0.5, -7.0)],
}


def _elu_slope(x: Any) -> Any:
    return np.where(x > 0, 3.0, 3 * 1.5 * 2 * np.exp(2 * x))


def _mish_slope(x: Any) -> Any:
    tangent = np.tanh(softplus(x))
    return tangent + x * sigmoid(x) * (1 - tangent**2)


_HALVES = (ANY[:1], ANY[1:])
_GATE = sigmoid(_HALVES[1])
_SHARE = np.array([0.125, 0.5, 0.75], np.float32)

SINGLE: list[Vector] = [
    vector("aclnnClampTensor", np.clip(ANY, -(OTHER**2), 1.0), ANY, -(OTHER**2), np.ones_like(ANY)),
    vector("aclnnComplex", (ANY + 1j * OTHER).astype(np.complex64), ANY, OTHER),
    vector("aclnnPolar", (ABOVE * np.exp(1j * ABOVE)).astype(np.complex64), ABOVE, ABOVE),
    vector("aclnnIsInScalarTensor", np.array(True), 5, INTEGERS, False, False),
    vector("aclnnIsInTensorScalar", INTEGERS != 5, INTEGERS, 5, False, True),
    vector("aclnnLogicalXor", np.logical_xor(ANY, OTHER - 1.5), ANY, OTHER - 1.5),
    vector("aclnnLogit", np.log(_SHARE / (1 - _SHARE)), _SHARE, -1.0),
    vector("aclnnLogit", np.log([0.25 / 0.75, 1, 3]), _SHARE, 0.25),
    vector("aclnnLogitGrad", (ABOVE[:3] / (_SHARE * (1 - _SHARE))), _SHARE, ABOVE[:3], -1.0),
    vector("aclnnPrelu", np.where(ANY > 0, ANY, 0.25 * ANY), ANY, np.array([0.25], "f")),
    vector("aclnnRsubs", 3 - 2 * ANY, ANY, 3.0, 2.0),
    vector("aclnnSoftplus", (softplus(2 * ANY) / 2), ANY, 2.0, 20.0),
    vector("aclnnSoftplus", np.where(2 * ANY > 1, ANY, softplus(2 * ANY) / 2), ANY, 2.0, 1.0),
    vector("aclnnSoftplusBackward", GRADIENT * sigmoid(2 * ANY), GRADIENT, ANY, 2.0, 20.0),
    vector("aclnnHardshrink", np.where(abs(ANY) > 0.75, ANY, 0), ANY, 0.75),
    vector("aclnnHardshrinkBackward", np.where(abs(ANY) > 0.75, GRADIENT, 0), GRADIENT, ANY, 0.75),
    vector("aclnnSoftshrink", np.sign(ANY) * np.maximum(abs(ANY) - 0.25, 0), ANY, 0.25),
    vector("aclnnSoftshrinkBackward", np.where(abs(ANY) > 0.25, GRADIENT, 0), GRADIENT, ANY, 0.25),
    vector("aclnnGlu", _HALVES[0] * _GATE, ANY, 0),
    vector(
        "aclnnGluBackward",
        np.concatenate([GRADIENT[:1] * _GATE, GRADIENT[:1] * _HALVES[0] * _GATE * (1 - _GATE)]),
        *(GRADIENT[:1], ANY, 0),
    ),
    vector("aclnnEluBackward", GRADIENT * _elu_slope(ANY), GRADIENT, 1.5, 3.0, 2.0, False, ANY),
    vector(
        "aclnnSeluBackward",
        GRADIENT
        * np.where(ANY > 0, 1.0507009873554805, ANY + 1.0507009873554805 * 1.6732632423543772),
        *(GRADIENT, ANY),
    ),
    vector(
        "aclnnHardsigmoidBackward", np.where(abs(ANY * 2) < 3, GRADIENT / 6, 0), GRADIENT, ANY * 2
    ),
    vector(
        "aclnnHardswishBackward",
        GRADIENT * np.where(ANY * 2 < -3, 0, np.where(ANY * 2 > 3, 1, ANY * 2 / 3 + 0.5)),
        *(GRADIENT, ANY * 2),
    ),
    vector(
        "aclnnHardtanhBackward",
        np.where((ANY > -0.7) & (ANY < 0.9), GRADIENT, 0),
        *(GRADIENT, ANY, -0.7, 0.9),
    ),
    vector(
        "aclnnLeakyReluBackward",
        np.where(ANY > 0, GRADIENT, 0.25 * GRADIENT),
        *(GRADIENT, ANY, 0.25, False),
    ),
    vector("aclnnLogSigmoidBackward", GRADIENT * sigmoid(-ANY), GRADIENT, ANY, ANY),
    vector("aclnnMishBackward", GRADIENT * _mish_slope(ANY), GRADIENT, ANY),
]


def _twins(name: str, result: Any, first: Any, *others: Any) -> list[Vector]:
    """The operator, and that in place, where CANN has them and PyTorch computes them."""
    names = [f"aclnn{name}", f"aclnnInplace{name}"]
    kept = np.asarray(first)
    made = []
    for place, operator in enumerate(names):
        if operator in catalogue():
            in_place = place == 1 or name not in COMPARED
            answer = np.asarray(result).astype(kept.dtype if in_place else np.bool_)
            made.append(vector(operator, answer, first, *others))
    return made


COMPARED = {f"{name}{kind}" for name in COMPARISONS for kind in ("Scalar", "Tensor")} | {
    *("LogicalNot", "LogicalAnd", "LogicalOr"),
}


def elementwise() -> list[Vector]:
    """All of them; some of operators that have a kernel of their own."""
    made = [found for name, (f, x) in UNARY.items() for found in _twins(name, f(x), x)]
    made += [vector(f"aclnn{name}", f(x), x) for name, (f, x) in PREDICATES.items()]
    for name, (function, x, y) in BINARY.items():
        if isinstance(x, np.ndarray):
            made += _twins(name, function(x, y), x, y)
        else:
            made.append(vector(f"aclnn{name}", function(x, y).astype(y.dtype), x, y))
    for name, rows in SETTINGS.items():
        made += [found for row in rows for found in _twins(name, *row)]
    return [*made, *SINGLE]
