# SPDX-License-Identifier: Apache-2.0
"""Ownership: who releases a CANN object, when, and what must outlive it.

A ``Resource`` is the C object itself: it pins what it depends on, and is released once nobody
wants it any more and nobody pins it. A ``Handle`` is what Python code holds: closing it, or letting
go of it, asks for the release. Resources never refer to handles, so a handle is always collectable,
and everything that a release needs is at hand when the handle is gone.
"""

from __future__ import annotations

import atexit
import sys
import tracemalloc
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pyaclnn.base.errors import ContextError
from pyaclnn.base.spelling import with_article
from pyaclnn.runtime.finalizer_queue import FINALIZER_QUEUE
from pyaclnn.runtime.interrupts import Finalizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

    from typing_extensions import Self

    from pyaclnn.cann.raw import Pointer

__all__ = ["Handle", "Resource", "begin_exit", "finalizer_of", "is_exiting", "live_handles"]

_PACKAGE: Final = str(Path(__file__).parents[1])
_WANTED, _UNWANTED, _RELEASING, _RELEASED = range(4)


def live_handles() -> dict[str, int]:
    """Count the CANN objects that this library owns and has not released, by kind.

    Returns:
        E.g. ``{"device": 1, "stream": 2}``; kinds without a live object are left out. Objects
        whose release waits for a stream are still counted; borrowed ones never are.

    Examples:
        >>> with pyaclnn.Stream() as stream:
        ...     pyaclnn.live_handles()["stream"] >= 1
        True
    """
    return FINALIZER_QUEUE.living()


class Resource:
    """One C object, owned or borrowed, released when unwanted and unpinned.

    Attributes:
        kind: Noun for the object, in counters and messages.
        pointer: The C pointer.
    """

    __slots__ = ("_dependencies", "_pins", "_release", "_state", "_unwanted", "kind", "pointer")

    def __init__(
        self,
        kind: str,
        pointer: Pointer = None,
        release: Callable[[Pointer], None] | None = None,
        *,
        unwanted: Callable[[], object] | None = None,
        dependencies: tuple[object, ...] = (),
    ) -> None:
        """Take over ``pointer``, or what is going to be made: see ``adopt``.

        Args:
            kind: Noun for the object.
            pointer: The C pointer; None for an object that is still to be made.
            release: Gives the C object back; never raises. None for a borrowed object. It may be
                called again if a signal handler's exception ends it.
            unwanted: Called when the object is no longer referenced, before it is released, which
                may come later. Never raises; may be called again, and is if it returns False.
            dependencies: Objects that must outlive this one. Resources among them are pinned.
        """
        self._state = _WANTED
        self._pins: list[int] = []
        self.kind = kind
        self.pointer = pointer
        self._release = release
        self._unwanted = unwanted
        self._dependencies = dependencies
        for dependency in dependencies:
            if isinstance(dependency, Resource):
                dependency.pin(self)
        if release is not None and pointer is not None:
            FINALIZER_QUEUE.born(kind, self)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # Its creator was interrupted before there was a handle, or has just dropped it. After the
        # exit functions, which release everything, this module has no globals any more.
        if not is_finalizing() and getattr(self, "_state", _RELEASED) != _RELEASED:
            self.let_go()

    def adopt(self, pointer: Pointer) -> None:
        """Stand for a C object that was made just now."""
        self.pointer = pointer
        FINALIZER_QUEUE.born(self.kind, self)

    @property
    def owned(self) -> bool:
        """True if letting go of it releases the C object."""
        return self._release is not None

    def pin(self, by: object = None) -> None:
        """Keep the object until a matching ``unpin``, even without references.

        Args:
            by: Who needs it; the pins of one are one.
        """
        with FINALIZER_QUEUE.lock:
            if by is None or id(by) not in self._pins:
                self._pins.append(id(by))

    def unpin(self, by: object = None) -> None:
        """Take back one ``pin``; of one that has none, nothing."""
        with FINALIZER_QUEUE.lock:
            if id(by) in self._pins:
                self._pins.remove(id(by))
        FINALIZER_QUEUE.due(self)

    def let_go(self) -> None:
        """Drop the reference of the handle; the object is released now, or with its last pin."""
        if self._state == _WANTED:
            self._state = _UNWANTED
        if self._release is None and self._unwanted is None and not self._dependencies:
            self._state = _RELEASED  # borrowed: its owner is not notified
            return
        FINALIZER_QUEUE.due(self)

    def _must_wait(self) -> bool:
        """Return whether work in flight needs the object; it is then checked again later."""
        return False

    def proceed(self) -> None:
        """Release the object if it is due."""
        if self._state in (_WANTED, _RELEASED):
            return
        if self._unwanted is not None:
            if self._unwanted() is False:
                FINALIZER_QUEUE.postpone(self)
                return
            self._unwanted = None
        with FINALIZER_QUEUE.lock:
            if self._pins:
                return
        if self._state == _UNWANTED:
            if self._must_wait():
                return
            self._state = _RELEASING
        if self._release is not None:
            self._release(self.pointer)
            FINALIZER_QUEUE.gone(self.kind, self)
        for dependency in self._dependencies:
            if isinstance(dependency, Resource):
                dependency.unpin(self)
        self._dependencies = ()
        self._state = _RELEASED


