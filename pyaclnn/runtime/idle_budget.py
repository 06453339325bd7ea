# SPDX-License-Identifier: Apache-2.0
"""How much idle memory a pool needs: what lets a loop that repeats itself ask CANN for nothing."""

from __future__ import annotations

from typing import Final

__all__ = ["Need"]

_LEAST: Final = 16 << 20
"""So many bytes may be idle whatever is needed."""

_REMEMBERED: Final = 256
"""So many sizes that were given back are known, to see when one of them is missed."""

_PART: Final = 8
"""Need is looked at whenever CANN was asked for this part of it, and known to as much."""


class Need:
    """The need of one pool: what is in use at a time, and what is missed after it was given back.

    It sinks with what CANN is asked for, not with time: whoever goes on using the same blocks
    keeps them.

    Attributes:
        nbytes: So many bytes may be idle.
    """

    __slots__ = ("_given_back", "_unseen", "nbytes")

    def __init__(self) -> None:
        self.nbytes = _LEAST
        self._given_back: dict[int, bool] = {}
        self._unseen = 0  # bytes that CANN was asked for since need was looked at

    def ask(self, size: int) -> bool:
        """Note that CANN is asked for a block; return whether need has to be looked at."""
        if self._given_back.pop(size, None):
            self.nbytes += size
        self._unseen += size
        return self._unseen >= self.nbytes // _PART

    def look(self, used: int) -> None:
        """Note how many bytes are in use."""
        self._unseen = 0
        # Half as fast as CANN was asked, so that what is missed can outweigh it.
        sunk = self.nbytes - self.nbytes // (2 * _PART)
        self.nbytes = max(_LEAST, used + used // _PART, sunk)
        for size in list(self._given_back)[:-_REMEMBERED]:
            self._given_back.pop(size, None)

    def give_back(self, size: int) -> None:
        """Note that a block goes back to CANN."""
        self._given_back[size] = True
