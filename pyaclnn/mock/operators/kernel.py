# SPDX-License-Identifier: Apache-2.0
"""Kernels of described operators: their definitions, on device memory."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.facts.operators.description import snake_case
from pyaclnn.facts.operators.lists import in_lists
from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.parameters import Kind
from pyaclnn.facts.operators.types import PAIRED
from pyaclnn.mock.operators.outputs import poison_output
from pyaclnn.mock.operators.pairs import bytes_of, paired
from pyaclnn.mock.operators.types import kinds_of
from pyaclnn.mock.protocol.dtypes import dtype_of_word, numpy_dtype
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.reference import implementation
from pyaclnn.reference.fast.results import offered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from pyaclnn.facts.operators.parameters import Option, Tensor
    from pyaclnn.mock.operators.request import Request
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Tensor as Given

__all__ = ["run"]

_UNKNOWN = "f32"
_LARGE = 1 << 16
"""Elements from which on copying a result takes longer than looking for a way around it."""


class Prepared(NamedTuple):
    """The parts of a call that are the same wherever its tensors are.

    Attributes:
        function: Its definition.
        inputs: The tensors that are read, with the type that they are cast to, and the shape that
            they are read in, if these are others.
        options: The arguments of the definition that are no tensors.
        names: The parameters of the definition.
        outputs: The tensors that are written, with the type that a result is rounded to, or None.
        dense: The places of those that may keep elements that the kernel does not write.
        sizes: The sizes of the results by their places, once the call has run.
    """

    function: Callable[..., Any]
    inputs: tuple[tuple[Tensor, Given, Any, tuple[int, ...] | None], ...]
    options: dict[str, Any]
    names: frozenset[str]
    outputs: tuple[tuple[Tensor, Given, Any], ...]
    dense: frozenset[int]
    sizes: dict[int, int]


def run(request: Request, memory: DeviceMemory) -> None:
    """Run the kernels of a call that phase 1 has accepted."""
    request.resume()
    if request.fills is not None:
        for name, number in request.fills.items():
            given = request.tensors[name]
            memory.view(name, given)[...] = number
        return
    prepared: Prepared = request.prepared or _prepare(request)
    request.prepared = prepared
    with offered(_offers(prepared, memory)):
        results = _computed(request, prepared, memory)
    writes = []
    for place, (tensor, given, dtype) in enumerate(prepared.outputs):
        found = _rounded(results[tensor.name], dtype)
        if found is None:
            continue
        if request.types[tensor.name] in PAIRED:
            found, target = paired(found), memory.view(tensor.c_name, bytes_of(given))
        else:
            target = _target(memory, tensor, given, found.size, place in prepared.dense)
            prepared.sizes[place] = found.size
        if target.size:
            writes.append((place, target, found))
    for place, target, found in writes:  # none where one of them cannot be written
        if place in prepared.dense:
            _show_unwritten(request, memory, *prepared.outputs[place][:2], target)
        if not _is_written(target, found):
            target[...] = found.reshape(target.shape)


def _rounded(result: Any, dtype: Any) -> NDArray[Any] | None:
    if result is None:
        return None
    return np.asarray(result) if dtype is None else np.asarray(result).astype(dtype)


def _offers(prepared: Prepared, memory: DeviceMemory) -> list[NDArray[Any]]:
    """Return the memory of large outputs, so that results need not be copied there.

    The sizes of the results are known from an earlier run, and every output can be written.
    """
    if max(prepared.sizes.values(), default=0) < _LARGE:
        return []
    targets = {
        place: _target(memory, *prepared.outputs[place][:2], size, place in prepared.dense)
        for place, size in prepared.sizes.items()
    }
    kinds = [(target.size, target.dtype) for target in targets.values()]
    inputs = [memory.view(tensor.c_name, given) for tensor, given, *_ in prepared.inputs]
    return [
        target
        for place, target in targets.items()
        if target.size >= _LARGE
        and prepared.outputs[place][2] is None
        and target.flags.c_contiguous
        and kinds.count((target.size, target.dtype)) == 1
        and not any(np.may_share_memory(target, other) for other in inputs)
    ]


def _is_written(target: NDArray[Any], found: NDArray[Any]) -> bool:
    """Return whether a result was computed in its place."""
    return (
        found.size >= _LARGE
        and found.size == target.size
        and found.dtype == target.dtype
        and found.flags.c_contiguous
        and target.flags.c_contiguous
        and found.ctypes.data == target.ctypes.data
    )


def _prepare(request: Request) -> Prepared:
    operator = request.operator
    hooks, family = operator.hooks, request.chip.family
    function, names = _definition(operator.c_name)
    shapes = hooks.read_as(request)
    options: dict[str, Any] = {"family": family}
    for option in operator.options:
        options[snake_case(option.name)] = _plain(request, option)
    inputs = []
    for tensor in operator.inputs:
        given = request.tensors[tensor.name]
        if given is None or tensor.ignored:
            options[tensor.name] = None
        else:
            row = _cast(request, tensor), shapes.get(tensor.name)
            inputs.append((tensor, given, *row))
    (first, *others) = operator.returned
    read = {tensor.type for tensor in operator.inputs}
    written = [t for t, _ in request.given() if t.type not in read] if others else [first]
    if written:  # a kernel writes the type that its first result has which no input decides
        options.setdefault("dtype", dtype_of_word(request.types[written[0].name]))
    types = hooks.kernel_types(request)
    silent = {tensor.name for tensor in operator.outputs if family in tensor.unwritten.split()}
    silent.update(hooks.unwritten(request))
    outputs = tuple(
        (tensor, given, dtype_of_word(types[tensor.name]) if tensor.name in types else None)
        for tensor, given in request.given()
        if tensor.written and tensor.name not in silent
    )
    tiled = operator.build is not Build.COMPOSITE
    return Prepared(
        function,
        tuple(inputs),
        {name: options[name] for name in names if name in options},
        frozenset(names),
        outputs,
        frozenset(range(len(outputs)) if tiled else ()),
        {},
    )


def _computed(request: Request, prepared: Prepared, memory: DeviceMemory) -> Mapping[str, Any]:
    """Call the definition with those of its parameters that it names."""
    operator = request.operator
    arguments = dict(prepared.options)
    for tensor, given, dtype, shape in prepared.inputs:
        array = memory.view(tensor.c_name, given)
        if tensor.name in prepared.names:
            array = array if dtype is None else array.astype(dtype)
            arguments[tensor.name] = array if shape is None else array.reshape(shape)
    if operator.lists:
        (found,) = prepared.function(**in_lists(operator, arguments))
    else:
        found = prepared.function(**arguments)
    if hasattr(found, "_asdict"):
        named: dict[str, Any] = found._asdict()
        return named
    return {operator.returned[0].name: found}


@functools.cache
def _definition(c_name: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
    found = implementation(c_name)
    assert found is not None  # noqa: S101  # every described operator has a definition
    return found.kernel.function, tuple(found.kernel.parameters)


def _cast(request: Request, tensor: Tensor) -> Any:
    """Return float32 for a type without kernel, as composite operators cast it; else None."""
    kind = request.types[tensor.name]
    if request.operator.build is Build.INDIVIDUAL or kind in kinds_of(request.operator.types.rows):
        return None
    return np.float32 if _numpy_kind(request, tensor) in "iub" else None


def _numpy_kind(request: Request, tensor: Tensor) -> str:
    return numpy_dtype(request.tensors[tensor.name].data_type).kind


def _plain(request: Request, option: Option) -> Any:
    value = request.values[option.name]
    if option.kind is Kind.REAL:
        # The attribute of the kernel is a float.
        return float(np.float32(value))
    if option.kind is Kind.STRING and option.choices and value is not None:
        return next(choice for choice in option.choices if value.startswith(choice))
    if option.kind is Kind.DTYPE:
        known = {*kinds_of(request.operator.types.rows), *PAIRED}
        return dtype_of_word(value if value in known else _UNKNOWN)
    return value


def _target(
    memory: DeviceMemory, tensor: Tensor, given: Given, size: int, dense: bool
) -> NDArray[Any]:
    """Where a kernel writes a result of so many elements.

    Tiling of individual operators lets other shapes through; their kernels write one element after
    the other all the same.
    """
    if not dense:
        return memory.view(tensor.c_name, given)
    if given.size < size:
        raise DeviceMemoryError(
            f"{tensor.c_name} has {given.size} elements; the kernel writes {size} and would "
            "overwrite what lies behind it"
        )
    return memory.dense(tensor.c_name, given).reshape(-1)[:size]


def _show_unwritten(
    request: Request, memory: DeviceMemory, tensor: Tensor, given: Given, target: NDArray[Any]
) -> None:
    """Poison an output of which the kernel leaves elements out, unless an input lies there."""
    if tensor.read or (target.size == given.size and given.contiguous):
        return
    pairs = ((other, request.tensors[other.name]) for other in request.operator.inputs)
    inputs = [memory.view(other.c_name, value) for other, value in pairs if value is not None]
    poison_output(memory.view(tensor.c_name, given), inputs)