class _Lost(weakref.ref[object]):
    """An object whose finalizer may never have begun: a signal handler can raise before it does.

    That the object is gone is noted in C.
    """

    __slots__ = ("finalizer",)

    finalizer: Finalizer

    def proceed(self) -> None:
        finalizer = getattr(self, "finalizer", None)
        if finalizer is not None:
            finalizer()


def finalizer_of(owner: object, function: Callable[..., object], *arguments: object) -> Finalizer:
    """Have a function called when an object is gone, or when the interpreter ends.

    An exception out of a signal handler may come at any time; it is then called a little later.

    Args:
        owner: The object.
        function: Called once, with the arguments.
        *arguments: They may not refer to the object.

    Returns:
        The finalizer, which calls the function before that, or never, if it is detached.
    """
    lost = _Lost(owner, FINALIZER_QUEUE.note_in_c)
    lost.finalizer = Finalizer(owner, _end, lost, function, *arguments)
    return lost.finalizer


def _end(_: _Lost, function: Callable[..., object], *arguments: object) -> None:
    """Callback of a finalizer; it keeps the finalizer's own state alive."""
    function(*arguments)


class Handle:
    """Python object that represents a C object: close it, or use it in a ``with`` statement.

    Closing twice is harmless. Work that was queued with the object is not disturbed: the C object
    is then released when the stream is known to have passed that work.
    """

    _kind: ClassVar[str] = "handle"
    _expects_close: ClassVar[bool] = True
    """True if forgetting ``close`` is worth a ResourceWarning; not so for plain memory."""

    def __init__(self, resource: Resource) -> None:
        """Represent ``resource``, and hold one reference to it."""
        self._resource = resource
        warns = self._expects_close and resource.owned
        origin = _creation_place() if warns else None
        self._finalizer = finalizer_of(self, _abandon, resource, warns, origin)

    @property
    def _held(self) -> Resource:
        """The C object's resource.

        Raises:
            ContextError: The handle is closed.
        """
        if self.closed:
            message = f"this {self._kind} is closed.\nHint: open another one, or close it later."
            raise ContextError(message, routine=type(self).__name__)
        return self._resource

    @property
    def pointer(self) -> Pointer:
        """The raw C pointer, still owned by this handle.

        Raises:
            ContextError: The handle is closed.
        """
        return self._held.pointer

    @property
    def owned(self) -> bool:
        """True if closing releases the C object; False for borrowed ones."""
        return self._resource.owned

    @property
    def closed(self) -> bool:
        """True if ``close`` was called."""
        return not self._finalizer.alive

    def close(self) -> None:
        """Let go of the C object. Never raises: failures become a ``CleanupWarning``."""
        if self._finalizer.detach() is not None:
            self._resource.let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
            return
        # Ctrl-C, or the cancellation of a task by asyncio and its like: nobody waits any more.
        if not isinstance(error, (Exception, SystemExit, GeneratorExit)):
            self._give_up()
        self._close_after_failure()

    def _close_after_failure(self) -> None:
        """Close at the end of a ``with`` statement that an exception leaves."""
        self.close()

    def _give_up(self) -> None:
        """Record that nobody waits for the work of the object any more."""

    def __copy__(self) -> Any:
        name = type(self).__name__
        raise TypeError(f"this {name} stands for one C object and cannot be copied or pickled")

    __reduce__ = __copy__

    def __deepcopy__(self, memo: object) -> Any:
        return self.__copy__()


class _Exit:
    """Knows whether the interpreter is ending, when finalizers are not a sign of forgetting."""

    under_way = False


def is_exiting() -> bool:
    """Return whether the interpreter is ending."""
    return _Exit.under_way


def _abandon(resource: Resource, expects_close: bool, origin: str | None) -> None:
    """Finalizer of a handle that was not closed; gets no reference to the handle itself."""
    resource.let_go()
    if expects_close and not _Exit.under_way:
        place = f"created at {origin}" if origin else "run with tracemalloc on to see where"
        kind = with_article(resource.kind)
        warnings.warn(
            f"{kind} was never closed ({place}); use it in a 'with' statement or call close()",
            ResourceWarning,
            stacklevel=2,
        )


def _creation_place() -> str | None:
    if not tracemalloc.is_tracing():
        return None
    # The module `traceback` would take longer to import than the one that wants it.
    frame: FrameType | None = sys._getframe()  # noqa: SLF001
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def begin_exit() -> None:
    """Record that the interpreter is ending; exit functions that wait for work call it first."""
    _Exit.under_way = True
    FINALIZER_QUEUE.resume()
    FINALIZER_QUEUE.settle()


# Finalizers run from an exit function that the very first of them registers. One is created here,
# so that what is registered next is called before it.
weakref.finalize(_Exit, begin_exit)
atexit.register(begin_exit)
