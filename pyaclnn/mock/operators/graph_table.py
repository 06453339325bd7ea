# SPDX-License-Identifier: Apache-2.0
"""Operators by their names in graphs, computed by the kernels of aclnn's operators.

`graph_table.txt` has a line for each: its names, and an expression in Python. A name that begins
with ``aclnn`` is the kernel of that operator, called by C's parameter names; others are functions
of `pyaclnn.reference.kernels.graph_functions` and `functions`, or ``np``. An expression is a
function of the inputs in order, and of attributes by name, after ``*``; ``outputs`` are zeros in
the types and shapes of the results.
"""

from __future__ import annotations

import ast
import functools
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference import Strength, implementation
from pyaclnn.reference.kernels import graph_functions
from pyaclnn.reference.kernels.aten import KERNELS, is_asked_for
from pyaclnn.reference.kernels.functions import functions
from pyaclnn.reference.kernels.kernel import KernelLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    GraphFunction = Callable[[Sequence[Any], Mapping[str, Any], list[NDArray[Any]]], list[Any]]

__all__ = ["graph_expressions", "graph_function"]


@functools.cache
def graph_expressions() -> Mapping[str, str]:
    """Return the expressions of `graph_table.txt` by the names of operators."""
    found: dict[str, str] = {}
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            names, _, text = line.partition(": ")
            found |= dict.fromkeys(names.split(), text)
    return found


@functools.cache
def graph_function(name: str) -> GraphFunction | None:
    """Return the function of an operator: of inputs, attributes and empty outputs.

    Args:
        name: The operator's name in graphs, such as ``"MatMulV2"``.

    Returns:
        The function, which returns a list of results; None where there is none.
    """
    text = graph_expressions().get(name)
    if text is None:
        return None
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    known = {each: _kernel(each) for each in used if each.startswith("aclnn")}
    function: Callable[..., Any] = eval(  # noqa: S307  # our own table
        text, {"np": np, **functions(), **vars(graph_functions), **known}
    )
    taken = {
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind is inspect.Parameter.KEYWORD_ONLY
    }

    def compute(
        inputs: Sequence[Any], attributes: Mapping[str, Any], outputs: list[NDArray[Any]]
    ) -> list[Any]:
        given = {**attributes, "outputs": outputs}
        found = function(
            *map(_wide, inputs), **{each: given[each] for each in taken if each in given}
        )
        return list(found) if isinstance(found, (tuple, list)) else [found]

    return compute


def _wide(value: Any) -> Any:
    """Return floats of 16 bits as float32, in which the NPU computes."""
    narrow = isinstance(value, np.ndarray) and value.dtype.name in {"float16", "bfloat16"}
    return value.astype(np.float32) if narrow else value


def _kernel(c_name: str) -> Callable[..., Any]:
    """Return the kernel of an operator of aclnn, called by C's parameter names."""

    def call(**arguments: Any) -> Any:
        found = implementation(c_name)
        if found is None or (found.strength is Strength.ATEN and not is_asked_for()):
            raise KernelLimitError(f"{c_name} has no kernel here without {KERNELS}=torch")
        kernel = found.kernel
        named = {kernel.parameter_for(name): value for name, value in arguments.items()}
        return kernel.function(**{name: value for name, value in named.items() if name is not None})

    return call
