# SPDX-License-Identifier: Apache-2.0
"""Memory that queued work may use: device memory and pinned host memory.

A launch notes in the block itself, without going through Python, up to which submission of which
timeline the memory is needed. Giving memory back waits for those submissions and for nothing else.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyaclnn._binding import lib
from pyaclnn.cann import raw
from pyaclnn.runtime.finalizer_queue import FINALIZER_QUEUE
from pyaclnn.runtime.handle import Resource
from pyaclnn.runtime.timelines import timeline_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["Memory", "Span", "Use"]

_USE: Final = struct.Struct("@7Q")
"""A ``struct binding_use``."""


class Use(NamedTuple):
    """Use of memory by the queued work of a timeline."""

    timeline: Timeline
    submission: int
    """The last submission that uses it."""
    first: int
    """The first byte that is used."""
    end: int
    """The byte after the last one."""
    written: int
    """The last submission that writes there; 0 if none does."""
    first_written: int
    """The first byte that is written."""
    end_written: int
    """The byte after the last one."""


class Span(NamedTuple):
    """Bytes of memory, from the first to before the end."""

    memory: Memory
    first: int
    end: int


class Memory(Resource):
    """Block of memory, released without references after each timeline has passed its last use.

    Attributes:
        block: C structure that the launchers read and write.
        nbytes: Its size.
        borrowed: True if it has another owner, so that several views of it may exist.
    """

    __slots__ = ("_overflow", "_taken", "block", "borrowed", "nbytes")

    def __init__(
        self,
        kind: str,
        pointer: Pointer | None,
        nbytes: int,
        release: Callable[[Pointer], None] | None = None,
        *,
        dependencies: tuple[object, ...] = (),
    ) -> None:
        """Take over ``pointer``; the arguments are those of a ``Resource``."""
        self.nbytes = nbytes
        self.borrowed = release is None and nbytes > 0
        self.block: Any = raw.ffi.new("struct binding_block *")
        self._overflow: list[Use] = []
        self._taken: list[Any] = []
        super().__init__(kind, pointer, release, dependencies=dependencies)
        self.block.address = raw.NULL if pointer is None else pointer
        self.block.open = 1

    def adopt(self, pointer: Pointer) -> None:
        """Stand for memory that was allocated just now."""
        self.block.address = pointer
        super().adopt(pointer)

    def uses(self) -> list[Use]:
        """List the last uses by timelines that have not passed them."""
        taken = [use for uses in self._taken for use in _noted(uses)]
        noted = [*self._overflow, *taken, *_noted(self.block.uses)]
        return [use for use in noted if not use.timeline.has_passed(use.submission)]

    def writers(self, first: int, end: int) -> list[Use]:
        """List the uses whose timelines have still to write some of a range of bytes.

        Args:
            first: The first byte, counted from the start of the memory.
            end: The byte after the last.
        """
        return [
            use
            for use in self.uses()
            if use.first_written < end
            and first < use.end_written
            and not use.timeline.is_complete(use.written)
        ]

    def users(self, first: int, end: int) -> list[Use]:
        """List the uses whose timelines have still to read or write some of a range of bytes.

        Args:
            first: The first byte, counted from the start of the memory.
            end: The byte after the last.
        """
        return [
            use
            for use in self.uses()
            if use.first < end and first < use.end and not use.timeline.is_complete(use.submission)
        ]

    def is_written_beside(self, timeline: Timeline) -> bool:
        """Return whether another timeline may still have to write here.

        Args:
            timeline: The timeline whose own writes do not count.
        """
        own = timeline.struct.id
        for number, _, _, _, written, _, _ in _USE.iter_unpack(raw.ffi.buffer(self.block.uses)):
            if written and number != own:
                writer = timeline_of(number)
                if writer is not None and not writer.is_complete(written):
                    return True
        return bool(self.block.shared)

    def make_room(self) -> None:
        """Free the block's notes for more timelines: forget what has passed, keep the rest here."""
        taken = raw.ffi.new("struct binding_use[4]")
        with FINALIZER_QUEUE.lock:
            # In this order nothing is lost, wherever it is interrupted.
            self.block.shared = 1
            self._taken.append(taken)
            lib.binding_block_take(self.block, taken)
            self._overflow = self.uses()
            self._taken.clear()
            self.block.shared = bool(self._overflow)

    def let_go(self) -> None:
        """Drop the reference to the memory; from now on no launch accepts it."""
        lib.binding_block_close(self.block)
        super().let_go()

    def _must_wait(self) -> bool:
        pending = next(iter(self.uses()), None)
        if pending is None:
            return False
        pending.timeline.wait_for(pending.submission, self)
        return True


def _noted(uses: Any) -> Iterator[Use]:
    for use in uses:
        timeline = timeline_of(use.timeline) if use.timeline else None
        if timeline is not None:
            used = timeline, use.submission, use.first, use.end
            yield Use(*used, use.written, use.first_written, use.end_written)
