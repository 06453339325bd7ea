# SPDX-License-Identifier: Apache-2.0
"""Single operators that a program calls by their names in graphs: ``aclopCompileAndExecute``.

A call has two lists of tensors, ``inputs`` and ``outputs``. ``#2`` has the values of an input that
lies on the host, ``@axis`` is an attribute. `pyaclnn.mock.operators.graph_table` has the kernels.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.base.errors import text_of, type_name
from pyaclnn.facts.releases import NEWEST, VARIABLE as RELEASE, simulated
from pyaclnn.mock.operators.blocks import blocks_of
from pyaclnn.mock.operators.formats import is_private
from pyaclnn.mock.operators.graph_table import function_of_kernel, graph_function
from pyaclnn.mock.operators.kernel_files import VARIABLE
from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Parameter,
    Plan,
    RefusalError,
    Work,
)
from pyaclnn.mock.operators.outputs import poison_output
from pyaclnn.mock.operators.trial import MisfitError
from pyaclnn.mock.operators.user_kernels import write_shorter
from pyaclnn.mock.protocol.dtypes import FORMATS, numpy_dtype
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import BoolArray, FloatArray, IntArray, TensorList
from pyaclnn.reference.kernels.kernel import KernelLimitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pyaclnn.mock.operators.blocks import Blocks
    from pyaclnn.mock.operators.graph_table import GraphFunction
    from pyaclnn.mock.operators.operator import Setting, Shapes
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Call, Tensor, Value
    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["find_single_operator"]


_TRIED = 1 << 20
"""Most elements of tensors with which phase 1 tries a kernel; equal calls do so once."""
_ORDERS = ("NCHW", "NHWC", "NCDHW", "NDHWC", "NCL", "HWCN")
"""Formats that name the order of a tensor's axes."""


def find_single_operator(call: Call, kernel: Kernel | None = None) -> Operator[Any]:
    """Return the operator of a call by its name in graphs.

    Args:
        call: The call.
        kernel: The kernel that the user gives it, or None.
    """
    kind = call.operator.partition(":")[2]
    function = graph_function(kind) if kernel is None else function_of_kernel(kernel)
    names = [*call.arguments]

    def check(given: dict[str, Value], _setting: Setting) -> Plan:
        """Try the kernel, if the tensors are small: its limits are refused, not its data."""
        given = _as_taken(function, given)
        refusal = "" if function is None else function.refusal(_attributes(given, function))
        if function is not None and "src_format" not in function.taken:  # it states the blocks
            refusal = refusal or _unreadable(given)
        if function is None or refusal:
            text = _no_kernel(kind, given, refusal)
            raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, text)
        if wrong := _mistake(function, given):
            raise _refusal(kind, given, wrong)
        try:
            if sum(tensor.size for tensor in call.tensors) <= _TRIED:
                _try(kind, function, given)
        except KernelLimitError as limit:
            raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, str(limit)) from limit
        return Plan(launch=Launch.KERNELS)

    def kernels(given: dict[str, Value], memory: DeviceMemory) -> Work:
        def readable(name: str, tensor: Tensor) -> NDArray[Any]:
            blocks = _blocks(tensor)
            array: NDArray[Any] = (
                blocks.read(memory, name) if blocks else memory.view(name, tensor).view()
            )
            array.flags.writeable = False
            return array

        def run() -> Shapes:
            assert function is not None  # noqa: S101  # phase 1 has accepted it
            taken = _as_taken(function, given)  # each time: repeated calls move their tensors
            return _written(_computed(kind, function, taken, readable), memory)

        return Work(run, is_lasting=False)

    return Operator(
        name=call.operator,
        executor_kind=ExecutorKind.COMPOSITE,
        parameters=tuple(Parameter(name, type(value)) for name, value in call.arguments.items()),
        arguments=lambda *values: dict(zip(names, values, strict=True)),
        check=check,
        kernels=kernels,
        written=("outputs",),
        shows_unwritten=True,
        reads_bases=True,  # as torch-npu describes those of ViewCopy
    )


def _try(kind: str, function: GraphFunction, given: dict[str, Value]) -> None:
    """Compute with zeros, and with ones if that fails: an error that stays is none of the data.

    Integers on the device may be sizes or places, for which neither stands: the run computes then.

    Raises:
        KernelLimitError: The arguments are none that the kernel takes.
        RefusalError: They are none that the operator takes.
    """
    errors: list[DeviceMemoryError] = []
    for value in (0, 1):
        try:
            _computed(kind, function, given, lambda _, tensor: _filled(tensor, value))  # noqa: B023
        except KernelLimitError as limit:
            if limit.__cause__ is None or not _reads_integers(given):
                raise
        except DeviceMemoryError as error:
            errors.append(error)
            continue
        return
    first, last = errors
    misfits = isinstance(last.__cause__, MisfitError)
    depends = isinstance(last.__cause__, np.linalg.LinAlgError) or _reads_integers(given)
    if str(first) == str(last) and (misfits or not depends):
        raise _refusal(kind, given, str(last)) from last


