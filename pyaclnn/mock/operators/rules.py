# SPDX-License-Identifier: Apache-2.0
"""Acceptance rules that operators share; each passes silently or raises `RefusalError`.

Texts begin with a message code as CANN's do: EZ1001 for a wrong argument, EZ9999 for what fails
inside of the operator library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pyaclnn.facts.operators.request import shape_text
from pyaclnn.mock.operators.operator import RefusalError
from pyaclnn.mock.protocol.dtypes import FORMATS, data_type_name, format_name
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import Flag, Tensor

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = [
    "TAKEN_AS_ND",
    "data_type_in",
    "formats_are_taken",
    "invalid",
    "not_format",
    "null_pointer",
    "other_format",
    "out_pointers",
    "present",
    "same_shape",
    "shape_text",
    "tiling_failure",
    "wrong_format",
]

Value = TypeVar("Value")

_OUT_POINTERS = {
    Flag.NO_WORKSPACE_POINTER: "workspaceSize",
    Flag.NO_EXECUTOR_POINTER: "executor",
}

# How the names of formats begin whose memory is not that of a view.
_PRIVATE = ("NC1HWC0", "NDC1HWC0", "FRACTAL_")

# Formats that individual operators rewrite to ND before they look for a kernel; NDHWC is not among
# them (CANN: opbase indv_executor_tensor.cpp). Hand-written operators look at no format.
TAKEN_AS_ND = frozenset(FORMATS[name] for name in ("ND", "NCHW", "NHWC", "NCDHW", "NCL"))


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
    """Require a pointer argument and give it back."""
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


def formats_are_taken(tensors: Iterable[tuple[str, Tensor | None]]) -> None:
    """Require formats that are taken as ND; absent tensors pass."""
    for name, tensor in tensors:
        if tensor is not None and tensor.format not in TAKEN_AS_ND:
            names = ", ".join(sorted(format_name(form) for form in TAKEN_AS_ND))
            raise invalid(
                f"{name} has format {format_name(tensor.format)}; it must be one of {names}"
            )


def same_shape(name: str, tensor: Tensor, other_name: str, dims: tuple[int, ...]) -> None:
    """Require a shape."""
    if tensor.dims != dims:
        raise invalid(
            f"{name} has shape {shape_text(tensor.dims)}; it must be {shape_text(dims)}, "
            f"the shape of {other_name}"
        )


def wrong_format(name: str, tensor: Tensor, barred: Collection[str]) -> str | None:
    """Say that a format has a layout of its own, or is one of those that are barred, or None."""
    form = format_name(tensor.format)
    if not form.startswith(_PRIVATE) and form not in barred:
        return None
    more = f" and none of {', '.join(barred)}" if barred else ""
    return f"{name} has format {form}; it must be one without a layout of its own{more}"


def other_format(name: str, tensor: Tensor, other_name: str, other: Tensor) -> str | None:
    """Say that a format is not that of another tensor, or None."""
    if tensor.format == other.format:
        return None
    return (
        f"{name} has format {format_name(tensor.format)}; it must be {format_name(other.format)}, "
        f"that of {other_name}"
    )


def not_format(name: str, tensor: Tensor, allowed: Collection[str | None]) -> str | None:
    """Say that a format is none of those that this many dimensions need, or None."""
    form = format_name(tensor.format)
    if form in allowed:
        return None
    needed = " or ".join(sorted(filter(None, allowed)))
    return f"{name} has {tensor.rank} dimensions and format {form}; it must be {needed}"
