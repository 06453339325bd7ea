# SPDX-License-Identifier: Apache-2.0
"""Exchange of arrays between the ranks of a group, in the expressions of their kernels.

A kernel is written for one rank. Where it exchanges, it waits for the kernels of the other ranks.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

Array = Any
Value = TypeVar("Value")


class GroupError(Exception):
    """Exchange of a kernel without a group, or with one that another rank has left."""


@dataclass
class Group:
    """A rank's view of its group; this one is of a trial, and its ranks all give the same.

    Attributes:
        ranks: The number of ranks.
        rank: The number of this one.
        in_trial: True if only shapes matter.
    """

    ranks: int
    rank: int = 0
    in_trial: bool = True

    def everyone(self, value: Value) -> list[Value]:
        """Return what every rank gives, in the order of the ranks."""
        return [value] * self.ranks


class _Here(threading.local):
    group: Group | None = None


_HERE = _Here()


@contextmanager
def within(group: Group | None) -> Iterator[None]:
    """Let the kernels of this thread exchange with a group.

    Args:
        group: The group, or None for no group.
    """
    before, _HERE.group = _HERE.group, group
    try:
        yield
    finally:
        _HERE.group = before


def own_group(ranks: int | None = None) -> Group:
    """The group of this rank.

    Args:
        ranks: The number of ranks that a caller states.

    Raises:
        GroupError: There is none.
        ValueError: It has another number of ranks.
    """
    if _HERE.group is None:
        raise GroupError("it exchanges data between devices, and its group has no communicator")
    if ranks not in (None, _HERE.group.ranks):
        raise ValueError(f"the world size is {ranks}; its group has {_HERE.group.ranks} ranks")
    return _HERE.group


def everyone(value: Value) -> list[Value]:
    """The values that the ranks give, in the order of the ranks."""
    return own_group().everyone(value)


def all_gather(x: Array) -> Array:
    """The rows of all ranks."""
    return np.concatenate(everyone(x))


def all_reduce(x: Array, operation: str = "sum") -> Array:
    """The sum over all ranks."""
    if operation not in ("", "sum", None):
        raise NotImplementedError(f"the reduction {operation} is not computed")
    first, *others = everyone(x)
    return sum(others, np.array(first))


def reduce_scatter(x: Array, operation: str = "sum") -> Array:
    """This rank's share of the rows of the sum over all ranks."""
    total, group = all_reduce(x, operation), own_group()
    if len(total) % group.ranks:
        raise ValueError(f"{len(total)} rows cannot be shared between {group.ranks} ranks")
    return np.split(total, group.ranks)[group.rank]


def all_to_all_v(parts: list[Array], counts: list[int]) -> list[Array]:
    """The rows that each rank sends to this one.

    Args:
        parts: The rows for each rank.
        counts: The number of rows that are expected of each.

    Raises:
        ValueError: A rank sends another number of rows.
    """
    group = own_group()
    if group.in_trial:
        return [np.zeros((count, *parts[0].shape[1:]), parts[0].dtype) for count in counts]
    received = [given[group.rank] for given in group.everyone(parts)]
    for rank, (rows, count) in enumerate(zip(received, counts, strict=True)):
        if len(rows) != count:
            raise ValueError(f"rank {rank} sends {len(rows)} rows; {count} are expected of it")
    return received
