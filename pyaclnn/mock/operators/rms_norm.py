# SPDX-License-Identifier: Apache-2.0
"""aclnnRmsNorm (CANN: ops-nn norm/rms_norm, generated from the operator definition)."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from pyaclnn.mock.dtypes import DataType
from pyaclnn.mock.memory import DeviceMemory, DeviceMemoryError
from pyaclnn.mock.operators import individual, rules, workspace
from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Parameter,
    Plan,
    Setting,
)
from pyaclnn.mock.values import Tensor
from pyaclnn.reference import rms_norm

__all__ = ["RMS_NORM"]

_F32, _F16, _BF16 = DataType.FLOAT, DataType.FLOAT16, DataType.BF16

# x, gamma, y, rstd
_FULL: individual.Combinations = (
    (_F16, _F32, _F16, _F32),
    (_BF16, _F32, _BF16, _F32),
    (_F16, _F16, _F16, _F32),
    (_BF16, _BF16, _BF16, _F32),
    (_F32, _F32, _F32, _F32),
)
_NARROW: individual.Combinations = (
    (_F16, _F16, _F16, _F32),
    (_F32, _F32, _F32, _F32),
)
_COMBINATIONS = {"910b": _FULL, "910_93": _FULL, "950": _FULL, "310p": _NARROW, "910": _NARROW}


class _Arguments(NamedTuple):
    x: Tensor | None
    gamma: Tensor | None
    epsilon: float
    y: Tensor | None
    rstd: Tensor | None


class _Tensors(NamedTuple):
    x: Tensor
    gamma: Tensor
    y: Tensor
    rstd: Tensor


def _tensors(arguments: _Arguments) -> _Tensors:
    return _Tensors(
        x=rules.present("x", arguments.x),
        gamma=rules.present("gamma", arguments.gamma),
        y=rules.present("yOut", arguments.y),
        rstd=rules.present("rstdOut", arguments.rstd),
    )


def _check(arguments: _Arguments, setting: Setting) -> Plan:
    tensors = _tensors(arguments)
    individual.out_pointers(setting.flags)
    names = ("x", "gamma", "yOut", "rstdOut")
    individual.find_kernel("RmsNorm", names, tensors, _COMBINATIONS, setting.chip)
    if tensors.y.size == 0 and tensors.rstd.size == 0:
        return Plan()
    _tiling(tensors, individual.float_attribute(arguments.epsilon))
    size = workspace.SYSTEM_WORKSPACE + workspace.copies((tensors.x, tensors.gamma))
    return Plan(size, Launch.KERNELS)


def _tiling(tensors: _Tensors, epsilon: float) -> None:
    tiling = individual.Tiling("RmsNorm")
    x, gamma, y, rstd = tensors
    tiling.rank_in_range("x", x)
    tiling.rank_in_range("gamma", gamma)
    tiling.require(
        gamma.rank <= x.rank,
        f"gamma has {gamma.rank} dimensions; it must have at most the {x.rank} of x",
    )
    tiling.require(
        y.rank == x.rank, f"yOut has {y.rank} dimensions; it must have the {x.rank} of x"
    )
    lead = x.rank - gamma.rank
    for axis, dim in enumerate(gamma.dims):
        expected = x.dims[lead + axis]
        tiling.require(
            dim == expected and dim != 0,
            f"gamma has {dim} elements in dimension {axis}; it must have those of x in dimension "
            f"{lead + axis}, which are {expected}, and not 0",
        )
    for axis, (dim, expected) in enumerate(zip(y.dims, x.dims, strict=True)):
        tiling.require(
            dim == expected and dim != 0,
            f"yOut has {dim} elements in dimension {axis}; it must have those of x, which are "
            f"{expected}, and not 0",
        )
    for axis, dim in enumerate(rstd.dims):
        allowed = {1, x.dims[axis]} if axis < x.rank else {1}
        tiling.require(
            dim in allowed and dim != 0,
            f"rstdOut has {dim} elements in dimension {axis}; it must have "
            f"{' or '.join(map(str, sorted(allowed)))}",
        )
    tiling.require(not epsilon < 0, f"epsilon is {epsilon}; it must not be negative")


def _run(arguments: _Arguments, _setting: Setting, memory: DeviceMemory) -> None:
    x, gamma, y, rstd = _tensors(arguments)
    result = rms_norm(
        memory.view("x", x),
        memory.view("gamma", gamma),
        individual.float_attribute(arguments.epsilon),
    )
    rows = prod(x.dims[: x.rank - gamma.rank])
    if rstd.size < rows:
        raise DeviceMemoryError(
            f"rstdOut has {rstd.size} elements; the kernel writes one for each of {rows} rows and "
            "would overwrite what lies behind it"
        )
    memory.dense("yOut", y)[...] = result.y
    # Tiling lets other shapes through; the kernel writes rows one after the other all the same.
    memory.dense("rstdOut", rstd).reshape(-1)[:rows] = result.rstd.reshape(-1)


RMS_NORM = Operator(
    name="aclnnRmsNorm",
    executor_kind=ExecutorKind.INDIVIDUAL,
    parameters=(
        Parameter("x", Tensor),
        Parameter("gamma", Tensor),
        Parameter("epsilon", float, pointer=False),
        Parameter("yOut", Tensor),
        Parameter("rstdOut", Tensor),
    ),
    output_count=2,
    arguments=_Arguments,
    check=_check,
    run=_run,
)
