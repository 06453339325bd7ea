# SPDX-License-Identifier: Apache-2.0
"""Kernels of one expression of NumPy: the rows of `numpy.txt`.

An expression computes, and neither checks nor casts: floats of 16 bits come to it as float32, and
its results are cast to the tensors they are written to. It calls functions of NumPy and those of
`pyaclnn.reference.kernels.functions`.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.functions import functions
from pyaclnn.reference.kernels.kernel import Kernel
from pyaclnn.reference.kernels.rows import function_of, parameter_names, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["row_kernel"]


def row_kernel(name: str) -> Kernel:
    """Return the kernel of an operator of the table.

    Args:
        name: The C name of the operator.
    """
    row = rows_of("numpy")[name]
    own = parameter_names(name)

    def function_named(name: str) -> Any:
        if name in own:
            return None
        return functions().get(name) or getattr(np, name, None) or getattr(builtins, name)

    function = function_of(row, function_named)
    return Kernel(name, _quietly(function), shrinks=row.shrinks, plain=True, ignored=row.null)


def _quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let infinities and NaNs follow IEEE arithmetic without a warning."""

    def compute(**arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(**arguments)

    vars(compute).update(vars(function))
    return compute
