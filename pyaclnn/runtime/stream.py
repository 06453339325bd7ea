# SPDX-License-Identifier: Apache-2.0
"""A queue of work on a device: created here, borrowed from a host application, or the default."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.cann import raw
from pyaclnn.cann.gate import call, refuse_if_forked
from pyaclnn.cann.waiting import never
from pyaclnn.runtime.awaiting import awaited
from pyaclnn.runtime.device import Device, require_device
from pyaclnn.runtime.event import Event, require_event
from pyaclnn.runtime.foreign import shared_stream, stream_pointer
from pyaclnn.runtime.handle import Handle, Resource
from pyaclnn.runtime.host_function import launch_function
from pyaclnn.runtime.own_stream import refuse_own
from pyaclnn.runtime.owned_stream import OwnedStream
from pyaclnn.runtime.pool import Pool, pool_of
from pyaclnn.runtime.progress import (
    ask_those_left,
    finish,
    is_complete,
    leave_stream,
    note_progress,
)
from pyaclnn.runtime.submission import Submission
from pyaclnn.runtime.timeline import Timeline
from pyaclnn.runtime.timelines import borrowed_timeline
from pyaclnn.runtime.timeout import milliseconds
from pyaclnn.runtime.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from concurrent.futures import Future

    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.foreign import SharedStream, StreamLike
    from pyaclnn.runtime.memory import Span

__all__ = ["Stream", "catch_up", "require_stream"]

_T = TypeVar("_T")


class Stream(Handle):
    """A queue of work on one device; work of one stream runs in the order of submission.

    ``Stream()`` creates one, and closing it waits for its work. ``Stream.borrow`` uses one of the
    host application and never destroys it. ``Stream.default`` is the one used when none is named.
    Drives ``aclrtCreateStream`` and ``aclrtDestroyStream``.

    Examples:
        >>> x = pyaclnn.ones((2, 4))
        >>> with pyaclnn.Stream() as stream:
        ...     y = pyaclnn.layer_norm(x, 4, stream=stream).out  # queued
        ...     stream.synchronize()
        >>> y.numpy()[0].tolist()
        [0.0, 0.0, 0.0, 0.0]
    """

    _kind: ClassVar[str] = "stream"
    _current: Timeline | None
    """The timeline, or None once the stream is closed: what every launch looks at first."""
    _lender: object = None
    """The object of another library whose stream it is."""

    def __init__(
        self, device: Device | None = None, *, handle: int | Pointer | None = None
    ) -> None:
        """Create a stream, or use one of another owner, like ``Stream.borrow``.

        Args:
            device: Where; the default device if None.
            handle: The ``aclrtStream`` to borrow; a new stream is created if None.

        Raises:
            OutOfMemoryError: CANN has no stream left.
            ContextError: This process was forked from one that had initialised CANN.
        """
        refuse_if_forked("Stream")
        self._device = require_device("Stream", device)
        owner = self._device._held
        if handle is not None:
            pointer = stream_pointer(handle)
            self._timeline = borrowed_timeline(owner.pointer, pointer)
            # A borrower keeps no unused memory: the end of the stream is not reported.
            ask_those_left()
            borrower = object()
            left = functools.partial(leave_stream, self._timeline, owner, borrower)
            resource = Resource(self._kind, pointer, unwanted=left if pointer else None)
            if pointer:
                self._timeline.borrowers.add(borrower)
            super().__init__(resource)
            self._current = self._timeline
            return
        slot, timelines = raw.ffi.new("void **"), list[Timeline]()
        resource = OwnedStream(owner, slot, timelines)
        try:
            with self._device._active():
                call("aclrtCreateStream", slot)
            timelines.append(Timeline(owner.pointer, slot[0]))
            self._timeline = timelines[0]
            resource.adopt(slot[0])
            super().__init__(resource)
        except BaseException:
            resource.let_go()
            raise
        self._current = self._timeline

    def close(self) -> None:
        """Wait for the stream's work and destroy it; see :meth:`Handle.close`.

        Raises:
            ContextError: A host function of the stream closes it.
        """
        if not self.closed:
            refuse_own("Stream.close", self._timeline)
            self._timeline.given_up = False
        self._close()

    def _close(self) -> None:
        self._current = None
        super().close()

    def _close_after_failure(self) -> None:
        self._close()  # what was given up is not waited for

    def _give_up(self) -> None:
        self._timeline.given_up = True

    @classmethod
    def borrow(cls, handle: int | Pointer | StreamLike, device: Device | None = None) -> Stream:
        """Use a stream of another owner; it is never destroyed here.

        Memory of the work queued here is kept until this library learns that the stream has
        passed it: by ``synchronize`` or ``is_done`` of this object, an event recorded by it, or a
        question to the stream that is asked once in many launches.

        Args:
            handle: The ``aclrtStream``, as an address or a C pointer; 0 for the default stream. Or
                a stream of another library, which is kept as long as this object: what has
                ``__acl_stream__``, and PyTorch's.
            device: The device whose context the stream belongs to; the default device, which is
                the one current on this thread, if None.

        Returns:
            A stream whose ``close`` only closes this object.

        Raises:
            InvalidArgumentError: ``handle`` is none of these, or of another device.
        """
        shared = shared_stream("Stream.borrow", handle)
        if shared is None:
            return cls(device, handle=stream_pointer(handle))
        return cls._lent(shared, handle, device)

    @classmethod
    def _lent(cls, shared: SharedStream, lender: object, device: Device | None) -> Stream:
        """Borrow a stream of another library that has said which it is."""
        place = require_device("Stream.borrow", device)
        if shared.device_id not in (None, place.id):
            given, wanted = f"of device {shared.device_id}", f"of device {place.id}"
            raise InvalidArgumentError.of("Stream.borrow", "handle", given, wanted)
        borrowed = cls(place, handle=stream_pointer(shared.handle))
        borrowed._lender = lender
        return borrowed

    @classmethod
    def default(cls, device: Device | None = None) -> Stream:
        """Return the default stream of a device's context, which CANN writes as NULL.

        Args:
            device: Which; the default device if None.
        """
        return cls(device, handle=raw.NULL)

    @property
    def device(self) -> Device:
        """The device to which the stream belongs."""
        return self._device

    @property
    def pool(self) -> Pool:
        """The cache of device memory for results and temporaries of this stream."""
        return pool_of(self._timeline)

    @property
    def workspace(self) -> Workspace:
        """The memory that operators on this stream use while they run."""
        return Workspace(self._timeline, self._device)

    @contextlib.contextmanager
    def _using(self, *spans: Span, writes: bool = False) -> Iterator[None]:
        """Submit work in a ``with`` statement; its memory lives until the stream has passed it.

        The stream's context is current inside. If submitting fails, part of the work may have been
        queued before, so the memory is kept as well.

        Args:
            *spans: The bytes that the work uses.
            writes: Whether it writes the first of them.

        Raises:
            ContextError: Memory was given back already.
            KernelError: Earlier work on the stream failed; this call detected it.
        """
        catch_up(self)
        submission = Submission(self._timeline)
        submission.begin_on(*spans, writes=writes)
        try:
            with self._device._active():
                yield
        finally:
            submission.end()

    def launch_host_func(self, function: Callable[..., _T], *arguments: Any) -> Future[_T]:
        """Have a Python function called when the stream comes there; the stream waits for it.

        It is called in another thread. It must not wait for this stream, which waits for it: what
        would wait raises a ContextError in the function.
        Drives ``aclrtLaunchCallback``, and ``aclrtSubscribeReport`` and ``aclrtProcessReport`` in
        a thread that ends when there is nothing more to call.

        Args:
            function: The function.
            *arguments: Arguments of the function.

        Returns:
            Its result, or its exception, once it was called: ``result()`` waits for that, and
            ``asyncio.wrap_future`` makes it something to await. Cancelled, it is not called.

        Raises:
            InvalidArgumentError: It cannot be called.
            AclError: CANN does not take it.
        """
        if not callable(function):
            given, wanted = repr_of(function), "something to be called"
            raise InvalidArgumentError.of("Stream.launch_host_func", "function", given, wanted)
        with self._using():
            return launch_function(self._timeline, functools.partial(function, *arguments))

    def __acl_stream__(self) -> tuple[int, int]:
        """Return what other libraries know the stream by: 0, and its address."""
        return 0, raw.address_of(self.pointer)

    def is_done(self) -> bool:
        """Return whether everything queued so far has run. Drives ``aclrtStreamQuery``.

        Raises:
            KernelError: Work that had been queued failed.
        """
        return is_complete(self._timeline, self.pointer)

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait until everything queued so far has run; Ctrl-C ends the wait, and not the work.

        Drives ``aclrtSynchronizeStreamWithTimeout``, or ``aclrtSynchronizeStream`` without it.

        Args:
            timeout: Seconds; None to wait as long as it takes.

        Raises:
            ContextError: A host function of the stream waits for it.
            DeadlineError: The time is over; the work goes on.
            KernelError: Work that had been queued failed.
            DeviceLostError: The device no longer answers.
        """
        limit = milliseconds(timeout, "Stream.synchronize")
        with self._device._active():
            self._finish(limit)

    def __await__(self) -> Generator[Any, None, None]:
        """Wait as ``synchronize`` does, in a thread, while the event loop goes on.

        Cancelling ends the wait, and not the work.
        """

        def wait(given_up: Callable[[], bool]) -> None:
            with self._device._active():
                self._finish(given_up=given_up)

        return awaited(self._held, wait).__await__()

    def _finish(self, limit: int = -1, given_up: Callable[[], bool] = never) -> None:
        """Do what ``synchronize`` does, with the device's context current; in milliseconds."""
        finish(self._timeline, self.pointer, limit, given_up)

    def wait(self, event: Event) -> None:
        """Let work queued from now on wait for an event. Drives ``aclrtStreamWaitEvent``.

        Args:
            event: The event; one that was never recorded is not waited for.

        Raises:
            InvalidArgumentError: It is no event.
        """
        require_event("Stream.wait", "event", event)
        recorded = event._recorded
        # Counted like work: who has passed it knows that the event was passed.
        submission = Submission(self._timeline)
        submission.begin()
        number = self._timeline.submitted
        try:
            with self._device._active():
                call("aclrtStreamWaitEvent", self.pointer, event.pointer)
        finally:
            submission.end()
        if recorded is not None:
            self._timeline.follows(number, *recorded)

    def record(self, event: Event | None = None) -> Event:
        """Mark the present end of the stream. Drives ``aclrtRecordEvent``.

        Args:
            event: The event to record; a new one, to be closed by the caller, if None.

        Returns:
            The event.

        Raises:
            InvalidArgumentError: It is no event.
        """
        if event is not None:
            require_event("Stream.record", "event", event)
        marked = event if event is not None else Event(self._device)
        try:
            with self._device._active(), marked._recording(self._timeline):
                call("aclrtRecordEvent", marked.pointer, self.pointer)
        except BaseException:
            if event is None:
                marked.close()
            raise
        return marked

    def __repr__(self) -> str:
        if self.closed:
            return f"<Stream on device {self._device.id}, closed>"
        state = "owned" if self.owned else "borrowed"
        return f"<Stream 0x{raw.address_of(self.pointer):x} on device {self._device.id}, {state}>"


