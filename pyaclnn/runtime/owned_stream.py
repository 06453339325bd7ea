# SPDX-License-Identifier: Apache-2.0
"""Streams that this library has created, as resources: destroyed when their work is done."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

from pyaclnn.base.errors import AclError
from pyaclnn.cann import raw
from pyaclnn.runtime.context import give_back_in, is_gone
from pyaclnn.runtime.finalizer_queue import FINALIZER_QUEUE
from pyaclnn.runtime.handle import Resource
from pyaclnn.runtime.host_function import await_functions
from pyaclnn.runtime.progress import end_work

if TYPE_CHECKING:
    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["OwnedStream"]


class OwnedStream(Resource):
    """A stream that this library has created, destroyed when its work is done.

    Destroying waits for the work, deaf to Ctrl-C. So this waits before; an interrupt then leaves
    the stream to be destroyed later. Failures of the work are not reported by closing.
    """

    __slots__ = ("_owner", "_slot", "_timelines")

    def __init__(self, owner: Resource, slot: Pointer, timelines: list[Timeline]) -> None:
        """Own the stream that a slot will hold; ``timelines`` will have its timeline."""
        self._owner, self._slot, self._timelines = owner, slot, timelines
        destroy = functools.partial(_destroy, owner, slot, timelines)
        super().__init__("stream", None, destroy, dependencies=(owner,))

    def _must_wait(self) -> bool:
        if self._slot[0] == raw.NULL or is_gone(self._owner):
            return False
        with contextlib.suppress(AclError):
            if not all(end_work(timeline, self._slot[0]) for timeline in self._timelines):
                FINALIZER_QUEUE.postpone(self)
                return True
        return False


def _destroy(owner: Resource, slot: Pointer, timelines: list[Timeline], _: Pointer) -> None:
    for timeline in timelines:
        await_functions(timeline)
    # If it fails, that has been reported, and what the work used is let go all the same: a stream
    # without an owner is never heard of again.
    give_back_in(owner, "aclrtDestroyStream", slot)
    for timeline in timelines:
        timeline.retire()
