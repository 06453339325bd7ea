# SPDX-License-Identifier: Apache-2.0
"""The aclnn objects that describe one call's arguments, made together and destroyed together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pyaclnn import raw
from pyaclnn.array import DeviceArray
from pyaclnn.call import cleanup, create
from pyaclnn.dtypes import acl_dtype
from pyaclnn.handle import count_live

if TYPE_CHECKING:
    from typing_extensions import Self

    from pyaclnn.raw import Pointer

__all__ = ["Argument", "BoolArray", "Descriptors", "IntArray"]


class IntArray(NamedTuple):
    """An ``aclIntArray`` to be made for a call."""

    values: tuple[int, ...]


class BoolArray(NamedTuple):
    """An ``aclBoolArray`` to be made for a call."""

    values: tuple[bool, ...]


Argument: TypeAlias = "DeviceArray | IntArray | BoolArray | float | bool | None"
"""What an operator takes: arrays, numbers, and None where the C interface takes NULL."""


class Descriptors:
    """The descriptors of one call; leaving the ``with`` statement destroys them, newest first.

    They describe memory and do not own it. They must live until phase 2 has returned.
    Drives ``aclCreateTensor``, ``aclCreateIntArray``, ``aclCreateBoolArray`` and their destroyers.
    """

    def __init__(self) -> None:
        self._made: list[tuple[str, Pointer]] = []
        self._texts: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        while self._made:
            destroyer, pointer = self._made.pop()
            cleanup(destroyer, pointer)
            count_live("descriptor", -1)

    def add(self, name: str, argument: Argument) -> object:
        """Make what the C function takes for an argument.

        Args:
            name: The C name of the parameter, for error messages.
            argument: The argument.

        Returns:
            A pointer, or the number itself.
        """
        if argument is None:
            self._texts[name] = "NULL"
            return raw.NULL
        if isinstance(argument, DeviceArray):
            return self._tensor(name, argument)
        if isinstance(argument, IntArray):
            self._texts[name] = f"int array {argument.values}"
            values = raw.ffi.new("int64_t[]", argument.values)
            return self._keep("IntArray", values, len(argument.values))
        if isinstance(argument, BoolArray):
            self._texts[name] = f"bool array {argument.values}"
            flags = raw.ffi.new("_Bool[]", argument.values)
            return self._keep("BoolArray", flags, len(argument.values))
        self._texts[name] = repr(argument)
        return argument

    def describe(self) -> dict[str, str]:
        """Return the description of every argument added so far, by its C name."""
        return dict(self._texts)

    def _tensor(self, name: str, array: DeviceArray) -> Pointer:
        size = array.itemsize
        strides = [step // size for step in array.strides]
        offset = array.offset // size
        storage = (array.buffer.nbytes // size,)
        address = array.buffer.address
        self._texts[name] = (
            f"{array.dtype} tensor, shape {array.shape}, strides {tuple(strides)}, "
            f"offset {offset}, format ND, storage {storage}, at 0x{address:x} "
            f"on device {array.device.id}"
        )
        return self._keep(
            "Tensor",
            raw.ffi.new("int64_t[]", array.shape),
            array.ndim,
            acl_dtype(array.dtype),
            raw.ffi.new("int64_t[]", strides),
            offset,
            raw.ACL_FORMAT_ND,
            raw.ffi.new("int64_t[]", storage),
            len(storage),
            raw.pointer_to(address),
        )

    def _keep(self, kind: str, *arguments: object) -> Pointer:
        pointer = create(f"aclCreate{kind}", *arguments)
        count_live("descriptor", +1)
        self._made.append((f"aclDestroy{kind}", pointer))
        return pointer
