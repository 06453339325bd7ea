# SPDX-License-Identifier: Apache-2.0
"""Kernels of described operators: their definitions, on device memory."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.description import snake_case
from pyaclnn.facts.operators.lists import in_lists
from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.parameters import Kind
from pyaclnn.facts.operators.types import PAIRED
from pyaclnn.mock.operators.operator import Work
from pyaclnn.mock.operators.outputs import poison_output
from pyaclnn.mock.operators.pairs import bytes_of, paired
from pyaclnn.mock.operators.types import kinds_of
from pyaclnn.mock.protocol.dtypes import dtype_of_word, numpy_dtype
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.reference import find
from pyaclnn.reference.fast.results import offered
from pyaclnn.reference.kernels.kernel import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pyaclnn.facts.operators.parameters import Option, Tensor
    from pyaclnn.mock.operators.request import Request
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Tensor as Given

__all__ = ["kernels"]

_UNKNOWN = "f32"
_SMALL = 1 << 14
"""Elements up to which a definition is faster than its version in tiles."""
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


def kernels(request: Request, memory: DeviceMemory) -> Work:
    """Bind the kernels of a call that phase 1 has accepted."""
    request.resume()
    if request.fills is not None:
        filled = [
            (memory.view(name, request.tensors[name]), number)
            for name, number in request.fills.items()
        ]
        return Work(functools.partial(_fill, filled))
    prepared: Prepared = request.prepared or _prepare(request)
    request.prepared = prepared
    return Work(_Bound(request, prepared, memory).run)


def _fill(filled: list[tuple[NDArray[Any], float]]) -> None:
    for array, number in filled:
        array[...] = number


class _Bound:
    """A call with the arrays of its tensors.

    Where a result is written depends on its size, so the first run finds that out.
    """

    def __init__(self, request: Request, prepared: Prepared, memory: DeviceMemory) -> None:
        self._request, self._prepared, self._memory = request, prepared, memory
        self._arguments = dict(prepared.options)
        self._fresh: list[tuple[str, NDArray[Any], Any, tuple[int, ...] | None]] = []
        for tensor, given, dtype, shape in prepared.inputs:
            array = memory.view(tensor.c_name, given)
            if tensor.name not in prepared.names:
                continue
            if dtype is None and shape is None:
                self._arguments[tensor.name] = array
            else:
                self._fresh.append((tensor.name, array, dtype, shape))
        self._targets: list[_Target | None] = [None] * len(prepared.outputs)
        self._offers = _offers(prepared, memory)
        self._is_new = False

    def run(self) -> None:
        """Compute the results, and write them."""
        if self._offers:
            with offered(list(self._offers)):
                results = self._computed()
        else:
            results = self._computed()
        writes = []
        for place, result in enumerate(results):
            if result is None:
                continue
            target = self._targets[place]
            dtype = self._prepared.outputs[place][2]
            array = np.asarray(result) if dtype is None else np.asarray(result).astype(dtype)
            if target is None:
                target = self._targets[place] = self._target(place, array.size)
                self._is_new = True
            writes.append((target, array))
        for target, array in writes:  # none where one of them cannot be written
            target.write(array)
        if self._is_new:
            self._offers = _offers(self._prepared, self._memory)
            self._is_new = False

    def _computed(self) -> list[Any]:
        """Call the definition; return its results in the order of the outputs."""
        arguments = self._arguments
        if self._fresh:
            arguments = dict(arguments)
            for name, array, dtype, shape in self._fresh:
                cast = array if dtype is None else array.astype(dtype)
                arguments[name] = cast if shape is None else cast.reshape(shape)
        operator, function = self._request.operator, self._prepared.function
        if operator.lists:
            (found,) = function(**in_lists(operator, arguments))
        else:
            found = function(**arguments)
        outputs = self._prepared.outputs
        if hasattr(found, "_fields"):
            return [getattr(found, tensor.name) for tensor, *_ in outputs]
        return [found for _ in outputs]

    def _target(self, place: int, size: int) -> _Target:
        """Find the memory of a result of so many elements."""
        request, memory = self._request, self._memory
        tensor, given, _ = self._prepared.outputs[place]
        if request.types[tensor.name] in PAIRED:
            return _Target(memory.view(tensor.c_name, bytes_of(given)), in_pairs=True)
        dense = place in self._prepared.dense
        array = _target(memory, tensor, given, size, dense)
        self._prepared.sizes[place] = size
        if dense and not (tensor.read or (array.size == given.size and given.contiguous)):
            inputs = [
                memory.view(other.c_name, value)
                for other in request.operator.inputs
                if (value := request.tensors[other.name]) is not None
            ]
            whole = memory.view(tensor.c_name, given)
            return _Target(array, shown=functools.partial(poison_output, whole, inputs))
        return _Target(array)


class _Target:
    """Memory of a result.

    Args:
        array: The memory.
        in_pairs: True if two elements of the result share a byte.
        shown: Poisons an output of which the kernel leaves elements out.
    """

    __slots__ = ("_array", "_in_pairs", "_shown")

    def __init__(
        self,
        array: NDArray[Any],
        *,
        in_pairs: bool = False,
        shown: Callable[[], object] | None = None,
    ) -> None:
        self._array, self._in_pairs, self._shown = array, in_pairs, shown

    def write(self, found: NDArray[Any]) -> None:
        """Write the result, unless it was computed in its place."""
        array = self._array
        if not array.size:
            return
        if self._shown is not None:
            self._shown()
        if self._in_pairs:
            found = paired(found)
        if not _is_written(array, found):
            array[...] = found if found.shape == array.shape else found.reshape(array.shape)


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
    sizes = (given.size for given in request.tensors.values() if given is not None)
    function, names = _definition(operator.c_name, is_small=max(sizes, default=0) < _SMALL)
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


@functools.cache
def _definition(c_name: str, *, is_small: bool) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """Return the function of an operator, and the names of its parameters."""
    found = find(by_c_name()[c_name].definition)
    assert found is not None  # noqa: S101  # every described operator has a definition
    defined, offered_one = found
    return defined if is_small else offered_one, tuple(Kernel(c_name, offered_one).parameters)


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