def _mistake(function: GraphFunction, given: dict[str, Value]) -> str:
    """Return what contradicts itself in a call; empty if nothing does."""
    outputs = [_filled(item, 0) for item in _tensors(given["outputs"]) if item is not None]
    inputs = _inputs(given, lambda _, tensor: _filled(tensor, 0))
    return function.mistake(inputs, _attributes(given, function), outputs)


def _refusal(kind: str, given: dict[str, Value], wrong: str) -> RefusalError:
    """Return the refusal of a call that is wrong whatever computes it, with its tensors."""

    def named(side: str, place: int, tensor: Tensor | None) -> str:
        if tensor is None:
            return "numbers of the host" if side == "inputs" and f"#{place}" in given else "none"
        return f"{tensor.type}{tensor.dims}"

    sides = (
        f"{side} {', '.join(named(side, *item) for item in enumerate(_tensors(given[side])))}"
        for side in ("inputs", "outputs")
    )
    text = f"E19999: the single operator {kind} is called wrongly: {wrong}. Its {'; '.join(sides)}"
    return RefusalError(Status.GE_FAILURE, text)


def _reads_integers(given: dict[str, Value]) -> bool:
    tensors = filter(None, _tensors(given["inputs"]))
    return any(numpy_dtype(tensor.data_type).kind in "iu" for tensor in tensors)


def _written(results: list[tuple[Tensor, NDArray[Any] | None]], memory: DeviceMemory) -> Shapes:
    """Write results; returns the shapes of those that are shorter than their tensors."""
    shorter = []
    for place, (output, result) in enumerate(results):
        name, blocks = f"outputs[{place}]", _blocks(output)
        if blocks and result is not None:
            blocks.write(memory, name, result)
            continue
        target = memory.view(name, output)
        if result is None:
            poison_output(target, [])
        elif result.shape == output.dims:
            target[...] = result
        else:
            write_shorter(target, result, is_read=False)
            shorter.append((output, result.shape))
    return shorter


def _no_kernel(kind: str, given: dict[str, Value], why: str) -> str:
    """Return the text of the answer 999001, with the outline of a kernel."""
    reason = f" ({why})" if why else ""
    inputs = [f"x{place}" for place in range(len(_tensors(given["inputs"])))]
    attributes = [name for name in _attributes(given) if name.isidentifier()]
    parameters = ", ".join([*inputs, *(["*", *attributes] if attributes else [])])
    results = ", ".join("..." for _ in _tensors(given["outputs"]))
    is_newest = simulated().name == NEWEST
    newer = "" if is_newest else f", and for more operators with {RELEASE}={NEWEST}"
    return (
        f"EZ9999: the simulated NPU has no kernel for the single operator {kind} and these "
        f"arguments{reason}, which aclopCompileAndExecute executes. Give it one: a file that "
        f"{VARIABLE} names, with\n"
        "    import numpy as np, pyaclnn.mock\n"
        f'    @pyaclnn.mock.operator("ge:{kind}")\n'
        f"    def kernel({parameters}):  # arrays of NumPy in order, attributes by name\n"
        "        ...\n"
        f"        return {results}\n"
        "or call a function of aclnn: torch-npu does so after "
        f"torch.npu.set_compile_mode(jit_compile=False){newer}"
    )


def _computed(
    kind: str,
    function: GraphFunction,
    given: dict[str, Value],
    array_of: Callable[[str, Tensor], NDArray[Any]],
) -> list[tuple[Tensor, NDArray[Any] | None]]:
    """Return each output with its result, and None for one that is not asked for.

    Raises:
        DeviceMemoryError: The data or shapes are none that the operator takes.
        KernelLimitError: The arguments are none that the kernel takes.
    """
    outputs = [item for item in _tensors(given["outputs"]) if item is not None]
    try:
        empty = [_filled(output, 0) for output in outputs]
        tensors = (*filter(None, _tensors(given["inputs"])), *outputs)
        unpacked = any(_blocks(tensor) is not None for tensor in tensors)
        attributes = {**_attributes(given, function), "unpacked": unpacked}
        found = function.compute(_inputs(given, array_of), attributes, empty)
        if len(found) != len(outputs):
            raise MisfitError(f"it has {len(outputs)} outputs; it must have {len(found)}")
        return [
            (output, None) if result is None else _fitting(place, output, result, function)
            for place, (output, result) in enumerate(zip(outputs, found, strict=True))
        ]
    except (ValueError, IndexError, TypeError, ArithmeticError) as error:
        raise DeviceMemoryError(text_of(error)) from error
    except (KeyError, NotImplementedError) as error:
        why = f"{type_name(error)}: {text_of(error)}"
        raise KernelLimitError(_no_kernel(kind, given, why)) from error


