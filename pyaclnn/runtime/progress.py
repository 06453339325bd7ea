# SPDX-License-Identifier: Apache-2.0
"""Progress of streams, by queries, events and waits."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import AclError, DeadlineError
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, fetch, silence
from pyaclnn.cann.status import code_named
from pyaclnn.cann.waiting import never, wait_for
from pyaclnn.runtime.context import Activation, is_gone
from pyaclnn.runtime.handle import is_exiting
from pyaclnn.runtime.internal_event import InternalEvent
from pyaclnn.runtime.own_stream import is_own, refuse_own
from pyaclnn.runtime.timeline import Timeline
from pyaclnn.runtime.timelines import forget_timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.handle import Resource

__all__ = [
    "ask_those_left",
    "end_work",
    "finish",
    "finished",
    "is_complete",
    "leave_stream",
    "note_progress",
    "waiting",
    "was_left_after",
]


def note_progress(timeline: Timeline, owner: Resource) -> None:
    """Query the progress of a stream, so that memory can be released.

    Args:
        timeline: The stream's.
        owner: The resource of its device.
    """
    # The event is taken by one thread; another thread creates its own.
    internal_event = timeline.take_internal_event()
    if not isinstance(internal_event, InternalEvent):
        internal_event = InternalEvent(owner)
        internal_event.record(timeline)
    elif internal_event.is_complete():
        internal_event.record(timeline)
    timeline.put_internal_event(internal_event)


def is_complete(timeline: Timeline, stream: Pointer) -> bool:
    """Return whether everything queued on a stream so far has run. Drives ``aclrtStreamQuery``.

    Args:
        timeline: The stream's.
        stream: The stream.

    Raises:
        KernelError: Work that had been queued failed.
    """
    sync_point = timeline.sync_point
    with Activation(timeline.struct.context):
        status = fetch("aclrtStreamQuery", stream, OUT)
    done = bool(status == raw.ACL_STREAM_STATUS_COMPLETE)
    if done:
        timeline.passed(sync_point)
    return done


class waiting:  # noqa: N801  # read as a word of the with statement
    """Waits for points of streams in a ``with`` statement, and records how that ends.

    Args:
        routine: The public function, for the message.
        awaited: The timeline and the sync point of each stream.
        note: Records for each that it has passed.

    Raises:
        ContextError: A host function waits for its own stream.
    """

    __slots__ = ("_note", "_points")

    def __init__(
        self,
        routine: str,
        awaited: Iterable[tuple[Timeline, int]],
        note: Callable[[Timeline, int], None] = Timeline.passed,
    ) -> None:
        self._points = list(awaited)
        self._note = note
        for timeline, sync_point in self._points:
            refuse_own(routine, timeline, sync_point)

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *_: object
    ) -> None:
        if kind is None:
            _pass(self._points, self._note)
        elif not isinstance(error, AclError) or isinstance(error, DeadlineError):
            _give_up(self._points)  # a time limit, or a signal handler that has raised
        # Nothing runs on a device that is gone. No other failure says that the work is over.
        elif error.code == code_named("ACL_ERROR_RT_LOST_HEARTBEAT"):
            _pass(self._points, self._note)


def _pass(points: list[tuple[Timeline, int]], note: Callable[[Timeline, int], None]) -> None:
    for timeline, sync_point in points:
        timeline.given_up = False
        note(timeline, sync_point)


def _give_up(points: list[tuple[Timeline, int]]) -> None:
    for timeline, _ in points:
        timeline.given_up = True


def finish(
    timeline: Timeline, stream: Pointer, limit: int, given_up: Callable[[], bool] = never
) -> None:
    """Wait until everything queued on a stream so far has run. Drives ``aclrtSynchronizeStream``.

    Args:
        timeline: The stream's, whose context is current.
        stream: The stream.
        limit: Milliseconds; -1 to wait as long as it takes.
        given_up: Returns whether the wait has been abandoned.

    Raises:
        ContextError: A host function of the stream waits for it.
        DeadlineError: The time is over; the work goes on.
        KernelError: Work that had been queued failed.
        DeviceLostError: The device no longer answers.
    """
    with waiting("synchronize", [(timeline, timeline.sync_point)]):
        wait_for("aclrtSynchronizeStream", stream, limit=limit, given_up=given_up)


class finished:  # noqa: N801  # read as a word of the with statement
    """Context that waits at its end for the work queued in it, also where that fails.

    Raises what the work, or the wait, raises.
    """

    __slots__ = ("_before", "_timeline")

    def __init__(self, timeline: Timeline) -> None:
        """Begin on a stream, the context of whose device is current."""
        self._timeline = timeline
        self._before = timeline.submitted

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._finish()
        # Something may have been queued before the failure; leave nothing behind.
        elif issubclass(kind, AclError) and self._timeline.submitted != self._before:
            with contextlib.suppress(AclError):
                self._finish()

    def _finish(self) -> None:
        finish(self._timeline, self._timeline.struct.stream, -1)


_MOMENT: Final = 100
"""Milliseconds to wait for work that was given up before."""
_GRACE: Final = 500
"""Milliseconds for which the end of the interpreter waits for work that was given up before."""


def end_work(timeline: Timeline, stream: Pointer) -> bool:
    """Wait for the work of a stream before it, or its device, is released.

    Work that was given up before is not waited for again. At the end of the interpreter, Ctrl-C
    gives up, and what was given up is dropped: nothing more is released then.

    Args:
        timeline: The stream's.
        stream: The stream.

    Returns:
        True if the stream is at its end; if not, it is to be asked again later.

    Raises:
        KernelError: The work failed.
    """
    interrupted = is_exiting() and _was_interrupted()
    # After Ctrl-C, work that others have queued (HCCL's is not counted) is not waited for either.
    if silence.finalised or not (timeline.busy or interrupted):
        return True
    if is_own(timeline):
        return False
    given_up = timeline.given_up or interrupted
    limit = -1 if not given_up else _GRACE if is_exiting() else _MOMENT
    try:
        with Activation(timeline.struct.context):
            finish(timeline, stream, limit)
    except DeadlineError:
        if not is_exiting():
            return False
        _drop(stream)
    except KeyboardInterrupt:
        if not is_exiting():
            raise
        _drop(stream)
    return True


def _was_interrupted() -> bool:
    """Return whether Ctrl-C has ended the program."""
    return getattr(sys, "last_type", None) is KeyboardInterrupt


def _drop(stream: Pointer) -> None:
    """Leave CANN to the end of the process, at the end of the interpreter."""
    silence.finalised = True
    name = f"stream 0x{raw.address_of(stream):x}" if stream else "the default stream"
    if sys.stderr is not None:
        sys.stderr.write(f"pyaclnn: the program ended without waiting for the work on {name}\n")


_left: Final[list[InternalEvent]] = []
"""Events at the ends of borrowed streams that were closed with work in flight."""


def leave_stream(timeline: Timeline, owner: Resource, borrower: object = None) -> None:
    """Return a borrowed stream, which may have work in flight.

    What nobody uses is given back when the last borrower has left; what is used still, when that
    is over.

    Args:
        timeline: The stream's.
        owner: The resource of its device.
        borrower: Who leaves, as ``timeline.borrowers`` knows it.
    """
    timeline.borrowers.discard(borrower)
    if timeline.borrowers:
        return
    # The default stream of a device that this library has opened ends with the device.
    ends_later = owner.owned and not timeline.struct.stream
    if not ends_later:
        forget_timeline(timeline.struct.context, timeline.struct.stream)
    if is_gone(owner):
        timeline.retire()
        return
    if timeline.pool is not None:
        timeline.pool._retire()
    timeline.use_workspace(None)
    while (internal_event := timeline.take_internal_event()) is not None:
        internal_event.let_go()
    if timeline.busy and not ends_later:
        # Nobody will ask this stream again: an event is what can be asked when it is gone.
        with contextlib.suppress(AclError):
            last = InternalEvent(owner)
            last.record(timeline)
            _left.append(last)


def ask_those_left() -> None:
    """Query streams without borrowers for their progress, so that memory can be released."""
    for internal_event in _left.copy():
        # Another thread may be asking too.
        with contextlib.suppress(AclError, ValueError):
            if internal_event.is_complete():
                internal_event.let_go()
                _left.remove(internal_event)


def was_left_after(timeline: Timeline, submission: int) -> bool:
    """Return whether an event shows that a submission has run, whose stream may be destroyed."""
    left = [internal_event.recorded for internal_event in _left.copy()]
    return any(known and known[0] is timeline and known[1] >= submission for known in left)
