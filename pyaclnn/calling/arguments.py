# SPDX-License-Identifier: Apache-2.0
"""What an operator is given, in the order of its C interface, and how a launcher takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from pyaclnn.cann import raw
from pyaclnn.runtime.array import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Argument", "BoolArray", "IntArray", "describe", "value_of"]


class _Array:
    """Values for an array object of CANN, in the form a launcher reads."""

    __slots__ = ("_items", "struct", "values")

    kind: str
    c_type: str

    def __init__(self, values: Sequence[int]) -> None:
        self.values = tuple(values)
        self._items = raw.ffi.new(self.c_type, self.values)
        self.struct = raw.ffi.new("struct binding_array *")
        self.struct.count = len(self.values)
        self.struct.values = self._items


class IntArray(_Array):
    """An ``aclIntArray`` to be made for a call."""

    __slots__ = ()
    kind = "int array"
    c_type = "int64_t[]"


class BoolArray(_Array):
    """An ``aclBoolArray`` to be made for a call."""

    __slots__ = ()
    kind = "bool array"
    c_type = "_Bool[]"


Argument: TypeAlias = "DeviceArray | IntArray | BoolArray | float | bool | None"
"""What an operator takes: arrays, numbers, and None where the C interface takes NULL."""


def value_of(argument: Argument) -> Any:
    """Return what a launcher takes for an argument; valid as long as the argument is."""
    if argument is None:
        return raw.NULL
    if isinstance(argument, DeviceArray):
        return argument.tensor
    return argument.struct if isinstance(argument, _Array) else argument


def describe(names: Sequence[str], arguments: Sequence[Argument]) -> dict[str, str]:
    """Return the description of every argument by its C name, for error messages."""
    return {name: _words(argument) for name, argument in zip(names, arguments, strict=True)}


def _words(argument: Argument) -> str:
    if argument is None:
        return "NULL"
    if isinstance(argument, _Array):
        return f"{argument.kind} {argument.values}"
    if not isinstance(argument, DeviceArray):
        return repr(argument)
    size = argument.itemsize
    strides = tuple(step // size for step in argument.strides)
    memory, tensor = argument.memory, argument.tensor
    return (
        f"{argument.dtype} tensor, shape {argument.shape}, strides {strides}, "
        f"offset {argument.offset // size}, format ND, storage {(tensor.storage,)}, "
        f"at 0x{raw.address_of(memory.pointer):x} on device {argument.device.id}"
    )
