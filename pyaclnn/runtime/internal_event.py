# SPDX-License-Identifier: Apache-2.0
"""Internal events that mark progress of streams which may already be destroyed."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.runtime.context import Activation, give_back_in
from pyaclnn.runtime.handle import Resource

if TYPE_CHECKING:
    from pyaclnn.cann.raw import Pointer
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["InternalEvent"]


class InternalEvent(Resource):
    """Event of the library's own; it keeps no device open that its user has left.

    Attributes:
        recorded: The timeline and the submission that it was recorded after; None before that.
    """

    __slots__ = ("recorded",)

    def __init__(self, owner: Resource) -> None:
        """Create an event on a device.

        Args:
            owner: The device's resource, whose pointer is its context.

        Raises:
            OutOfMemoryError: CANN has no event left.
        """
        slot = raw.ffi.new("void **")
        destroy = functools.partial(_destroy, owner, slot)
        super().__init__("event", None, destroy, dependencies=(owner,))
        self.recorded: tuple[Timeline, int] | None = None
        with Activation(owner.pointer):
            flags = raw.ACL_EVENT_SYNC | raw.ACL_EVENT_TIME_LINE
            call("aclrtCreateEventExWithFlag", slot, flags)
        self.adopt(slot[0])

    def record(self, timeline: Timeline) -> None:
        """Record the event at the present end of a stream."""
        sync_point = timeline.sync_point
        with Activation(timeline.struct.context):
            call("aclrtRecordEvent", self.pointer, timeline.struct.stream)
        self.recorded = (timeline, sync_point)

    def is_complete(self) -> bool:
        """Return whether the stream has passed the event, and record that it has."""
        if self.recorded is None:
            return True
        timeline, sync_point = self.recorded
        with Activation(timeline.struct.context):
            status = fetch("aclrtQueryEventStatus", self.pointer, OUT)
        if status == raw.ACL_EVENT_RECORDED_STATUS_COMPLETE:
            timeline.passed(sync_point)
            return True
        return False


def _destroy(owner: Resource, slot: Pointer, _: Pointer) -> None:
    give_back_in(owner, "aclrtDestroyEvent", slot)
