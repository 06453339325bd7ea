# SPDX-License-Identifier: Apache-2.0
"""The custom operator on the simulated device: what it accepts, its tiling, its kernel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pyaclnn import ascendc, tiling
from pyaclnn.facts.chips import all_chips, find_chip
from pyaclnn.mock.operators import rules
from pyaclnn.mock.operators.operator import (
    ExecutorKind,
    Launch,
    Operator,
    Parameter,
    Plan,
    Setting,
    Work,
)
from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import Tensor

if TYPE_CHECKING:
    from pyaclnn.mock.protocol.memory import DeviceMemory

__all__ = ["OPERATORS"]

_KERNEL = Path(__file__).with_name("add_layer_norm_custom.cpp")
_IN_BLOCK = 8  # floats of 32 bytes


class _Arguments(NamedTuple):
    x1: Tensor
    x2: Tensor
    gamma: Tensor
    beta: Tensor
    epsilon: float
    y: Tensor


def _check(arguments: _Arguments, setting: Setting) -> Plan:
    """Phase 1: the rules, in the order of CANN's own operators."""
    tensors = {name: value for name, value in arguments._asdict().items() if name != "epsilon"}
    for name, tensor in tensors.items():
        rules.present(name, tensor)
    rules.out_pointers(setting.flags)
    for name, tensor in tensors.items():
        rules.data_type_in(name, tensor, (DATA_TYPES["FLOAT"],))
        expected = arguments.x1 if name in {"x2", "y"} else arguments.x1.dims[-1:]
        dims = expected.dims if isinstance(expected, Tensor) else expected
        if name != "x1":
            rules.same_shape(name, tensor, "x1" if name in {"x2", "y"} else "x1's last axis", dims)
    return Plan(launch=Launch.KERNELS if arguments.x1.size else Launch.NOTHING)


def _kernels(arguments: _Arguments, memory: DeviceMemory) -> Work:
    return Work(lambda: _run(arguments, memory))


def _run(arguments: _Arguments, memory: DeviceMemory) -> None:
    """Phase 2: tiling, then the kernel, on as many cores as have work."""
    soc = os.environ.get("PYACLNN_MOCK_SOC") or all_chips()[0].soc_name
    width = arguments.x1.dims[-1]
    rows = arguments.x1.size // width
    shape = (1, 1, -(-width // _IN_BLOCK) * _IN_BLOCK, width)
    size = tiling.get_layer_norm_max_min_tmp_size(shape, 4, soc=soc).max_value
    structure = tiling.get_layer_norm_nd_tiling_info(shape, size, 4, soc=soc)
    inputs = [
        np.ascontiguousarray(memory.view(name, tensor))
        for name, tensor in arguments._asdict().items()
        if name not in {"epsilon", "y"}
    ]
    ascendc.compile(_KERNEL, soc=soc).launch(
        min(rows, find_chip(soc).kernel_cores),
        *inputs,
        memory.dense("yOut", arguments.y),
        tiling=(structure, np.uint32(rows), np.float32(arguments.epsilon)),
    )


OPERATORS = [
    Operator(
        name="aclnnAddLayerNormCustom",
        executor_kind=ExecutorKind.INDIVIDUAL,
        parameters=(
            Parameter("x1", Tensor),
            Parameter("x2", Tensor),
            Parameter("gamma", Tensor),
            Parameter("beta", Tensor),
            Parameter("epsilon", float, pointer=False),
            Parameter("yOut", Tensor),
        ),
        output_count=1,
        arguments=_Arguments,
        check=_check,
        kernels=_kernels,
    )
]
