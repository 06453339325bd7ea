# SPDX-License-Identifier: Apache-2.0
"""Checks of pointers and of the mask that selects outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.parameters import Kind, Option
from pyaclnn.mock.protocol.values import Flag

if TYPE_CHECKING:
    from pyaclnn.facts.operators.checks import Check
    from pyaclnn.facts.operators.parameters import Parameter
    from pyaclnn.mock.operators.request import Request

__all__ = ["mask", "mask_length", "null", "pointers", "required", "selected"]

_OUT_POINTERS = {
    "workspaceSize": Flag.NO_WORKSPACE_POINTER,
    "executor": Flag.NO_EXECUTOR_POINTER,
}
_POINTERS = (Kind.LENGTHS, Kind.AXES, Kind.MASK, Kind.SCALAR, Kind.STRING)


def null(name: str) -> str:
    """Return the text of the refusal of a NULL argument."""
    return f"{name} is NULL; it must point to an existing object"


def pointers(request: Request, check: Check) -> str | None:
    """Check the pointers at the end of the signature, in the order of the check."""
    return next((null(name) for name in check.names if request.flags & _OUT_POINTERS[name]), None)


def required(request: Request, check: Check) -> str | None:
    """Check that what is not optional is there; the mask and what it selects have own checks."""
    operator, masked = request.operator, request.operator.mask
    others = () if masked is None or not _is_checked(request) else (masked.c_name, *masked.results)
    for parameter in operator.parameters.values():
        if request.values[parameter.name] is not None or parameter.c_name in others:
            continue
        if parameter.c_name in check.names or not _may_be_null(request, parameter):
            return null(parameter.c_name)
    return None


def _is_checked(request: Request) -> bool:
    return any(check.kind == "mask" for check in request.operator.checks)


def _may_be_null(request: Request, parameter: Parameter) -> bool:
    optional = parameter.c_name.endswith("Optional")
    if isinstance(parameter, Option):
        return optional or parameter.null or parameter.kind not in _POINTERS
    wanted = parameter.placeholder or request.wants(parameter)
    return optional or parameter.optional or not wanted


def mask(request: Request, _check: Check) -> str | None:
    """Check that the mask is there."""
    option = request.operator.mask
    absent = option is not None and request.values[option.name] is None
    return null(option.c_name) if option is not None and absent else None


def mask_length(request: Request, _check: Check) -> str | None:
    """Check that the mask has an element for each output that it selects."""
    option = request.operator.mask
    if option is None or len(request.values[option.name]) == len(option.results):
        return None
    has, must = len(request.values[option.name]), len(option.results)
    names = ", ".join(option.results)
    return f"{option.c_name} has {has} elements; it must have {must}: {names}"


def selected(request: Request, _check: Check) -> str | None:
    """Check that the outputs that the mask selects are there."""
    option = request.operator.mask
    if option is None:
        return None
    pairs = zip(option.results, request.values[option.name], strict=True)
    wanted = (request.operator.parameters[name] for name, is_wanted in pairs if is_wanted)
    absent = (p.c_name for p in wanted if request.tensors[p.name] is None)
    return next(map(null, absent), None)
