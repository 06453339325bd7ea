# SPDX-License-Identifier: Apache-2.0
"""Sync points of streams, as numbers of submissions."""

from __future__ import annotations

__all__ = ["SyncPoint"]


class SyncPoint(int):
    """A position in a stream's work: the submission up to which all are queued.

    Attributes:
        last: The latest submission of all.
        holes: Submissions before it that other threads had begun and not queued yet.
    """

    last: int
    holes: frozenset[int]

    @classmethod
    def of(cls, last: int, holes: frozenset[int]) -> SyncPoint:
        """Return the sync point of a stream whose submissions but ``holes`` are queued."""
        sync_point = cls(min(holes) - 1 if holes else last)
        sync_point.last, sync_point.holes = last, holes
        return sync_point
