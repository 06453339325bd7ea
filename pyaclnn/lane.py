# SPDX-License-Identifier: Apache-2.0
"""What one stream still needs: the memory of work in flight, and its workspace.

Device memory must live until the stream has passed the work that uses it. A lane pins the resources
of each launch and unpins them when the stream is known to have passed.
"""

from __future__ import annotations

import collections
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyaclnn.handle import Handle, Resource

__all__ = ["Lane", "borrowed_lane", "forget_lane"]

_LONG: Final = 128
"""So many launches in flight make it worth asking the stream whether it has passed some."""


class Lane:
    """The work in flight on one stream, in the order of submission."""

    def __init__(self) -> None:
        # Re-entrant: unpinning may release memory, whose finalizers may come back here.
        self._lock = threading.RLock()
        self._flights: collections.deque[tuple[int, tuple[Resource, ...]]] = collections.deque()
        self._submitted = 0
        self._block: Resource | None = None
        self._block_bytes = 0
        self._ask_at = _LONG
        self.milestone: Handle | None = None
        """An event recorded some launches ago, whose passing says how far the stream has come."""

    @property
    def mark(self) -> int:
        """The number of the newest submission; everything up to it is passed by a wait now."""
        return self._submitted

    @property
    def busy(self) -> bool:
        """Whether anything is not known to have been passed."""
        return bool(self._flights)

    def add(self, resources: Iterable[Resource]) -> None:
        """Take over one pin of each resource, until the stream has passed what was submitted."""
        with self._lock:
            self._submitted += 1
            self._flights.append((self._submitted, tuple(resources)))

    def passed(self, mark: int) -> None:
        """Note that the stream has passed every submission up to ``mark``."""
        with self._lock:
            while self._flights and self._flights[0][0] <= mark:
                for resource in self._flights.popleft()[1]:
                    resource.unpin()
            self._ask_at = len(self._flights) + _LONG
            milestone = None if self._flights else self.milestone
            if milestone is not None:
                self.milestone = None
                milestone.close()

    def overdue(self) -> bool:
        """Tell, once every so many launches, that the stream should be asked what it passed."""
        with self._lock:
            if len(self._flights) < self._ask_at:
                return False
            self._ask_at = len(self._flights) + _LONG
            return True

    def workspace(self, nbytes: int, allocate: Callable[[int], Resource]) -> Resource:
        """Return the stream's workspace, pinned once for the caller.

        There is one block, reused in stream order and replaced by a larger one when needed; the
        old one is released when the stream has passed its last use.

        Args:
            nbytes: The least size in bytes, more than 0.
            allocate: Allocates a new block.

        Returns:
            The block.
        """
        with self._lock:
            if self._block is None or self._block_bytes < nbytes:
                grown = allocate(nbytes)
                self._drop_block()
                self._block, self._block_bytes = grown, nbytes
            self._block.pin()
            return self._block

    def retire(self) -> None:
        """Note that the stream has passed everything and is used no more."""
        self.passed(self.mark)
        with self._lock:
            self._drop_block()

    def _drop_block(self) -> None:
        block, self._block, self._block_bytes = self._block, None, 0
        if block is not None:
            block.let_go()


_borrowed: Final[dict[tuple[int, int], Lane]] = {}
_borrowed_lock: Final = threading.RLock()


def borrowed_lane(context: int, stream: int) -> Lane:
    """Return the lane of a stream that somebody else owns, the same for every borrower.

    Args:
        context: The address of the stream's context.
        stream: The stream's address; 0 for the default stream of the context.

    Returns:
        Its lane, which outlives the borrowers: only the stream's owner knows when it ends.
    """
    with _borrowed_lock:
        return _borrowed.setdefault((context, stream), Lane())


def forget_lane(context: int, stream: int) -> Lane:
    """Remove a lane from those of ``borrowed_lane`` and return it."""
    with _borrowed_lock:
        return _borrowed.pop((context, stream), None) or Lane()
