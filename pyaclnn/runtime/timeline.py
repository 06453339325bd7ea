# SPDX-License-Identifier: Apache-2.0
"""Progress of one stream, the memory of its work in flight, and its workspace.

Every submission to a stream is counted. Memory remembers the submissions that use it (see
:mod:`pyaclnn.runtime.memory`) and is given back only when its timelines have passed them.
"""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol

from pyaclnn._binding import lib
from pyaclnn.cann import raw
from pyaclnn.cann.gate import refuse_if_forked
from pyaclnn.runtime.finalizer_queue import FINALIZER_QUEUE
from pyaclnn.runtime.sync_point import SyncPoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.finalizer_queue import Due
    from pyaclnn.runtime.handle import Resource

__all__ = [
    "Block",
    "Retiring",
    "Timeline",
    "Wait",
    "WorkspaceStats",
]

_MANY: Final = 64
"""So many blocks waiting to be given back make it worth asking the stream how far it is."""


class Block(Protocol):
    """The memory of a workspace."""

    pointer: Pointer
    nbytes: int

    def let_go(self) -> None:
        """Release it once the stream has passed its last use."""


class Retiring(Protocol):
    """Something that ends with its timeline."""

    def _retire(self) -> None:
        """Let go of everything."""

    def trim(self) -> int:
        """Release what is not in use, and return how many bytes that were."""


class WorkspaceStats(NamedTuple):
    """The workspace of a stream, in bytes."""

    size: int
    """Bytes that it holds now."""
    grown: int
    """The number of times it grew."""
    cap: int | None
    """The most it may grow to; None without a limit."""


class Wait(NamedTuple):
    """A submission that waits for another stream."""

    submission: int
    timeline: Timeline
    """The other stream's."""
    sync_point: int
    """The sync point of that stream that has passed when the submission has."""


