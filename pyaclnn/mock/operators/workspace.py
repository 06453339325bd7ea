# SPDX-License-Identifier: Apache-2.0
"""Workspace sizes of described operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.operator import Build
from pyaclnn.facts.operators.types import ARRAYS
from pyaclnn.facts.operators.workspace import SYSTEM_WORKSPACE, tensor_slot

if TYPE_CHECKING:
    from pyaclnn.facts.operators.parameters import Tensor
    from pyaclnn.mock.operators.request import Request

__all__ = ["workspace_of"]


def workspace_of(request: Request) -> int:
    """Return the bytes that kernels use, with a slot for each intermediate tensor of the graph.

    Intermediate are contiguous copies of inputs; for composite operators also stand-ins for absent
    inputs, and the kernels' results, which are then cast and copied to the outputs.
    """
    operator = request.operator
    hooks = operator.hooks
    size = SYSTEM_WORKSPACE + hooks.scratch(request)
    inputs = [tensor for tensor in operator.inputs if not tensor.ignored]
    for tensor in inputs:
        given = request.tensors[tensor.name]
        if given is not None and not given.contiguous:
            size += tensor_slot(given.dims, given.type)
    if operator.build is Build.INDIVIDUAL:
        return size
    if request.chip.family not in hooks.passes_null:
        absent = [tensor for tensor in inputs if request.tensors[tensor.name] is None]
        size += sum(_slot(request, tensor, "") for tensor in absent)
    types = hooks.kernel_types(request)
    wanted = [tensor for tensor in operator.outputs if request.wants(tensor)]
    return size + sum(_slot(request, tensor, types.get(tensor.name, "")) for tensor in wanted)


def _slot(request: Request, tensor: Tensor, kind: str) -> int:
    written = tensor.type.split("/")[0]
    known = kind or request.bound.get(written, written)
    if known not in ARRAYS:
        known = request.types[request.operator.primary.name]
    return tensor_slot(request.operator.dims(tensor, request.known, request.values), known)
