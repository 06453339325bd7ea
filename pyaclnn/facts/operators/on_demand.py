# SPDX-License-Identifier: Apache-2.0
"""Values that are made when they are looked at, so that what is known of many costs little."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["MadeOnDemand"]

Value = TypeVar("Value")


class MadeOnDemand(MutableMapping[str, Value]):
    """Values by names that are known before; each is made when it is first asked for.

    Args:
        names: The names, in their order.
        make: Makes the value of a name.
    """

    def __init__(self, names: Iterable[str], make: Callable[[str], Value]) -> None:
        self._values: dict[str, Value | None] = dict.fromkeys(names)
        self._make = make

    def __getitem__(self, name: str) -> Value:
        found = self._values[name]
        if found is None:
            found = self._values[name] = self._make(name)
        return found

    def __setitem__(self, name: str, value: Value) -> None:
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
