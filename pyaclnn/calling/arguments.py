# SPDX-License-Identifier: Apache-2.0
"""Arguments of an operator, in the order of its C interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from pyaclnn.base.errors import repr_of
from pyaclnn.cann import raw
from pyaclnn.runtime.array import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Argument", "arrays_in", "describe", "frozen"]

Argument: TypeAlias = Any
"""An argument of an operator: a device array, a number, a sequence of either, a string, or None for
NULL."""

_FROZEN = (DeviceArray, tuple, float, int, str, bytes)
_SEQUENCES = {
    "I": "int array",
    "F": "float array",
    "B": "bool array",
    "A": "list of scalars",
}


def frozen(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Return the arguments, with tuples in the place of mutable sequences."""
    return tuple([a if isinstance(a, _FROZEN) or not _is_many(a) else tuple(a) for a in arguments])


def _is_many(argument: Argument) -> bool:
    return hasattr(argument, "__iter__") and getattr(argument, "ndim", 1) > 0


def arrays_in(arguments: Sequence[Argument]) -> Iterator[DeviceArray]:
    """Return the device arrays among arguments, those in lists too."""
    for argument in arguments:
        if isinstance(argument, DeviceArray):
            yield argument
        elif isinstance(argument, tuple):
            yield from (item for item in argument if isinstance(item, DeviceArray))


def describe(
    names: Sequence[str], kinds: Sequence[str], arguments: Sequence[Argument]
) -> dict[str, str]:
    """Return the description of every argument by its C name, for error messages.

    Args:
        names: The C names.
        kinds: C type of each parameter; see ``struct binding_operator``.
        arguments: The arguments.
    """
    rows = zip(names, kinds, arguments, strict=True)
    return {name: _words(kind, argument) for name, kind, argument in rows}


def _words(kind: str, argument: Argument) -> str:
    if argument is None:
        return "NULL"
    if isinstance(argument, DeviceArray):
        return _tensor(argument)
    if kind in "TW":
        items = ", ".join(_words("t", item) for item in argument)
        return f"list of {len(argument)} tensors: {items or 'none'}"
    if kind in _SEQUENCES:
        values = tuple(argument) if _is_many(argument) else (argument,)
        return f"{_SEQUENCES[kind]} {values}"
    return f"scalar {repr_of(argument)}" if kind == "a" else repr_of(argument)


def _tensor(array: DeviceArray) -> str:
    size = array.itemsize
    strides = tuple(step // size for step in array.strides)
    storage = array._layout.storage or (int(array._tensor.extent) if array._tensor else 0,)
    return (
        f"{array.dtype} tensor, shape {array.shape}, strides {strides}, "
        f"offset {array.offset // size}, format {array._layout.format}, storage {storage}, "
        f"at 0x{raw.address_of(array._memory.pointer):x} on device {array.device.id}"
    )
