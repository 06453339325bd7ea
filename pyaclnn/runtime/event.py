# SPDX-License-Identifier: Apache-2.0
"""A point in a stream's work that others can wait for, and whose time can be taken."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any, ClassVar

from pyaclnn.base.errors import ContextError, InvalidArgumentError, repr_of
from pyaclnn.base.locks import reentrant_lock
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.cann.waiting import never, wait_for
from pyaclnn.runtime.awaiting import awaited
from pyaclnn.runtime.context import give_back_in
from pyaclnn.runtime.device import Device, require_device
from pyaclnn.runtime.handle import Handle, Resource
from pyaclnn.runtime.progress import waiting
from pyaclnn.runtime.timeout import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["Event", "require_event"]


class Event(Handle):
    """A point in a stream, set by ``Stream.record``.

    Waiting for an event that was never recorded returns at once, on the host and on a stream: of
    CANN's constructors, ``aclrtCreateEventExWithFlag`` is the one that promises it. Its flags here
    allow waiting across streams (ACL_EVENT_SYNC) and taking the time (ACL_EVENT_TIME_LINE).

    Examples:
        >>> with pyaclnn.Stream() as stream, stream.record() as start:
        ...     y = pyaclnn.layer_norm(pyaclnn.ones((2, 4)), 4, stream=stream).out
        ...     with stream.record() as end:
        ...         end.synchronize()
        ...         start.elapsed_ms(end) >= 0
        True
    """

    _kind: ClassVar[str] = "event"

    def __init__(self, device: Device | None = None) -> None:
        """Create an event.

        Args:
            device: Where; the default device if None.

        Raises:
            InvalidArgumentError: ``device`` is no Device.
            OutOfMemoryError: CANN has no event left.
        """
        self._device = require_device("Event", device)
        owner, slot = self._device._held, raw.ffi.new("void **")
        destroy = functools.partial(_destroy, owner, slot)
        resource = Resource(self._kind, None, destroy, dependencies=(owner,))
        try:
            with self._device._active():
                flags = raw.ACL_EVENT_SYNC | raw.ACL_EVENT_TIME_LINE
                call("aclrtCreateEventExWithFlag", slot, flags)
            resource.adopt(slot[0])
            super().__init__(resource)
        except BaseException:
            resource.let_go()
            raise
        self._lock = reentrant_lock()
        self._was_recorded = False
        # Mark of the stream that the event completes; None while unknown.
        self._recorded: tuple[Timeline, int] | None = None

    @property
    def device(self) -> Device:
        """The device on which the event was created."""
        return self._device

    def is_done(self) -> bool:
        """Return whether the stream has passed the event; True if it was never recorded.

        Drives ``aclrtQueryEventStatus``.
        """
        recorded = self._recorded
        with self._device._active():
            status = fetch("aclrtQueryEventStatus", self.pointer, OUT)
        done = bool(status == raw.ACL_EVENT_RECORDED_STATUS_COMPLETE)
        if done:
            self._note_passed(recorded)
        return done

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait until the stream has passed the event; Ctrl-C ends the wait, and not the work.

        Drives ``aclrtSynchronizeEventWithTimeout``, or ``aclrtSynchronizeEvent`` without it.

        Args:
            timeout: Seconds; None to wait as long as it takes.

        Raises:
            ContextError: A host function waits for an event behind it on its own stream.
            DeadlineError: The time is over; the work goes on.
        """
        self._finish(milliseconds(timeout, "Event.synchronize"))

    def __await__(self) -> Generator[Any, None, None]:
        """Wait as ``synchronize`` does, in a thread, while the event loop goes on.

        Cancelling ends the wait, and not the work.
        """
        return awaited(self._held, lambda given_up: self._finish(-1, given_up)).__await__()

    def _finish(self, limit: int, given_up: Callable[[], bool] = never) -> None:
        recorded = self._recorded
        awaited = [] if recorded is None else [recorded]

        def note(*_: object) -> None:
            self._note_passed(recorded)

        with self._device._active(), waiting("Event.synchronize", awaited, note):
            wait_for("aclrtSynchronizeEvent", self.pointer, limit=limit, given_up=given_up)

    def elapsed_ms(self, end: Event) -> float:
        """Return the time on the device from this event to a later one, in milliseconds.

        Drives ``aclrtEventElapsedTime``.

        Args:
            end: The later event; both must have been recorded and passed.

        Raises:
            ContextError: One of the two was never recorded.
            InvalidArgumentError: One is not passed yet, or ``end`` came first or is no event.
        """
        require_event("Event.elapsed_ms", "end", end)
        for name, event in (("this event", self), ("'end'", end)):
            if not event._was_recorded:  # noqa: SLF001  # the same class
                message = (
                    f"Event.elapsed_ms(): {name} was never recorded.\n"
                    "Hint: record it with Stream.record() and synchronize first."
                )
                raise ContextError(message, routine="Event.elapsed_ms")
        with self._device._active():
            return float(fetch("aclrtEventElapsedTime", OUT, self.pointer, end.pointer))

    @contextlib.contextmanager
    def _recording(self, timeline: Timeline) -> Iterator[None]:
        """Record the event in a ``with`` statement; what had been queued before passes with it.

        Args:
            timeline: Timeline of the stream that records it.
        """
        with self._lock:
            # Taken before: what other threads queue meanwhile may come after the event.
            record = (timeline, timeline.sync_point)
            # Who waits while this goes on does not know for which of the two records.
            self._recorded = None
            yield
            self._was_recorded = True
            self._recorded = record

    def _note_passed(self, recorded: tuple[Timeline, int] | None) -> None:
        """Note what has passed after a wait, unless the event was recorded again meanwhile."""
        if recorded is not None and self._recorded is recorded:
            timeline, sync_point = recorded
            timeline.passed(sync_point)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "recorded" if self._was_recorded else "not recorded"
        return f"<Event on device {self._device.id}, {state}>"


def require_event(routine: str, argument: str, event: object) -> None:
    """Check an argument that must be an event.

    Args:
        routine: The operation, for the message.
        argument: The argument's name.
        event: The caller's argument.

    Raises:
        InvalidArgumentError: It is no event.
    """
    if not isinstance(event, Event):
        raise InvalidArgumentError.of(routine, argument, repr_of(event), "an Event")


def _destroy(owner: Resource, slot: Pointer, _: Pointer) -> None:
    give_back_in(owner, "aclrtDestroyEvent", slot)
