# SPDX-License-Identifier: Apache-2.0
"""Rules about events."""

from __future__ import annotations

from .rule import Rule

__all__ = ["EVENTS"]

EVENTS = (
    Rule(
        id="event-unrecorded",
        title="an event is waited for that nobody recorded",
        explanation="Then nothing is ordered. aclrtStreamWaitEvent answers 107000 for an event "
        "from aclrtCreateEvent, but success, without waiting, for one from "
        "aclrtCreateEventExWithFlag; aclrtSynchronizeEvent returns at once.",
        fix="call aclrtRecordEvent before the wait",
        source="CANN: runtime core/src/event/event.cc Wait, WaitSendCheck",
        wrong="aclrtStreamWaitEvent(other, event);",
        right="aclrtRecordEvent(event, stream);\naclrtStreamWaitEvent(other, event);",
    ),
    Rule(
        id="event-made-for-something-else",
        title="an event is used for what its flags do not allow",
        explanation="An event from aclrtCreateEventWithFlag without ACL_EVENT_SYNC may not be "
        "waited for by a stream or reset; one from there without ACL_EVENT_TIME_LINE has no "
        "time to measure. aclrtIpcGetEventHandle takes events with ACL_EVENT_IPC alone.",
        fix="make the event with ACL_EVENT_SYNC to wait and ACL_EVENT_TIME_LINE to measure, or by "
        "aclrtCreateEvent for both; with ACL_EVENT_IPC for other processes",
        source="CANN: aclrtCreateEventWithFlag, aclrtIpcGetEventHandle",
        wrong="aclrtEvent made;\naclrtCreateEventWithFlag(&made, ACL_EVENT_TIME_LINE);\n"
        "aclrtRecordEvent(made, stream);\naclrtStreamWaitEvent(other, made);\n"
        "aclrtSynchronizeStream(other);\naclrtDestroyEvent(made);",
        right="aclrtEvent made;\naclrtCreateEventWithFlag(&made, ACL_EVENT_SYNC);\n"
        "aclrtRecordEvent(made, stream);\naclrtStreamWaitEvent(other, made);\n"
        "aclrtSynchronizeStream(other);\naclrtDestroyEvent(made);",
    ),
    Rule(
        id="event-order",
        title="time is measured between events that are not both reached, in that order",
        explanation="aclrtEventElapsedTime needs two recorded events (507000) that were reached "
        "(107006), the first one first (107007).",
        fix="record the start before the end and synchronize with the end before measuring",
        source="CANN: aclrtEventElapsedTime (507000, 107006, 107007)",
        wrong="aclrtEvent end;\nfloat time;\naclrtCreateEvent(&end);\n"
        "aclrtRecordEvent(event, stream);\naclrtRecordEvent(end, stream);\n"
        "aclrtEventElapsedTime(&time, event, end);\naclrtDestroyEvent(end);",
        right="aclrtEvent end;\nfloat time;\naclrtCreateEvent(&end);\n"
        "aclrtRecordEvent(event, stream);\naclrtRecordEvent(end, stream);\n"
        "aclrtSynchronizeEvent(end);\naclrtEventElapsedTime(&time, event, end);\n"
        "aclrtDestroyEvent(end);",
    ),
)
