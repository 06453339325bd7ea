# SPDX-License-Identifier: Apache-2.0
"""Operators of the simulated NPU, made from their descriptions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pyaclnn.mock.operators import kernel
from pyaclnn.mock.operators.operator import ExecutorKind, Operator, Parameter
from pyaclnn.mock.operators.phase_one import phase_one
from pyaclnn.mock.operators.request import POINTERS, Request, kind_of
from pyaclnn.mock.operators.tensor_list import Requests, kernels_of_each, phase_one_of_each

if TYPE_CHECKING:
    from pyaclnn.facts.operators.operator import Operator as Description

__all__ = ["operator_of"]


def operator_of(description: Description) -> Operator[Any]:
    """Make the device's side of an operator: its phase 1 and its kernels."""
    parameters = description.parameters.values()
    each = description.lists
    return Operator(
        name=description.c_name,
        executor_kind=ExecutorKind(description.build.value),
        parameters=tuple(
            Parameter(parameter.c_name, kind, pointer=kind in POINTERS)
            for parameter in parameters
            for kind in [kind_of(parameter, each=each)]
        ),
        arguments=partial(Requests if each else Request, description),
        check=phase_one_of_each if each else phase_one,
        kernels=kernels_of_each if each else kernel.kernels,
        written=tuple(tensor.c_name for tensor in description.tensors if tensor.written),
        updated=tuple(
            tensor.c_name for tensor in description.tensors if tensor.read and tensor.written
        ),
        apart=not each and not description.in_place,
        shows_unwritten=True,
    )
