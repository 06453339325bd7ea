# SPDX-License-Identifier: Apache-2.0
"""Mapping whose values are made on first use."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["OnDemand"]

Value = TypeVar("Value")


class OnDemand(MutableMapping[str, Value]):
    """Mapping from names to values, each of which is made when it is first looked up.

    Args:
        find: Makes the value of a name; returns None for a name without one.
        names: Returns all names, in their order.
    """

    def __init__(
        self, find: Callable[[str], Value | None], names: Callable[[], Iterable[str]]
    ) -> None:
        self._find, self._names = find, names
        self._values: dict[str, Value | None] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._values:
            self._values[name] = self._find(name)
        found = self._values[name]
        if found is None:
            raise KeyError(name)
        return found

    def __setitem__(self, name: str, value: Value) -> None:
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        self._values[name] = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return sum(1 for _ in self)