def catch_up(stream: Stream) -> None:
    """Query the progress of a stream if much memory depends on it; never waits."""
    if stream._timeline.crowded:
        stream._timeline.crowded = False
        note_progress(stream._timeline, stream.device._held)


def require_stream(routine: str, stream: StreamLike | None, device: Device | None) -> Stream:
    """Check the ``stream`` argument of an operation.

    Args:
        routine: The operation, for the message.
        stream: The caller's argument; None for the default stream. One of another library is
            borrowed for the operation.
        device: Where the operation's memory lies; None for any device.

    Returns:
        The stream to use.

    Raises:
        InvalidArgumentError: It is not an open stream of that device.
        ContextError: This process was forked from one that had initialised CANN.
    """
    refuse_if_forked(routine)
    if stream is None:
        return Stream.default(device)
    where = f" of device {device.id}, where the arrays are" if device is not None else ""
    expected = f"an open Stream{where}, or None"
    if not isinstance(stream, Stream):
        shared = shared_stream(routine, stream)
        if shared is None:
            given = f"{repr_of(stream)} ({type(stream).__name__})"
            hint = "a stream of another library can be used through Stream.borrow(handle)."
            raise InvalidArgumentError.of(routine, "stream", given, expected, hint)
        stream = Stream._lent(shared, stream, device)  # noqa: SLF001  # its own room
    if stream.closed or (device is not None and stream.device.id != device.id):
        raise InvalidArgumentError.of(routine, "stream", repr_of(stream), expected)
    return stream
