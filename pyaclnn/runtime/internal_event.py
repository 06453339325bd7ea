# SPDX-License-Identifier: Apache-2.0
"""Points in streams that are asked for instead of the streams, which may be gone."""

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

__all__ = ["Milestone"]


class Milestone(Resource):
    """An event of the library's own, which keeps no device open that its user has left.

    Attributes:
        recorded: Whose submissions have passed when it has, and up to which; None before that.
    """

    __slots__ = ("recorded",)

    def __init__(self, owner: Resource) -> None:
        """Make one on a device.

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
        """Stand for the present end of a stream."""
        mark = timeline.mark
        with Activation(timeline.struct.context):
            call("aclrtRecordEvent", self.pointer, timeline.struct.stream)
        self.recorded = (timeline, mark)

    def is_over(self) -> bool:
        """Tell whether the stream has come so far, and note it."""
        if self.recorded is None:
            return True
        timeline, mark = self.recorded
        with Activation(timeline.struct.context):
            status = fetch("aclrtQueryEventStatus", self.pointer, OUT)
        if status == raw.ACL_EVENT_RECORDED_STATUS_COMPLETE:
            timeline.passed(mark)
            return True
        return False


def _destroy(owner: Resource, slot: Pointer, _: Pointer) -> None:
    give_back_in(owner, "aclrtDestroyEvent", slot)
