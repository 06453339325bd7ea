# SPDX-License-Identifier: Apache-2.0
"""Operators by their names in graphs, computed by the kernels of aclnn's operators.

`graph_table.txt` has a line for each: its names, and an expression in Python. A name that begins
with ``aclnn`` is the kernel of that operator, called by C's parameter names; others are functions
of `pyaclnn.reference.kernels.graph_functions` and `functions`, or ``np``. An expression is a
function of the inputs in order, and of attributes by name, after ``*``; ``outputs`` are zeros in
the types and shapes of the results; ``unpacked`` states that tensors lie in blocks, and are given
without these, but for those that ``packed`` names, such as ``inputs[2]``. An attribute that an
expression names and does not use must have the value that stands there, one of those of a set,
that which a function of inputs and outputs returns, or any where ``...`` stands: it changes no
result. One that is not named is refused, unless it begins with ``_``, as hints to compilers do.
"""

from __future__ import annotations

import ast
import functools
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.mock.protocol.dtypes import data_type_of
from pyaclnn.reference import implementation
from pyaclnn.reference.kernels import graph_functions
from pyaclnn.reference.kernels.blocks import relaid
from pyaclnn.reference.kernels.functions import functions
from pyaclnn.reference.kernels.rows import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["GraphFunction", "function_of_kernel", "graph_expressions", "graph_function"]


@functools.cache
def graph_expressions() -> Mapping[str, Row]:
    """Return the rows of `graph_table.txt` by the names of operators."""
    found: dict[str, Row] = {}
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            names, _, text = line.partition(": ")
            found |= {
                name.rstrip("*~"): Row(text, (), "*" in name, "~" * ("~" in name))
                for name in names.split()
            }
    return found


