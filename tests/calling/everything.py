# SPDX-License-Identifier: Apache-2.0
"""The operators of ``everything.h`` on the simulated device."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Parameter,
    Plan,
    RefusalError,
    Setting,
    Work,
)
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import (
    BoolArray,
    FloatArray,
    IntArray,
    Scalar,
    ScalarList,
    Tensor,
    TensorList,
    Unsigned,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.mock.protocol.memory import DeviceMemory

__all__ = ["OPERATORS"]


class _Everything(NamedTuple):
    xs: TensorList
    bias: Tensor | None
    alpha: Scalar
    weights: ScalarList
    counts: IntArray | None
    shifts: FloatArray | None
    flags: BoolArray | None
    mode: str | None
    on: bool
    small: int
    medium: int
    large: int
    huge: int
    narrow: float
    wide: float
    kind: int
    self_ref: Tensor
    outs: TensorList


def _check(arguments: _Everything, _: Setting) -> Plan:
    if arguments.mode == "tell":
        told = [_plain(value) for value in arguments]
        raise RefusalError(Status.PARAM_INVALID, f"told: {told}")
    return Plan(workspace_size=4096, launch=Launch.KERNELS)


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return "tensor", value.dims, value.format, value.storage_dims
    if isinstance(value, (TensorList, ScalarList)):
        return [_plain(item) for item in value.items]
    if isinstance(value, Scalar):
        return value.data_type, value.data.hex()
    return value.values if isinstance(value, (IntArray, FloatArray, BoolArray)) else value


def _number(scalar: Scalar | None) -> float:
    kinds = {9: np.int64, 11: np.float64, 0: np.float32, 12: np.bool_}
    return 1.0 if scalar is None else float(np.frombuffer(scalar.data, kinds[scalar.data_type])[0])


def _run(arguments: _Everything, memory: DeviceMemory) -> None:
    bias: Any = 0 if arguments.bias is None else memory.view("bias", arguments.bias)
    items = zip(arguments.xs.items, arguments.weights.items, arguments.outs.items, strict=True)
    for x, weight, out in items:
        if x is not None and out is not None:
            memory.view("out", out)[...] = memory.view("x", x) * _number(weight) + bias
    target = memory.view("selfRef", arguments.self_ref)
    target[...] = target + _number(arguments.alpha)


class _Increment(NamedTuple):
    self_ref: Tensor


def _increment(arguments: _Increment, memory: DeviceMemory) -> None:
    memory.view("selfRef", arguments.self_ref)[...] += 1


def _bound(run: Callable[[Any, DeviceMemory], None]) -> Callable[[Any, DeviceMemory], Work]:
    """Look the tensors up anew in each run."""
    return lambda arguments, memory: Work(partial(run, arguments, memory), is_lasting=False)


OPERATORS = [
    Operator(
        name="aclnnEverything",
        executor_kind=ExecutorKind.INDIVIDUAL,
        parameters=(
            Parameter("xs", TensorList),
            Parameter("biasOptional", Tensor),
            Parameter("alpha", Scalar),
            Parameter("weights", ScalarList),
            Parameter("counts", IntArray),
            Parameter("shifts", FloatArray),
            Parameter("flags", BoolArray),
            Parameter("mode", str),
            Parameter("on", bool, pointer=False),
            Parameter("small", int, pointer=False),
            Parameter("medium", int, pointer=False),
            Parameter("large", int, pointer=False),
            Parameter("huge", Unsigned, pointer=False),
            Parameter("narrow", float, pointer=False),
            Parameter("wide", float, pointer=False),
            Parameter("kind", int, pointer=False),
            Parameter("selfRef", Tensor),
            Parameter("outs", TensorList),
        ),
        output_count=0,
        arguments=_Everything,
        check=_check,
        kernels=_bound(_run),
    ),
    Operator(
        name="aclnnInplaceIncrement",
        executor_kind=ExecutorKind.INDIVIDUAL,
        parameters=(Parameter("selfRef", Tensor),),
        output_count=0,
        arguments=_Increment,
        check=lambda _, __: Plan(launch=Launch.KERNELS),
        kernels=_bound(_increment),
    ),
]
