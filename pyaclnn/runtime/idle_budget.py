# SPDX-License-Identifier: Apache-2.0
"""Idle-memory budget of a pool: how much freed memory it keeps for reuse.

A loop that repeats itself allocates nothing from CANN.
"""

from __future__ import annotations

from typing import Final

__all__ = ["IdleBudget"]

_LEAST: Final = 16 << 20
"""The smallest budget, in bytes."""

_REMEMBERED: Final = 256
"""The most sizes of released blocks that are remembered, to see when one is missed."""

_PART: Final = 8
"""The budget is updated when this part of it was allocated from CANN, and is as exact."""


class IdleBudget:
    """Budget of one pool, from the memory in use and the blocks missed after their release.

    It shrinks with allocations from CANN, not with time: a program that uses the same blocks
    again and again keeps them.

    Attributes:
        nbytes: The most bytes that may be idle.
    """

    __slots__ = ("_given_back", "_unseen", "nbytes")

    def __init__(self) -> None:
        self.nbytes = _LEAST
        self._given_back: dict[int, bool] = {}
        self._unseen = 0  # bytes allocated since the last update

    def ask(self, size: int) -> bool:
        """Record an allocation from CANN; return whether the budget has to be updated."""
        if self._given_back.pop(size, None):
            self.nbytes += size
        self._unseen += size
        return self._unseen >= self.nbytes // _PART

    def look(self, used: int) -> None:
        """Update the budget by the number of bytes in use."""
        self._unseen = 0
        # Half as fast as allocations come, so that missed blocks can outweigh it.
        sunk = self.nbytes - self.nbytes // (2 * _PART)
        self.nbytes = max(_LEAST, used + used // _PART, sunk)
        for size in list(self._given_back)[:-_REMEMBERED]:
            self._given_back.pop(size, None)

    def give_back(self, size: int) -> None:
        """Record that a block is released to CANN."""
        self._given_back[size] = True
