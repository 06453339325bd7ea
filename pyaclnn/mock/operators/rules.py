# SPDX-License-Identifier: Apache-2.0
"""Acceptance rules that operators share; each passes silently or raises `RefusalError`.

Texts begin with a message code as CANN's do: EZ1001 for a wrong argument, EZ9999 for what fails
inside of the operator library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pyaclnn.mock.dtypes import DataType, Format, data_type_name, format_name
from pyaclnn.mock.operators.operator import RefusalError
from pyaclnn.mock.status import Status
from pyaclnn.mock.values import Flag, Tensor

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = [
    "MAX_RANK",
    "TAKEN_AS_ND",
    "data_type_in",
    "formats_are_taken",
    "invalid",
    "normalized_shape_fits",
    "normalized_shape_limit",
    "null_pointer",
    "out_pointers",
    "parameter_rank",
    "parameter_type",
    "present",
    "rank_at_most",
    "same_shape",
    "shape_text",
    "tiling_failure",
]

Value = TypeVar("Value")

_OUT_POINTERS = {
    Flag.NO_WORKSPACE_POINTER: "workspaceSize",
    Flag.NO_EXECUTOR_POINTER: "executor",
}

# MAX_SUPPORT_DIMS_NUMS of the hand-written operators.
MAX_RANK = 8

# Formats that individual operators rewrite to ND before they look for a kernel; NDHWC is not among
# them (CANN: opbase indv_executor_tensor.cpp). Hand-written operators look at no format.
TAKEN_AS_ND = frozenset({Format.ND, Format.NCHW, Format.NHWC, Format.NCDHW, Format.NCL})


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


def shape_text(dims: Iterable[int]) -> str:
    """Write a shape for a message, for example ``[2,3]``."""
    return f"[{','.join(map(str, dims))}]"


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


def rank_at_most(name: str, tensor: Tensor | None, limit: int = MAX_RANK) -> None:
    """Require no more than so many dimensions; an absent tensor passes."""
    if tensor is not None and tensor.rank > limit:
        raise invalid(
            f"{name} has {tensor.rank} dimensions, shape {shape_text(tensor.dims)}; "
            f"it must have at most {limit}"
        )


def same_shape(name: str, tensor: Tensor, other_name: str, dims: tuple[int, ...]) -> None:
    """Require a shape."""
    if tensor.dims != dims:
        raise invalid(
            f"{name} has shape {shape_text(tensor.dims)}; it must be {shape_text(dims)}, "
            f"the shape of {other_name}"
        )


def parameter_type(name: str, tensor: Tensor | None, input_name: str, source: Tensor) -> None:
    """Require a weight or bias to be float32 or of the input's type; an absent tensor passes."""
    if tensor is not None and tensor.data_type not in {DataType.FLOAT, source.data_type}:
        raise invalid(
            f"{name} has data type {data_type_name(tensor.data_type)}; it must be FLOAT or "
            f"{data_type_name(source.data_type)}, that of {input_name}"
        )


def normalized_shape_limit(normalized: tuple[int, ...]) -> None:
    """Require at most 8 normalized axes."""
    if len(normalized) > MAX_RANK:
        raise invalid(
            f"normalizedShape has {len(normalized)} elements; it must have at most {MAX_RANK}"
        )


def normalized_shape_fits(normalized: tuple[int, ...], name: str, source: Tensor) -> None:
    """Require at least one normalized axis, and no more than the input has."""
    if not normalized:
        raise invalid("normalizedShape is empty; it must have at least one element")
    if source.rank < len(normalized):
        raise invalid(
            f"{name} has {source.rank} dimensions; it must have at least the "
            f"{len(normalized)} of normalizedShape"
        )


def parameter_rank(name: str, tensor: Tensor | None, normalized: tuple[int, ...]) -> None:
    """Require a weight or bias to have the normalized axes; an absent tensor passes."""
    if tensor is not None and tensor.rank != len(normalized):
        raise invalid(
            f"{name} has {tensor.rank} dimensions, shape {shape_text(tensor.dims)}; it must have "
            f"the {len(normalized)} of normalizedShape"
        )