def _tensors(value: Value) -> tuple[Tensor | None, ...]:
    return value.items if isinstance(value, TensorList) else ()


def _inputs(given: dict[str, Value], array_of: Callable[[str, Tensor], NDArray[Any]]) -> list[Any]:
    """Return each input's array, one on the host as its numbers, and None for an absent one."""
    found: list[Any] = []
    for place, tensor in enumerate(_tensors(given["inputs"])):
        if tensor is not None:
            found.append(array_of(f"inputs[{place}]", tensor))
        else:
            found.append(_plain(given.get(f"#{place}")))
    while found and found[-1] is None:
        found.pop()
    return found


def _attributes(given: dict[str, Value], function: GraphFunction | None = None) -> dict[str, Any]:
    """Return attributes by name; ``data_format``, if it is not given, is that of a tensor."""
    found = {name[1:]: _plain(value) for name, value in given.items() if name[0] == "@"}
    if function is not None and "data_format" in function.taken and "data_format" not in found:
        tensors = filter(None, (*_tensors(given["inputs"]), *_tensors(given["outputs"])))
        orders = [each.format_name for each in tensors if each.format_name in _ORDERS]
        found |= {"data_format": orders[0]} if orders else {}
    return found


def _blocks(tensor: Tensor) -> Blocks | None:
    """Return the storage of a tensor in blocks; None if the dimensions of the two do not fit."""
    blocks = blocks_of(tensor)
    return blocks if blocks and blocks.stored.dims == tensor.storage_dims else None


def _as_taken(function: GraphFunction | None, given: dict[str, Value]) -> dict[str, Value]:
    """Return arguments with those tensors as they are stored that the operator takes in blocks."""
    packed = () if function is None else function.packed
    given = {**given}
    for side in ("inputs", "outputs") if packed else ():
        items = [
            _stored(item) if item and f"{side}[{place}]" in packed else item
            for place, item in enumerate(_tensors(given[side]))
        ]
        given[side] = TensorList(tuple(items))
    return given


def _stored(tensor: Tensor) -> Tensor:
    dims = tensor.storage_dims
    strides = tuple(prod(dims[axis + 1 :]) for axis in range(len(dims)))
    return replace(tensor, format=FORMATS["ND"], dims=dims, strides=strides)


def _unreadable(given: dict[str, Value]) -> str:
    """Return which tensor has a format that no kernel reads; empty if none has."""
    for side in ("inputs", "outputs"):
        for place, tensor in enumerate(_tensors(given[side])):
            if tensor is not None and is_private(tensor.format) and not _blocks(tensor):
                return (
                    f"{side}[{place}] of shape {tensor.dims} is stored as {tensor.format_name} of "
                    f"{tensor.storage_dims}, which no kernel reads"
                )
    return ""


def _plain(value: Value | None) -> Any:
    return value.values if isinstance(value, (IntArray, FloatArray, BoolArray)) else value


def _filled(tensor: Tensor, value: int) -> NDArray[Any]:
    return np.broadcast_to(np.array(value).astype(numpy_dtype(tensor.data_type)), tensor.dims)


def _fitting(
    place: int, output: Tensor, result: Any, function: GraphFunction
) -> tuple[Tensor, NDArray[Any]]:
    """Return an output, and its result in its type and shape; it may be shorter if it shrinks.

    Raises:
        MisfitError: The shapes differ, and not only in axes of length 1.
    """
    array = np.asarray(result).astype(numpy_dtype(output.data_type))
    shape, dims = array.shape, output.dims
    shrinks = function.shrinks and not _blocks(output) and array.ndim == output.rank
    if shrinks and all(map(int.__le__, shape, dims)):
        return output, array
    one, other = ([length for length in each if length != 1] for each in (shape, dims))
    is_split = function.splits and prod(shape) == prod(dims) and shape[-1:] == dims[-1:]
    if one != other and not is_split:
        raise MisfitError(f"outputs[{place}] has shape {dims}; its result has {shape}")
    return output, array.reshape(dims)
