# SPDX-License-Identifier: Apache-2.0
"""Dtypes of the array API, and its functions of them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of, text_of
from pyaclnn.reference.kernels.promotion import common, with_number
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.dtypes import bfloat16, dtype_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "bfloat16",
    "bool",
    "can_cast",
    "complex64",
    "complex128",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

int8, int16, int32, int64 = (np.dtype(f"i{size}") for size in (1, 2, 4, 8))
uint8, uint16, uint32, uint64 = (np.dtype(f"u{size}") for size in (1, 2, 4, 8))
float16, float32, float64 = (np.dtype(f"f{size}") for size in (2, 4, 8))
complex64, complex128 = np.dtype("c8"), np.dtype("c16")
bool = np.dtype(np.bool_)  # noqa: A001  # the standard's name


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the common dtype of arrays, dtypes and numbers."""
    dtypes, numbers = [], []
    for one in arrays_and_dtypes:
        if isinstance(one, (int, float, complex)):
            numbers.append(one)
        else:
            dtypes.append(one.dtype if isinstance(one, DeviceArray) else dtype_of(one))
    if not dtypes:
        expected = "one array or dtype at least"
        raise InvalidArgumentError.of("result_type", "dtypes", repr_of(numbers), expected)
    try:
        found = functools.reduce(common, dtypes)
        return functools.reduce(with_number, numbers, found)
    except (TypeError, ValueError) as error:
        given = repr_of(arrays_and_dtypes)
        raise InvalidArgumentError.of("result_type", "dtypes", given, text_of(error)) from None


def can_cast(from_: Any, to: DTypeLike, /) -> Any:
    """Report whether promotion leads from one dtype to another."""
    return result_type(from_, to) == dtype_of(to)


def isdtype(dtype: DTypeLike, kind: Any) -> Any:
    """Report whether a dtype is of a kind: a dtype, a word of the standard, or one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    found = dtype_of(dtype)
    if not isinstance(kind, str):
        return found == dtype_of(kind)
    letters = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu"}
    letters |= {"real floating": "f", "complex floating": "c", "numeric": "iufc"}
    if kind not in letters:
        raise InvalidArgumentError.of("isdtype", "kind", repr_of(kind), f"one of {[*letters]}")
    return ("f" if found == bfloat16 else found.kind) in letters[kind]


def finfo(type: Any, /) -> Any:  # noqa: A002  # the standard's name
    """Return the limits of a floating-point dtype."""
    dtype = type.dtype if isinstance(type, DeviceArray) else dtype_of(type)
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def iinfo(type: Any, /) -> Any:  # noqa: A002
    """Return the limits of an integer dtype."""
    return np.iinfo(type.dtype if isinstance(type, DeviceArray) else dtype_of(type))