class GraphFunction(NamedTuple):
    """The function of an operator.

    Attributes:
        shrinks: True if results may be shorter than the tensors they are written to.
        splits: True if an output may have the first axes of its result in several.
        compute: Returns a list of results, of inputs, attributes and empty outputs.
        taken: The names of the attributes that it takes.
        fixed: Required values of the attributes that it does not use.
        packed: The names of the tensors that it takes in blocks.
        parameters: Those of the expression; none of a user's kernel.
    """

    shrinks: bool
    splits: bool
    compute: Callable[[Sequence[Any], Mapping[str, Any], list[NDArray[Any]]], list[Any]]
    taken: frozenset[str]
    fixed: Mapping[str, Any]
    packed: tuple[str, ...]
    parameters: Sequence[inspect.Parameter] = ()

    def refusal(self, attributes: Mapping[str, Any]) -> str:
        """Return why attributes cannot be computed with; empty if they can.

        Args:
            attributes: The values by name.
        """
        for name, value in attributes.items():
            wanted = self.fixed.get(name, ...)
            is_other = wanted is not ... and not callable(wanted)
            if is_other and value not in (wanted if isinstance(wanted, set) else [wanted]):
                return f"attribute {name} is {value}; the kernel computes only {wanted}"
            if name not in self.taken and not name.startswith("_"):
                known = ", ".join(sorted(self.taken)) or "none"
                return f"attribute {name} is {value}; the kernel's attributes: {known}"
        for each in self.parameters:
            is_attribute = each.kind is each.KEYWORD_ONLY and each.name in self.taken
            if is_attribute and each.default is each.empty and each.name not in attributes:
                return f"attribute {each.name} is missing; the kernel has no default for it"
        allowed = self.fixed.get("data_format")
        is_optional = not self.parameters or (isinstance(allowed, set) and None in allowed)
        absent = "data_format" in self.taken and attributes.get("data_format") is None
        if absent and not is_optional:
            return "attribute data_format is missing, and no tensor's format stands for it"
        return ""

    def mistake(
        self, inputs: Sequence[Any], attributes: Mapping[str, Any], outputs: Sequence[Any]
    ) -> str:
        """Return what contradicts itself in a call, or which input is absent; empty if nothing is.

        Args:
            inputs: Arrays of the shapes of the inputs, and numbers of those on the host.
            attributes: The values by name.
            outputs: Arrays of the shapes of the outputs.
        """
        names = [each.name for each in self.parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        needed = [each.name for each in self.parameters if each.default is each.empty]
        least = sum(name in needed for name in names)
        is_open = any(each.kind is each.VAR_POSITIONAL for each in self.parameters)
        if self.parameters and not least <= len(inputs) <= (len(inputs) if is_open else len(names)):
            most = " or more" if is_open else f" to {len(names)}" * (least < len(names))
            listed = f" ({', '.join(names)})" * bool(names)
            return f"it has {len(inputs)} inputs; it must have {least}{most}{listed}"
        for place, name in enumerate(names[:least]):
            if inputs[place] is None:
                return f"inputs[{place}] ({name}) is left out; it must be a tensor"
        for each in self.parameters:
            if each.name in attributes and callable(wanted := self.fixed.get(each.name)):
                value, right = attributes[each.name], wanted(inputs, outputs)
                if value != right:
                    return f"attribute {each.name} is {value}; for these tensors it must be {right}"
        return ""


@functools.cache
def graph_function(name: str) -> GraphFunction | None:
    """Return the function of an operator, or None where there is none.

    Args:
        name: The operator's name in graphs, such as ``"MatMulV2"``.
    """
    row = graph_expressions().get(name)
    if row is None:
        return None
    text = row.text
    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.Lambda)  # noqa: S101  # our own table
    used = {node.id for node in ast.walk(tree.body) if isinstance(node, ast.Name)}
    known = {each: _kernel(each) for each in used if each.startswith("aclnn")}
    function: Callable[..., Any] = eval(  # noqa: S307  # our own table
        text,
        {
            "np": np,
            "relaid": relaid,
            "type_of": data_type_of,
            **functions(),
            **vars(graph_functions),
        }
        | known,
    )
    named = {each.arg for each in tree.args.kwonlyargs}
    defaults: Mapping[str, Any] = function.__kwdefaults__ or {}

    def compute(
        inputs: Sequence[Any], attributes: Mapping[str, Any], outputs: list[NDArray[Any]]
    ) -> list[Any]:
        given = {**attributes, "outputs": outputs}
        found = function(
            *map(_wide, inputs), **{each: given[each] for each in named if each in given}
        )
        return list(found) if isinstance(found, (tuple, list)) else [found]

    taken = frozenset(named - {"unpacked", "packed", "outputs"})
    fixed = {each: defaults[each] for each in taken - used}
    packed, parameters = defaults.get("packed", ()), inspect.signature(function).parameters
    marks = row.shrinks, row.types == "~"
    return GraphFunction(*marks, compute, taken, fixed, packed, [*parameters.values()])


def function_of_kernel(kernel: Kernel) -> GraphFunction:
    """Return the function of a user's kernel of inputs in order, and of attributes by name.

    Args:
        kernel: The kernel.
    """

    def compute(
        inputs: Sequence[Any], attributes: Mapping[str, Any], outputs: list[NDArray[Any]]
    ) -> list[Any]:
        given = {**attributes, "outputs": outputs}
        named = {name: given[name] for name in kernel.parameters if name in given}
        found = kernel.function(*inputs, **named)
        return list(found) if isinstance(found, (tuple, list)) else [found]

    return GraphFunction(kernel.shrinks, False, compute, frozenset(kernel.parameters), {}, ())


def _wide(value: Any) -> Any:
    """Return floats of 16 bits as float32, in which the NPU computes."""
    narrow = isinstance(value, np.ndarray) and value.dtype.name in {"float16", "bfloat16"}
    return value.astype(np.float32) if narrow else value


def _kernel(c_name: str) -> Callable[..., Any]:
    """Return the kernel of an operator of aclnn, called by C's parameter names."""

    def call(**arguments: Any) -> Any:
        found = implementation(c_name)
        if found is None:
            raise KeyError(f"{c_name}, which graph_table.txt names, has no kernel")
        kernel = found.kernel
        named = {kernel.parameter_for(name): value for name, value in arguments.items()}
        # NumPy turns arrays without axes into numbers.
        given = {
            name: np.asarray(value) if isinstance(value, np.generic) else value
            for name, value in named.items()
            if name is not None
        }
        return kernel.function(**given)

    return call
