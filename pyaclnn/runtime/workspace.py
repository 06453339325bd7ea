# SPDX-License-Identifier: Apache-2.0
"""The memory that the operators of one stream use while they run.

There is one block a stream. It only grows, and is reused in stream order: an operator may have it
while the one before still runs, because it will run after it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ClassVar

from pyaclnn.base.errors import InvalidArgumentError, OutOfMemoryError, repr_of, text_of
from pyaclnn.runtime.buffer import Buffer, allocate
from pyaclnn.runtime.cap import cap_of
from pyaclnn.runtime.finalizer_queue import FINALIZER_QUEUE

if TYPE_CHECKING:
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.timeline import Timeline, WorkspaceStats

__all__ = ["Workspace"]


class Workspace:
    """Controls of a stream's workspace, reached as ``Stream.workspace``."""

    __slots__ = ("_device", "_timeline")

    def __init__(self, timeline: Timeline, device: Device) -> None:
        self._timeline = timeline
        self._device = device

    @property
    def cap(self) -> int | None:
        """The most bytes it may grow to; None without a limit. Can be set."""
        return self._timeline.cap

    @cap.setter
    def cap(self, nbytes: int | None) -> None:
        self._timeline.cap = cap_of(nbytes, "Workspace.cap")

    def stats(self) -> WorkspaceStats:
        """Return its size, how often it grew, and its cap."""
        return self._timeline.stats()

    def trim(self) -> None:
        """Release it once the stream has passed its last use; it grows again when needed."""
        self._timeline.trim()

    def use(self, buffer: Buffer | None) -> None:
        """Use a buffer of the caller instead, and nothing else; None to go back to our own.

        Args:
            buffer: Device memory of the stream's device, as large as any operator will need. Its
                memory is kept until the stream has done with it, even if it is closed before.

        Raises:
            InvalidArgumentError: It is no open buffer of the device, or the workspace of another
                stream.
        """
        given: object = buffer
        if given is None:
            self._timeline.use_workspace(None)
        elif not isinstance(given, Buffer) or not self._fits(given):
            expected = f"an open buffer of device {self._device.id}"
            raise InvalidArgumentError.of("Workspace.use", "buffer", repr_of(given), expected)
        elif not _Borrowed.is_free_for(given, self._timeline):
            what = f"{repr_of(given)}, which is the workspace of another stream"
            raise InvalidArgumentError.of("Workspace.use", "buffer", what, "this stream's alone")
        else:
            self._timeline.use_workspace(_Borrowed(given, self._timeline))

    def _fits(self, buffer: Buffer) -> bool:
        return not buffer.closed and buffer.device._context == self._device._context

    def _grow(self, nbytes: int) -> None:
        """Make it at least so large.

        Args:
            nbytes: The size an operator asked for.

        Raises:
            OutOfMemoryError: The device, the cap or the caller's buffer has no room for it.
        """
        make = functools.partial(allocate, device=self._device, kind="workspace")
        try:
            self._timeline.grow(nbytes, make)
        except OutOfMemoryError:
            raise
        except MemoryError as refused:
            message = (
                f"{text_of(refused)}.\nHint: raise Stream.workspace.cap, or give a larger buffer."
            )
            raise OutOfMemoryError(message, routine="Stream.workspace") from None


class _Borrowed:
    """The caller's buffer as a workspace.

    Its memory is kept, even if the buffer is closed, until the stream has passed its last use.
    """

    _users: ClassVar[dict[int, dict[int, Timeline]]] = {}
    """By address: whose workspace a buffer is, for each time it was made that."""

    def __init__(self, buffer: Buffer, timeline: Timeline) -> None:
        self._memory = buffer._memory
        self._address = buffer.address
        self.pointer = buffer.pointer
        self.nbytes = buffer.nbytes
        self._users.setdefault(self._address, {})[id(self)] = timeline
        self._memory.pin(self)

    def __del__(self) -> None:
        # An interrupt may have come before it was anybody's workspace.
        if id(self) in self._users.get(getattr(self, "_address", 0), {}):
            FINALIZER_QUEUE.due(self)

    @classmethod
    def is_free_for(cls, buffer: Buffer, timeline: Timeline) -> bool:
        """Return whether no other stream uses the buffer as its workspace."""
        users = cls._users.get(buffer.address, {})
        return all(user is timeline for user in list(users.values()))

    def let_go(self) -> None:
        FINALIZER_QUEUE.due(self)

    def proceed(self) -> None:
        self._memory.unpin(self)
        with FINALIZER_QUEUE.lock:
            users = self._users.get(self._address, {})
            users.pop(id(self), None)
            if not users:
                self._users.pop(self._address, None)
