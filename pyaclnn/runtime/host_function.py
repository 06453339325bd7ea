# SPDX-License-Identifier: Apache-2.0
"""Functions of Python that a stream calls when it comes to them.

CANN calls them in a thread that was subscribed to the stream and asks for them. There is such a
thread as long as a stream has still to come to a function, and no longer.

Source: acl_rt.h, ``aclrtSubscribeReport``, ``aclrtLaunchCallback``, ``aclrtProcessReport``.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import itertools
import threading
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any, Final

from pyaclnn._binding import ffi, lib
from pyaclnn.base.errors import AclError, ContextError, UnsupportedError
from pyaclnn.base.locks import reentrant_lock
from pyaclnn.cann import raw
from pyaclnn.cann.gate import call, cleanup, silence
from pyaclnn.runtime.handle import begin_exit
from pyaclnn.runtime.own_stream import calling_function
from pyaclnn.runtime.progress import end_work, is_complete

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from pyaclnn.runtime.timeline import Timeline

__all__ = ["await_functions", "launch_function"]

_SLICE: Final = 250
"""Milliseconds after which a thread looks whether its stream can still come to a function."""

_lock: Final = reentrant_lock()
_numbers: Final = itertools.count(1)
_queued: Final[dict[int, _Queued]] = {}
"""Functions to which no stream has come yet, by the number that C has of them."""
_servers: Final[dict[tuple[int, int], _Server]] = {}
"""The threads, by context and stream."""


class _Queued:
    """A function, and where its result goes."""

    def __init__(self, function: Callable[[], Any], timeline: Timeline) -> None:
        # Not sooner: it brings logging along, of which those without such functions have no need.
        from pyaclnn.runtime.function_result import FunctionResult  # noqa: PLC0415

        self._function = function
        self._timeline, self._submission = timeline, timeline.submitted
        self.future: Future[Any] = FunctionResult(timeline, self._submission)

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            with calling_function(self._timeline, self._submission):
                result = self._function()
            self.future.set_result(result)
        except BaseException as error:  # noqa: BLE001  # it is raised by Future.result()
            self.future.set_exception(error)


class _Server(threading.Thread):
    """Calls the functions that one stream comes to, and ends when there are no more."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__(name="pyaclnn host functions", daemon=True)
        self.timeline = timeline
        self.numbers: set[int] = set()

    def subscribe(self) -> None:
        """Start; called with the lock, which keeps the thread from ending at once."""
        self.start()
        here = self.ident, self.timeline.struct.stream
        if not call("aclrtSubscribeReport", *here, accepted="ACL_ERROR_RT_STREAM_SUBSCRIBE"):
            return  # Somebody else calls what is queued on this stream.
        _servers[_key(self.timeline)] = self

    def run(self) -> None:
        """Ask for functions until all were called, or no more can come."""
        with contextlib.suppress(AclError):
            call("aclrtSetCurrentContext", self.timeline.struct.context)
        while self._has_work():
            if raw.aclrtProcessReport(_SLICE):
                self._doubt()

    def _has_work(self) -> bool:
        with _lock:
            self.numbers &= _queued.keys()
            key = _key(self.timeline)
            if _servers.get(key) is not self:
                return False
            if not self.numbers:
                del _servers[key]
                cleanup("aclrtUnSubscribeReport", self.ident, self.timeline.struct.stream)
            return bool(self.numbers)

    def _doubt(self) -> None:
        """Abandon functions to which the stream will not come, because it failed or is done."""
        with _lock:
            numbers = self.numbers & _queued.keys()
        lost: AclError = ContextError("the stream ended before it came to this function.")
        try:
            if not is_complete(self.timeline, self.timeline.struct.stream):
                return
        except AclError as error:
            lost = error
        for number in numbers:
            queued = _queued.pop(number, None)
            if queued is not None and queued.future.set_running_or_notify_cancel():
                queued.future.set_exception(lost)


def _key(timeline: Timeline) -> tuple[int, int]:
    return timeline.context, raw.address_of(timeline.struct.stream)


def launch_function(timeline: Timeline, function: Callable[[], Any]) -> Future[Any]:
    """Have a function called when a stream comes to it, which waits until it returns.

    Args:
        timeline: The stream's, whose context is current.
        function: Function to call in another thread.

    Returns:
        The state of the call.

    Raises:
        UnsupportedError: Threads are greenlets, which cannot run while another one waits in C.
        AclError: CANN does not take it.
    """
    if not isinstance(_thread.start_new_thread, BuiltinFunctionType):
        raise UnsupportedError(
            "launch_host_func(): the threads of this process are greenlets, so that the function "
            "could not run while the program waits for its stream.\n"
            "Hint: gevent.monkey.patch_all(thread=False) leaves threads as they are.",
            routine="launch_host_func",
        )
    number, queued = next(_numbers), _Queued(function, timeline)
    with _lock:
        server = _servers.get(_key(timeline))
        if server is None:
            server = _Server(timeline)
            server.subscribe()
        server.numbers.add(number)
        _queued[number] = queued
        try:
            reached, argument = lib.binding_reached, ffi.cast("void *", number)
            block, stream = raw.ACL_CALLBACK_BLOCK, timeline.struct.stream
            call("aclrtLaunchCallback", reached, argument, block, stream)
        except BaseException:
            _queued.pop(number, None)
            raise
    return queued.future


def await_functions(timeline: Timeline) -> None:
    """Wait until the thread of a stream has ended, which has come to everything.

    Args:
        timeline: The stream's, which is about to be destroyed.
    """
    with _lock:  # a thread that is not found has ended its subscription
        server = _servers.get(_key(timeline))
    if server is None or server is threading.current_thread() or silence.finalised:
        return  # at the end of the program, what was given up is not awaited
    server.join()


def _finish_functions() -> None:
    """Wait at the end of the interpreter until all functions were called."""
    for server in list(_servers.values()):
        begin_exit()
        with contextlib.suppress(AclError):
            end_work(server.timeline, server.timeline.struct.stream)


atexit.register(_finish_functions)


def _reached(number: Any) -> None:
    queued = _queued.pop(int(ffi.cast("uintptr_t", number)), None)
    if queued is not None:
        queued.run()


ffi.def_extern(name="binding_reached")(_reached)
