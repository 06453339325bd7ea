# SPDX-License-Identifier: Apache-2.0
"""Slots of a plan: the places of its arrays, and the checks of other arrays for them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.calling.arrays import check_overlap
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.calling.arguments import Argument
    from pyaclnn.calling.call import Call
    from pyaclnn.runtime.layout import Layout

__all__ = ["PlanSlots"]

_pair: Final = struct.Struct("@QQ").pack


class _Slot(NamedTuple):
    """Place of one array.

    Attributes:
        number: The number of the array among those that C has.
        place: The number of the array among all arguments.
        layout: The layout that another array must have.
    """

    number: int
    place: int
    layout: Layout


class PlanSlots:
    """Slots of a plan by the names of their arguments.

    Args:
        call: The call of the plan.
        arguments: The arguments of the operator in C order.
    """

    def __init__(self, call: Call, arguments: Sequence[Argument]) -> None:
        self._call = call
        self._written = call.operator.written
        self._has_lists = any(kind in "TW" for kind in call.operator.kinds)
        self._by_name: dict[str, _Slot] = {}
        for place, argument in enumerate(arguments):
            if isinstance(argument, DeviceArray):
                slot = _Slot(len(self._by_name), place, argument._layout)
                self._by_name[call.interface.names[place]] = slot

    def readable(self) -> dict[str, tuple[int, int]]:
        """Return index and place of each array that is only read and whose meaning is free."""
        if self._call.interface.refuse_meaning:
            return {}
        return {
            name: (index, place)
            for name, (index, place, _) in self._by_name.items()
            if place not in self._written
        }

    def replaced(
        self, arguments: Sequence[Argument], arrays: Mapping[str, DeviceArray]
    ) -> list[Argument]:
        """Return the arguments with other arrays, which are not checked."""
        wanted = list(arguments)
        for name, array in arrays.items():
            wanted[self._by_name[name].place] = array
        return wanted

    def message(self, arrays: Mapping[str, DeviceArray]) -> bytes:
        """Return the message with which C exchanges arrays."""
        return b"".join([_pair(self._by_name[n].number, a._tensor_at) for n, a in arrays.items()])

    def exchanged(
        self, arguments: Sequence[Argument], arrays: Mapping[str, DeviceArray], tensors: Any
    ) -> list[Argument]:
        """Return the arguments with those of some arrays that C has already.

        Args:
            arguments: The arguments before.
            arrays: The arrays that C may have.
            tensors: The arrays that C has, by index.
        """
        has = list(arguments)
        for index, place, _ in self._by_name.values():
            for array in arrays.values():
                if tensors[index] == array._tensor:
                    has[place] = array
        return has

    def check(
        self, arguments: Sequence[Argument], arrays: Mapping[str, Any], *, keep_offset: bool
    ) -> list[Argument]:
        """Check arrays that replace others.

        Args:
            arguments: The arguments before.
            arrays: The arrays by name.
            keep_offset: True if an array must have the offset of the one that it replaces.

        Returns:
            All arguments.

        Raises:
            InvalidArgumentError: A name is unknown, a layout differs, or arrays overlap.
        """
        wanted = list(arguments)
        for name, array in arrays.items():
            if self._has_lists:
                operator = self._call.operator.name
                given = f"given to a plan of {operator}, which takes lists of arrays"
                expected = "left out: such a plan keeps the arrays it was made with"
                raise InvalidArgumentError.of("Plan.run", name, given, expected)
            if name not in self._by_name:
                expected = f"one of {', '.join(self._by_name)}"
                raise InvalidArgumentError.of("Plan.run", name, "no array of this plan", expected)
            _, place, layout = self._by_name[name]
            if not isinstance(array, DeviceArray) or array._layout is not layout or array.closed:
                self.refuse(arguments, name, array)
            if keep_offset and array.offset != wanted[place].offset:
                self.refuse(arguments, name, array)
            self._call.check_meaning(name, array)
            wanted[place] = array
        if arrays:
            found = {name: wanted[place] for name, (_, place, _) in self._by_name.items()}
            for name, (_, place, _) in self._by_name.items():
                if place in self._written:
                    check_overlap("Plan.run", name, found)
        return wanted

    def refuse(self, arguments: Sequence[Argument], name: str, array: object) -> NoReturn:
        """Refuse an array for a slot.

        Raises:
            InvalidArgumentError: Always.
        """
        bound = arguments[self._by_name[name].place]
        expected = f"an open array of layout and offset of the one in place: {bound!r}"
        raise InvalidArgumentError.of("Plan.run", name, repr_of(array), expected)

    def refuse_unnamed(self, array: object) -> NoReturn:
        """Refuse an argument without a name.

        Raises:
            InvalidArgumentError: Always.
        """
        names = ["stream"] if isinstance(array, Stream) else [*self._by_name, "stream"]
        given = f"{repr_of(array)}, without a name"
        expected = f"given by a name: {' or '.join(names)}"
        hint = f"write run({names[0]}=...), or run() for the arrays of before."
        raise InvalidArgumentError.of("Plan.run", "arrays", given, expected, hint)
