# SPDX-License-Identifier: Apache-2.0
"""Points in the work of a stream, in numbers of submissions."""

from __future__ import annotations

__all__ = ["Mark"]


class Mark(int):
    """A point in a stream's work: a submission up to which all are queued, and those after it.

    Attributes:
        last: The latest submission of all.
        holes: Those up to there that were not queued yet, because other threads were at it.
    """

    last: int
    holes: frozenset[int]

    @classmethod
    def of(cls, last: int, holes: frozenset[int]) -> Mark:
        """Make the mark of a stream whose submissions are queued up to the last, but for some."""
        mark = cls(min(holes) - 1 if holes else last)
        mark.last, mark.holes = last, holes
        return mark
