# SPDX-License-Identifier: Apache-2.0
"""Kernels of described operators: their definitions, on device memory."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.facts.operators.description import snake_case
from pyaclnn.facts.operators.lists import in_lists
from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.parameters import Kind
from pyaclnn.facts.operators.types import TYPES
from pyaclnn.mock.operators.types import kinds_of
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.reference import implementation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from pyaclnn.facts.operators.parameters import Option, Tensor
    from pyaclnn.mock.operators.request import Request
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Tensor as Given

__all__ = ["run"]

_UNKNOWN = "f32"


def run(request: Request, memory: DeviceMemory) -> None:
    """Run the kernels of a call that phase 1 has accepted."""
    request.resume()
    if request.fills is not None:
        for name, number in request.fills.items():
            given = request.tensors[name]
            memory.view(name, given)[...] = number
        return
    hooks = request.operator.hooks
    results = _computed(request, memory)
    types = hooks.kernel_types(request)
    family = request.chip.family
    silent = {
        tensor.name for tensor in request.operator.outputs if family in tensor.unwritten.split()
    }
    silent.update(hooks.unwritten(request))
    writes = []
    for tensor, given in request.given():
        if not tensor.written or tensor.name in silent or results[tensor.name] is None:
            continue
        found = np.asarray(results[tensor.name])
        if tensor.name in types:
            found = found.astype(_numpy(types[tensor.name]))
        target = _target(request, memory, tensor, given, found.size)
        if target.size:
            writes.append((target, found))
    for target, found in writes:  # nothing is written where one of them cannot be
        target[...] = found.reshape(target.shape)


def _computed(request: Request, memory: DeviceMemory) -> Mapping[str, Any]:
    """Call the definition with those of its parameters that it names."""
    operator = request.operator
    function, names = _definition(operator.c_name)
    arguments: dict[str, Any] = {"family": request.chip.family}
    shapes = operator.hooks.read_as(request)
    for tensor in operator.inputs:
        given = request.tensors[tensor.name]
        if given is None or tensor.ignored:
            arguments[tensor.name] = None
        else:
            found = _readable(request, tensor, memory.view(tensor.c_name, given))
            arguments[tensor.name] = found.reshape(shapes.get(tensor.name, given.dims))
    for option in operator.options:
        arguments[snake_case(option.name)] = _plain(request, option)
    (first, *others) = operator.returned
    written = [t for t, _ in request.given() if t.packed] if others else [first]
    if written:  # a kernel writes the type that its result has
        arguments.setdefault("dtype", _numpy(request.types[written[0].name]))
    arguments = in_lists(operator, arguments)
    found = function(**{name: arguments[name] for name in names if name in arguments})
    if operator.lists:
        (found,) = found
    if hasattr(found, "_asdict"):
        named: dict[str, Any] = found._asdict()
        return named
    return {first.name: found}


@functools.cache
def _definition(c_name: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    found = implementation(c_name)
    assert found is not None  # noqa: S101  # every described operator has a definition
    return found.kernel.function, tuple(found.kernel.parameters)


def _readable(request: Request, tensor: Tensor, array: NDArray[Any]) -> NDArray[Any]:
    """Cast a type without kernel to float32, as composite operators do."""
    known = kinds_of(request.operator.types.rows)
    if request.types[tensor.name] in known or request.operator.build is Build.INDIVIDUAL:
        return array
    return array.astype(np.float32) if array.dtype.kind in "iub" else array


def _plain(request: Request, option: Option) -> Any:
    value = request.values[option.name]
    if option.kind is Kind.REAL:
        # The attribute of the kernel is a float.
        return float(np.float32(value))
    if option.kind is Kind.STRING and option.choices and value is not None:
        return next(choice for choice in option.choices if value.startswith(choice))
    if option.kind is Kind.DTYPE:
        return _numpy(value if value in kinds_of(request.operator.types.rows) else _UNKNOWN)
    return value


def _numpy(kind: str) -> Any:
    if kind == "bf16":
        import ml_dtypes  # noqa: PLC0415

        return ml_dtypes.bfloat16
    return TYPES[kind].numpy


def _target(
    request: Request, memory: DeviceMemory, tensor: Tensor, given: Given, size: int
) -> NDArray[Any]:
    """Where a kernel writes a result of so many elements."""
    if request.operator.build is Build.COMPOSITE:
        return memory.view(tensor.c_name, given)
    if given.size < size:
        raise DeviceMemoryError(
            f"{tensor.c_name} has {given.size} elements; the kernel writes {size} and would "
            "overwrite what lies behind it"
        )
    # Tiling lets other shapes through; the kernel writes one element after the other all the same.
    return memory.dense(tensor.c_name, given).reshape(-1)[:size]
