# SPDX-License-Identifier: Apache-2.0
"""Kernels of one expression of NumPy: the rows of `numpy.txt`.

An expression computes, and neither checks nor casts: floats of 16 bits come to it as float32, and
its results are cast to the tensors they are written to. It calls functions of NumPy and those of
`pyaclnn.reference.kernels.functions`. A word before it has operands promoted first.
"""

from __future__ import annotations

import builtins
import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.reference.kernels.functions import functions
from pyaclnn.reference.kernels.kernel import Kernel, short_names
from pyaclnn.reference.kernels.promotion import cast, floating, promoted, wide, wide_dtype
from pyaclnn.reference.kernels.rows import function_of, rows

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["row_kernel"]


def row_kernel(name: str) -> Kernel:
    """Return the kernel of an operator of the table.

    Args:
        name: The C name of the operator.
    """
    row = rows()[name]

    def function_named(name: str) -> Any:
        return functions().get(name) or getattr(np, name, None) or getattr(builtins, name)

    function = function_of(name, row, function_named)
    typed = row.types not in ("", "raw")
    function = _promoting(name, function, row.types) if typed else _quietly(function)
    return Kernel(
        name, function, shrinks=row.shrinks, plain=not row.types, any_scalars=row.types != ""
    )


def _promoting(name: str, function: Callable[..., Any], types: str) -> Callable[..., Any]:
    """Compute in the common type of the tensors and scalars that are read, to which results round.

    ``alpha`` is no operand: it has no part in the type of a sum.

    Args:
        name: The C name of the operator.
        function: The function.
        types: ``"common"``; ``"real"``, where integers become float32; or ``"truth"``, where
            results are truth values.
    """
    kinds = (p for p in catalogue()[name].parameters if p.read and p.kind in "ta")
    named = inspect.signature(function).parameters
    names = (short for p in kinds if p.name != "alpha" for short in short_names(p.name))
    operands = [name for name in dict.fromkeys(names) if name in named]

    def compute(**arguments: Any) -> Any:
        given = [each for each in operands if arguments.get(each) is not None]
        dtype = _common_type(types == "real", *(_type_of(arguments[each]) for each in given))
        inner = wide_dtype(dtype)
        for each in given:
            arguments[each] = np.asarray(arguments[each]).astype(inner, copy=False)
        found = function(**arguments)
        if types == "truth":
            dtype = np.dtype(np.bool_)
        elif dtype.kind == "c" and found.dtype.kind == "f":
            dtype = found.dtype  # a magnitude
        result = cast(found, dtype)
        is_new = result.base is None and not any(result is arguments[each] for each in given)
        return result if is_new else result.copy()

    vars(compute).update(vars(function))
    return compute


def _type_of(operand: Any) -> np.dtype[Any] | type:
    return operand.dtype if isinstance(operand, np.ndarray) else type(operand)


@functools.cache
def _common_type(is_real: bool, *types: np.dtype[Any] | type) -> np.dtype[Any]:
    """Return the type that operands of some types are computed in; a number has one of Python's.

    Raises:
        ValueError: They do not go together, or an operand would lose its category.
    """
    samples = [np.zeros(0, t) if isinstance(t, np.dtype) else t() for t in types]
    dtype = floating(promoted(*samples)) if is_real else promoted(*samples)
    for sample in samples:
        wide(sample, dtype)
    return dtype


def _quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let infinities and NaNs follow IEEE arithmetic without a warning."""

    def compute(**arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(**arguments)

    vars(compute).update(vars(function))
    return compute
