# SPDX-License-Identifier: Apache-2.0
"""Single operators that a program calls by their names in graphs: ``aclopCompileAndExecute``.

A call has two lists of tensors, ``inputs`` and ``outputs``. ``#2`` has the values of an input that
lies on the host, ``@axis`` is an attribute. `pyaclnn.mock.operators.graph_table` has the kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.base.errors import text_of, type_name
from pyaclnn.mock.operators.graph_table import graph_function
from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Parameter,
    Plan,
    RefusalError,
    Work,
)
from pyaclnn.mock.operators.user_kernels import write_shorter
from pyaclnn.mock.protocol.dtypes import numpy_dtype
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import BoolArray, FloatArray, IntArray, TensorList
from pyaclnn.reference.kernels.kernel import KernelLimitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pyaclnn.mock.operators.operator import Setting, Shapes
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Call, Tensor, Value

__all__ = ["find_single_operator"]


_TRIED = 1 << 16
"""Most elements of tensors with which phase 1 tries a kernel."""


def find_single_operator(call: Call) -> Operator[Any]:
    """Return the operator of a call by its name in graphs.

    Args:
        call: The call.
    """
    kind = call.operator.partition(":")[2]
    names = [*call.arguments]

    def check(given: dict[str, Value], _setting: Setting) -> Plan:
        """Try the kernel with zeros, if these are few: its limits are refused, not its data."""
        function = graph_function(kind)
        refusal = "" if function is None else function.refusal(_attributes(given))
        if function is None or refusal:
            raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, _no_kernel(kind, refusal))
        try:
            if sum(tensor.size for tensor in call.tensors) <= _TRIED:
                _computed(kind, given, lambda _, tensor: _empty(tensor))
        except KernelLimitError as limit:
            raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, str(limit)) from limit
        except DeviceMemoryError:
            pass
        return Plan(launch=Launch.KERNELS)

    def kernels(given: dict[str, Value], memory: DeviceMemory) -> Work:
        def readable(name: str, tensor: Tensor) -> NDArray[Any]:
            array: NDArray[Any] = memory.view(name, tensor).view()
            array.flags.writeable = False
            return array

        return Work(lambda: _written(_computed(kind, given, readable), memory), is_lasting=False)

    return Operator(
        name=call.operator,
        executor_kind=ExecutorKind.COMPOSITE,
        parameters=tuple(Parameter(name, type(value)) for name, value in call.arguments.items()),
        arguments=lambda *values: dict(zip(names, values, strict=True)),
        check=check,
        kernels=kernels,
        written=("outputs",),
    )


def _written(results: list[tuple[Tensor, NDArray[Any]]], memory: DeviceMemory) -> Shapes:
    """Write results; returns the shapes of those that are shorter than their tensors."""
    for place, (output, result) in enumerate(results):
        target = memory.view(f"outputs[{place}]", output)
        if result.shape == output.dims:
            target[...] = result
        else:
            write_shorter(target, result, is_read=False)
    return [(output, result.shape) for output, result in results if result.shape != output.dims]


def _no_kernel(kind: str, why: str) -> str:
    reason = f" ({why})" if why else ""
    return (
        f"EZ9999: the simulated NPU has no kernel for the single operator {kind} and these "
        f"arguments{reason}, which aclopCompileAndExecute executes. Call a function of aclnn, to "
        "which pyaclnn.mock.operator gives a NumPy function; with PYACLNN_MOCK_CANN=9.1, torch-npu "
        "calls more of them"
    )


def _computed(
    kind: str, given: dict[str, Value], array_of: Callable[[str, Tensor], NDArray[Any]]
) -> list[tuple[Tensor, NDArray[Any]]]:
    """Return each output with its result.

    Raises:
        DeviceMemoryError: The data are none that the operator takes.
        KernelLimitError: The arguments are none that the kernel takes.
    """
    function = graph_function(kind)
    assert function is not None  # noqa: S101  # phase 1 has accepted it
    outputs = [item for item in _tensors(given["outputs"]) if item is not None]
    try:
        empty = [_empty(output) for output in outputs]
        attributes = {**_attributes(given), "formats": _formats(given, outputs)}
        found = function.compute(_inputs(given, array_of), attributes, empty)
        pairs = [pair for pair in zip(outputs, found, strict=True) if pair[1] is not None]
        return [(output, _fitting(output, result, function.shrinks)) for output, result in pairs]
    except (ValueError, IndexError) as error:
        raise DeviceMemoryError(text_of(error)) from error
    except (TypeError, KeyError, NotImplementedError) as error:
        why = f"{type_name(error)}: {text_of(error)}"
        raise KernelLimitError(_no_kernel(kind, why)) from error


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


def _attributes(given: dict[str, Value]) -> dict[str, Any]:
    return {name[1:]: _plain(value) for name, value in given.items() if name[0] == "@"}


def _formats(given: dict[str, Value], outputs: list[Tensor]) -> tuple[str, ...]:
    """Return the formats of the first input and the first output."""
    first = (next(filter(None, _tensors(given["inputs"])), None), *outputs)[:2]
    return tuple(tensor.format_name for tensor in first if tensor is not None)


def _plain(value: Value | None) -> Any:
    return value.values if isinstance(value, (IntArray, FloatArray, BoolArray)) else value


def _empty(tensor: Tensor) -> NDArray[Any]:
    return np.broadcast_to(np.zeros((), numpy_dtype(tensor.data_type)), tensor.dims)


def _fitting(tensor: Tensor, result: Any, shrinks: bool) -> NDArray[Any]:
    """Return a result in the type of its tensor, and in its shape unless it may be shorter."""
    array = np.asarray(result)
    if shrinks and array.ndim == tensor.rank and all(map(int.__le__, array.shape, tensor.dims)):
        return array.astype(numpy_dtype(tensor.data_type))
    if array.size != tensor.size:
        raise NotImplementedError(f"an output of {tensor.dims} gets a result of {array.shape}")
    return array.astype(numpy_dtype(tensor.data_type)).reshape(tensor.dims)