class Timeline:
    """The submissions to one stream.

    Attributes:
        struct: C structure that the launchers read and write.
        context: The address of the stream's context.
        borrowers: Users of a borrowed stream.
        crowded: True if so much memory waits that the stream should be asked how far it is.
        given_up: A wait for the stream was given up, by an interrupt or at a time limit. Who ends
            the stream does not wait for it again.
        pool: The cache of memory for results, once there is one.
        cap: The most bytes the workspace may grow to; None without a limit.
        known: Those of all streams that are there, by number.
    """

    known: ClassVar[weakref.WeakValueDictionary[int, Timeline]] = weakref.WeakValueDictionary()

    __slots__ = (
        "__weakref__",
        "_ahead",
        "_fixed",
        "_grown",
        "_internal_events",
        "_passed",
        "_waiting",
        "_waits",
        "_workspaces",
        "borrowers",
        "cap",
        "context",
        "crowded",
        "given_up",
        "pool",
        "struct",
    )

    def __init__(self, context: Pointer, stream: Pointer) -> None:
        """Count the submissions to a stream of a context.

        Raises:
            ContextError: This process was forked from one that had initialised CANN.
        """
        refuse_if_forked("Stream")
        self.struct: Any = raw.ffi.new("struct binding_timeline *")
        self.struct.context = context
        self.struct.stream = stream
        lib.binding_timeline_open(self.struct)
        self.context = raw.address_of(context)
        self.crowded = self.given_up = False
        self._internal_events: list[Resource] = []
        self.borrowers: set[object] = set()
        self.pool: Retiring | None = None
        self.cap: int | None = None
        self._passed = 0
        self._ahead: SyncPoint | None = None
        self._waits: list[Wait] = []
        self._waiting: list[tuple[int, Due]] = []
        # C has the last of them; it never has one that is not here.
        self._workspaces: list[Block] = []
        self._fixed = False
        self._grown = 0
        self.known[self.struct.id] = self

    @property
    def sync_point(self) -> SyncPoint:
        """The present end of the stream; a wait that begins now passes it."""
        numbers, count = raw.ffi.new("uint64_t[64]"), raw.ffi.new("size_t *", 64)
        last = int(lib.binding_timeline_mark(self.struct, numbers, count))
        return SyncPoint.of(last, frozenset(numbers[0 : count[0]]))

    @property
    def submitted(self) -> int:
        """The number of the last submission."""
        return int(self.struct.submitted)

    @property
    def busy(self) -> bool:
        """True if anything is not known to have been passed."""
        return bool(self.struct.submitted > self._passed)

    def has_passed(self, submission: int) -> bool:
        """Return whether the stream is known to have passed all up to a submission."""
        return submission <= self._passed

    def is_complete(self, submission: int) -> bool:
        """Return whether the stream is known to have passed a submission, not all before it."""
        known = self._ahead
        return submission <= self._passed or (
            known is not None and submission <= known.last and submission not in known.holes
        )

    def passed(self, sync_point: int) -> None:
        """Record that the stream has passed every submission up to ``sync_point``.

        The submissions of other streams that these waited for have passed as well.
        """
        with FINALIZER_QUEUE.lock:
            passed = self._note_passed(sync_point)
            # No recursion: streams may wait for each other in long chains.
            while passed:
                timeline, number = passed.pop()
                passed += timeline._note_passed(number)  # noqa: SLF001  # the same class
        FINALIZER_QUEUE.settle()

    def _note_passed(self, sync_point: int) -> list[tuple[Timeline, int]]:
        """Record it under the queue's lock, and return what other streams have passed with it."""
        self._passed = max(self._passed, int(sync_point))
        if isinstance(sync_point, SyncPoint) and (
            self._ahead is None or sync_point.last >= self._ahead.last
        ):
            self._ahead = sync_point
        lib.binding_timeline_pass(self.struct, self._passed)
        self.crowded = False
        if self._waiting:
            FINALIZER_QUEUE.note(*[item for at, item in self._waiting if self.has_passed(at)])
            self._waiting = [entry for entry in self._waiting if not self.has_passed(entry[0])]
        if not self._waits:
            return []
        over = [wait for wait in self._waits if self.is_complete(wait.submission)]
        self._waits = [wait for wait in self._waits if not self.is_complete(wait.submission)]
        return [(wait.timeline, wait.sync_point) for wait in over]

    def follows(self, submission: int, timeline: Timeline, sync_point: int) -> None:
        """Note that a submission here waits until another timeline has passed a sync point."""
        with FINALIZER_QUEUE.lock:
            if not timeline.has_passed(sync_point):
                self._waits = [*self._waits[-_MANY:], Wait(submission, timeline, sync_point)]

    def wait_for(self, submission: int, item: Due) -> None:
        """Have ``item`` dealt with when the stream is known to have passed a submission."""
        with FINALIZER_QUEUE.lock:
            if not self.has_passed(submission):
                self._waiting.append((submission, item))
                if not len(self._waiting) % _MANY:
                    self.crowded = True
                return
        FINALIZER_QUEUE.due(item)

    def grow(self, nbytes: int, allocate: Callable[[int], Block]) -> None:
        """Replace the workspace by a larger one; the old one goes when its last use has passed.

        Args:
            nbytes: The least size in bytes.
            allocate: Allocates a block, which must have room for ``nbytes``.

        Raises:
            MemoryError: The cap, or the caller's own buffer, is smaller.
        """
        if not self._may_grow(nbytes):
            return
        # Without the lock: allocating may trim other streams, which others may be growing.
        block = allocate(nbytes)
        with FINALIZER_QUEUE.lock:
            still_wanted = not self._fixed and self.struct.capacity < nbytes
            if still_wanted:
                self._replace(block)
                self._grown += 1
        FINALIZER_QUEUE.settle()
        if not still_wanted:  # another thread was faster
            block.let_go()

    def _may_grow(self, nbytes: int) -> bool:
        with FINALIZER_QUEUE.lock:
            if self.struct.capacity >= nbytes:
                return False
            if self._fixed or (self.cap is not None and nbytes > self.cap):
                limit = self.struct.capacity if self._fixed else self.cap
                raise MemoryError(f"the operator needs a workspace of {nbytes} bytes, not {limit}")
            return True

    def use_workspace(self, block: Block | None) -> None:
        """Use a block of the caller as the workspace, and no other; None to go back to our own."""
        with FINALIZER_QUEUE.lock:
            self._fixed = block is not None
            self._replace(block)
        FINALIZER_QUEUE.settle()

    def trim(self) -> None:
        """Release the workspace; the next operator that needs one allocates it again."""
        with FINALIZER_QUEUE.lock:
            if not self._fixed:
                self._replace(None)
        FINALIZER_QUEUE.settle()

    def stats(self) -> WorkspaceStats:
        """Describe the workspace."""
        return WorkspaceStats(int(self.struct.capacity), self._grown, self.cap)

    def retire(self) -> None:
        """Note that the stream has passed everything and is used no more."""
        with FINALIZER_QUEUE.lock:
            self._fixed = False
            self._replace(None)
            internal_events, self._internal_events = self._internal_events, []
        if self.pool is not None:
            self.pool._retire()
        self.passed(self.submitted)
        for internal_event in internal_events:
            internal_event.let_go()

    def take_internal_event(self) -> Resource | None:
        """Take the event whose passing says how far the stream has come; None if there is none."""
        try:
            return self._internal_events.pop()
        except IndexError:
            return None

    def put_internal_event(self, internal_event: Resource) -> None:
        """Request an event from the next query of the stream's progress."""
        self._internal_events.append(internal_event)

    def orphan(self) -> None:
        """Belong to a stream of another process: nothing recognises this timeline as its own."""
        # No context is there. The slow path reports why; all others check first.
        self.context = 0
        self.crowded = True

    def _replace(self, block: Block | None) -> None:
        """Have C use another block, under the queue's lock; the queue is to be settled after."""
        if block is not None:
            self._workspaces.append(block)
        address, nbytes = (raw.NULL, 0) if block is None else (block.pointer, block.nbytes)
        # Whatever was submitted so far may use the old one.
        last = int(lib.binding_timeline_replace(self.struct, address, nbytes))
        # After an interrupted exchange there may be one too many.
        outdated = [old for old in self._workspaces if old is not block]
        FINALIZER_QUEUE.note(*[_Outdated(old, self, last) for old in outdated])
        self._workspaces = [] if block is None else [block]


class _Outdated:
    """An old workspace, kept until its timeline has passed what was submitted before."""

    __slots__ = ("_block", "_submission", "_timeline")

    def __init__(self, block: Block, timeline: Timeline, submission: int) -> None:
        self._block = block
        self._timeline = timeline
        self._submission = submission

    def proceed(self) -> None:
        if self._timeline.has_passed(self._submission):
            self._block.let_go()
        else:
            self._timeline.wait_for(self._submission, self)


def _after_fork() -> None:
    for timeline in list(Timeline.known.values()):
        timeline.orphan()


os.register_at_fork(after_in_child=_after_fork)
