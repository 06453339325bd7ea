# SPDX-License-Identifier: Apache-2.0
"""Checks for operators of packages; each passes silently or raises `RefusalError`.

Texts begin with a message code as CANN's do: EZ1001 for a wrong argument, EZ9999 for what fails
inside of the operator library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pyaclnn.facts.operators.request import shape_text
from pyaclnn.mock.operators.operator import RefusalError
from pyaclnn.mock.protocol.dtypes import data_type_name
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import Flag, Tensor

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = [
    "data_type_in",
    "invalid",
    "null_pointer",
    "out_pointers",
    "present",
    "same_shape",
    "shape_text",
    "tiling_failure",
]

Value = TypeVar("Value")

_OUT_POINTERS = {
    Flag.NO_WORKSPACE_POINTER: "workspaceSize",
    Flag.NO_EXECUTOR_POINTER: "executor",
}


def invalid(text: str) -> RefusalError:
    """Make the refusal of a wrong argument: 161002."""
    return RefusalError(Status.PARAM_INVALID, f"EZ1001: {text}")


def null_pointer(name: str) -> RefusalError:
    """Make the refusal of a NULL argument: 161001."""
    return RefusalError(
        Status.PARAM_NULLPTR, f"EZ1001: {name} is NULL; it must point to an existing object"
    )


def tiling_failure(operator: str, text: str) -> RefusalError:
    """Make the refusal of arguments the kernel's tiling does not take: 561002."""
    return RefusalError(Status.INNER_TILING, f"EZ9999: tiling of {operator} failed: {text}")


def present(name: str, value: Value | None) -> Value:
    """Require a pointer argument and return it."""
    if value is None:
        raise null_pointer(name)
    return value


def out_pointers(flags: int, order: Iterable[Flag] = tuple(_OUT_POINTERS)) -> None:
    """Require the two pointers at the end of every phase 1, in the order they are looked at."""
    for flag in order:
        if flags & flag:
            raise null_pointer(_OUT_POINTERS[flag])


def data_type_in(name: str, tensor: Tensor | None, allowed: Collection[int]) -> None:
    """Require one of several data types; an absent tensor passes."""
    if tensor is not None and tensor.data_type not in allowed:
        raise invalid(
            f"{name} has data type {data_type_name(tensor.data_type)}; it must be one of "
            f"{', '.join(map(data_type_name, allowed))}"
        )


def same_shape(name: str, tensor: Tensor, other_name: str, dims: tuple[int, ...]) -> None:
    """Require a shape."""
    if tensor.dims != dims:
        raise invalid(
            f"{name} has shape {shape_text(tensor.dims)}; it must be {shape_text(dims)}, "
            f"the shape of {other_name}"
        )
