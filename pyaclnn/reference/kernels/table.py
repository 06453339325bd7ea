# SPDX-License-Identifier: Apache-2.0
"""Kernels of one expression of NumPy: the rows of `numpy.txt`.

An expression computes, and neither checks nor casts: floats of 16 bits come to it as float32, and
its results are cast to the tensors they are written to. It calls functions of NumPy and those of
`pyaclnn.reference.kernels.functions`. A word before it has operands promoted first.
"""

from __future__ import annotations

import builtins
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.reference.kernels.functions import functions
from pyaclnn.reference.kernels.kernel import Kernel, short_names
from pyaclnn.reference.kernels.promotion import cast, floating, kind_of, promoted, wide, wide_dtype
from pyaclnn.reference.kernels.rows import function_of, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    fills = "fills" in vars(function)
    scalars = row.types != ""
    return Kernel(name, function, row.shrinks, not row.types, any_scalars=scalars, fills=fills)


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
    fills = "fills" in vars(function)
    fitting: set[tuple[Any, ...]] = set()  # kinds whose results NumPy casts itself
    known: dict[tuple[Any, ...], tuple[np.dtype[Any], np.dtype[Any], list[str]]] = {}

    def compute(into: Any = None, **arguments: Any) -> Any:
        kinds = tuple(map(kind_of, map(arguments.get, operands)))
        if kinds not in known:
            known[kinds] = _common_types(types == "real", operands, kinds)
        dtype, inner, others = known[kinds]
        for each in others:
            arguments[each] = np.asarray(arguments[each]).astype(inner, copy=False)
        if into is not None and kinds in fitting and inner is dtype and dtype == into.dtype:
            arguments["into"] = into
        found = function(**arguments)
        if found is into:
            return found
        if fills and dtype.kind != "c" and np.can_cast(found.dtype, dtype, "same_kind"):
            fitting.add(kinds)
        if types == "truth":
            dtype = np.dtype(np.bool_)
        elif dtype.kind == "c" and found.dtype.kind == "f":
            dtype = found.dtype  # a magnitude
        result = cast(found, dtype)
        is_new = result.base is None and id(result) not in map(id, arguments.values())
        return result if is_new else result.copy()

    vars(compute).update(vars(function))
    return compute


def _common_types(
    is_real: bool, names: Sequence[str], kinds: Sequence[Any]
) -> tuple[np.dtype[Any], np.dtype[Any], list[str]]:
    """Return the common type of operands, the one they are computed in, and those to be cast.

    Raises:
        ValueError: They do not go together, or an operand would lose its category.
    """
    given = {n: k for n, k in zip(names, kinds, strict=True) if k is not type(None)}
    samples = [np.zeros(0, k) if isinstance(k, np.dtype) else k() for k in given.values()]
    dtype = floating(promoted(*samples)) if is_real else promoted(*samples)
    for sample in samples:
        wide(sample, dtype)
    inner = wide_dtype(dtype)
    return dtype, inner, [name for name, kind in given.items() if kind is not inner]


def _quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let infinities and NaNs follow IEEE arithmetic without a warning."""

    def compute(**arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(**arguments)

    vars(compute).update(vars(function))
    return compute
