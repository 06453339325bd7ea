# SPDX-License-Identifier: Apache-2.0
"""Single operators that a program calls by their names in graphs: ``aclopCompileAndExecute``.

A call has two lists of tensors, ``inputs`` and ``outputs``. ``#2`` has the values of an input that
lies on the host, ``@axis`` is an attribute. `pyaclnn.mock.operators.graph_table` has the kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.base.errors import text_of
from pyaclnn.mock.operators.graph_table import graph_function
from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Parameter,
    Plan,
    RefusalError,
)
from pyaclnn.mock.protocol.dtypes import numpy_dtype
from pyaclnn.mock.protocol.memory import DeviceMemoryError
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import BoolArray, FloatArray, IntArray, TensorList
from pyaclnn.reference.kernels.kernel import KernelLimitError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.mock.operators.operator import Setting
    from pyaclnn.mock.protocol.memory import DeviceMemory
    from pyaclnn.mock.protocol.values import Call, Tensor, Value

__all__ = ["find_single_operator"]


def find_single_operator(call: Call) -> Operator[Any]:
    """Return the operator of a call by its name in graphs.

    Args:
        call: The call.
    """
    kind = call.operator.partition(":")[2]
    names = [*call.arguments]

    def check(_given: dict[str, Value], _setting: Setting) -> Plan:
        if graph_function(kind) is None:
            raise RefusalError(Status.MOCK_NOT_IMPLEMENTED, _no_kernel(kind))
        return Plan(launch=Launch.KERNELS)

    def run(given: dict[str, Value], _setting: Setting, memory: DeviceMemory) -> None:
        function = graph_function(kind)
        assert function is not None  # noqa: S101  # phase 1 has accepted it
        outputs = [item for item in _tensors(given["outputs"]) if item is not None]
        try:
            found = function(
                _inputs(given, memory),
                {name[1:]: _plain(value) for name, value in given.items() if name[0] == "@"},
                [_empty(output) for output in outputs],
            )
            pairs = zip(outputs, found, strict=True)
            results = [(output, _fitting(output, result)) for output, result in pairs]
        except (ValueError, IndexError) as error:
            raise DeviceMemoryError(text_of(error)) from error
        except (TypeError, KeyError, NotImplementedError) as error:
            text = f"{_no_kernel(kind)} ({type(error).__name__}: {text_of(error)})"
            raise KernelLimitError(text) from error
        for place, (output, result) in enumerate(results):
            memory.view(f"outputs[{place}]", output)[...] = result

    return Operator(
        name=call.operator,
        executor_kind=ExecutorKind.COMPOSITE,
        parameters=tuple(Parameter(name, type(value)) for name, value in call.arguments.items()),
        arguments=lambda *values: dict(zip(names, values, strict=True)),
        check=check,
        run=run,
        written=("outputs",),
    )


def _no_kernel(kind: str) -> str:
    return (
        f"EZ9999: the simulated NPU has no kernel for the single operator {kind} and these "
        "arguments (aclopCompileAndExecute). Call a function of aclnn, to which "
        "pyaclnn.mock.operator gives a NumPy function; with PYACLNN_MOCK_CANN=9.1, torch-npu calls "
        "more of them"
    )


def _tensors(value: Value) -> tuple[Tensor | None, ...]:
    return value.items if isinstance(value, TensorList) else ()


def _inputs(given: dict[str, Value], memory: DeviceMemory) -> list[Any]:
    """Return each input's array, one on the host as its numbers, and None for an absent one."""
    found: list[Any] = []
    for place, tensor in enumerate(_tensors(given["inputs"])):
        if tensor is not None:
            array = memory.view(f"inputs[{place}]", tensor).view()
            array.flags.writeable = False
            found.append(array)
        else:
            found.append(_plain(given.get(f"#{place}")))
    while found and found[-1] is None:
        found.pop()
    return found


def _plain(value: Value | None) -> Any:
    return value.values if isinstance(value, (IntArray, FloatArray, BoolArray)) else value


def _empty(tensor: Tensor) -> NDArray[Any]:
    return np.broadcast_to(np.zeros((), numpy_dtype(tensor.data_type)), tensor.dims)


def _fitting(tensor: Tensor, result: Any) -> NDArray[Any]:
    """Return a result in the type and shape of its tensor, of which only the shape may differ."""
    array = np.asarray(result)
    if array.size != tensor.size:
        raise ValueError(f"an output of {tensor.dims} gets a result of {array.shape}")
    return array.astype(numpy_dtype(tensor.data_type)).reshape(tensor.dims)
