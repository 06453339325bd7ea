# SPDX-License-Identifier: Apache-2.0
"""Promotion of data types: the common type of operands, and the casts of results.

Floats of 16 bits are computed in float32 and rounded once. CANN calls the rules of promotion the
deduction of data types of its operators on tensors (互推导关系); they are those of PyTorch.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from pyaclnn.facts.operators.limits import CATEGORIES, category_of
from pyaclnn.reference.kernels.kernel import ElementError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = [
    "BFLOAT16",
    "cast",
    "category",
    "common",
    "floating",
    "indices_within",
    "integers",
    "kind_of",
    "promoted",
    "rounded",
    "some",
    "wide",
    "wide_dtype",
    "with_category",
    "with_number",
]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_HALF = (np.dtype(np.float16), BFLOAT16)
_WIDE: Mapping[np.dtype[Any], np.dtype[Any]] = {
    **dict.fromkeys((*_HALF, np.dtype(ml_dtypes.float4_e2m1fn)), np.dtype(np.float32)),
    np.dtype(ml_dtypes.int4): np.dtype(np.int8),
}
"""Types that are computed in another one."""
_UNSIGNED = tuple(np.dtype(name) for name in ("uint16", "uint32", "uint64"))


@functools.cache
def category(dtype: np.dtype[Any]) -> str:
    """Return ``b`` for bool, ``i`` for integers, ``f`` for floats, ``c`` for complex numbers."""
    return category_of(dtype.name)


def promoted(*operands: Any) -> np.dtype[Any]:
    """Return the type that operands are computed in; a number counts by its category alone.

    Raises:
        ValueError: Two types do not go together.
    """
    return _promoted(*map(kind_of, operands))


def kind_of(operand: Any) -> np.dtype[Any] | type:
    """Return the part of an operand that promotion depends on: a dtype, or the type of a number."""
    return operand.dtype if isinstance(operand, np.ndarray) else type(operand)


@functools.cache
def _promoted(*kinds: np.dtype[Any] | type) -> np.dtype[Any]:
    tensors = [kind for kind in kinds if isinstance(kind, np.dtype)]
    result = functools.reduce(common, tensors)
    for kind in kinds:
        if not isinstance(kind, np.dtype):
            result = with_number(result, kind())
    return result


def common(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    """Return the common type of two tensors.

    Raises:
        ValueError: None is known.
    """
    if one == other:
        return one
    low, high = sorted((one, other), key=lambda dtype: CATEGORIES.index(category(dtype)))
    if {one, other} == set(_HALF):
        return np.dtype(np.float32)
    if category(low) == category(high) or category(high) == "c":
        if {low, high} & set(_UNSIGNED):
            raise ValueError(f"no common data type is known for {one} and {other}")
        if category(high) == "c" and low.itemsize < np.dtype(np.float64).itemsize:
            return high
        if category(high) == "c" and category(low) != "f":
            return high
        return np.promote_types(one, other)
    return high


def with_number(dtype: np.dtype[Any], number: complex) -> np.dtype[Any]:
    """Return the type of a tensor and a number, which counts by its category."""
    return with_category(dtype, category(np.asarray(number).dtype))


def with_category(dtype: np.dtype[Any], kind: str) -> np.dtype[Any]:
    """Return the type of a tensor and a number of a category, a letter of `CATEGORIES`."""
    if CATEGORIES.index(kind) <= CATEGORIES.index(category(dtype)):
        return dtype
    if kind == "c":
        return np.dtype(np.complex128 if dtype == np.float64 else np.complex64)
    return np.dtype(np.float32 if kind == "f" else np.int64)


def floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of a function of real numbers: integers and bool become float32."""
    return dtype if category(dtype) in "fc" else np.dtype(np.float32)


def wide_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that numbers of a type are computed in."""
    return _WIDE.get(dtype, dtype)


def wide(value: Any, dtype: np.dtype[Any] | None = None) -> Any:
    """Return a tensor or number in the type that it is computed in.

    Raises:
        ValueError: The type would lose the category of the number.
    """
    array = np.asarray(value)
    wanted = array.dtype if dtype is None else dtype
    if array.dtype != wanted:
        _require_castable(array.dtype, wanted, "an operand")
    return array.astype(wide_dtype(wanted), copy=False)


def cast(result: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round a result to the type it is of; phase 1 casts it to that of the tensor it goes to.

    One that is of this type already is not copied.
    """
    return np.asarray(result).astype(dtype, copy=False)


def rounded(result: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Cast a result to the type of the tensor it goes to.

    Raises:
        ValueError: The cast would lose the category of the result.
    """
    _require_castable(result.dtype, dtype, "the result")
    return result.astype(dtype, copy=False)


def _require_castable(dtype: np.dtype[Any], target: np.dtype[Any], name: str) -> None:
    if CATEGORIES.index(category(dtype)) > CATEGORIES.index(category(target)):
        raise ValueError(f"{name} is {dtype}, which cannot be cast to {target}")


def integers(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Require a tensor of integers.

    Raises:
        ValueError: It is of something else.
    """
    if category(array.dtype) != "i":
        raise ValueError(f"{name} is {array.dtype}; it must be of integers")
    return array


def indices_within(name: str, index: NDArray[Any], length: int) -> NDArray[Any]:
    """Return a tensor of indices as int64.

    Raises:
        ElementError: An element is not in ``[0, length)``.
    """
    outside = (integers(name, index) < 0) | (index >= length)
    if np.any(outside):
        raise ElementError(name, int(index[outside].flat[0]), length)
    return index.astype(np.int64)


def some(name: str, tensors: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Require a list that is not empty.

    Raises:
        ValueError: It is.
    """
    if not tensors:
        raise ValueError(f"{name} is a list of no tensors; it must have one at least")
    return tensors
