# SPDX-License-Identifier: Apache-2.0
"""Codes 107xxx: what the runtime refuses (CANN: acl/error_codes/rt_error_codes.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import (
    ContextError,
    DeadlineError,
    DeviceLostError,
    InvalidArgumentError,
    KernelError,
    UnsupportedError,
)
from pyaclnn.facts.explanations.entry import WAIT, says

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.explanations.entry import Explanation

__all__ = ["RUNTIME_USAGE"]

_CONTEXT: Final = (
    "the object belongs to another context, or its device was reset; use objects of one device "
    "and close them before the device."
)
_ARGUMENTS: Final = "compare the arguments with the function's documentation."
_EVENTS: Final = (
    "record both events, the earlier one first, and synchronize before asking for the time."
)
_CAPTURE: Final = (
    "the stream is being captured; waiting for it or asking about it ends the capture."
)
_JOIN: Final = "join every stream that took part with events before the capture ends."
_GRAPH: Final = "begin and end the capture on the same stream and thread, one at a time."
_FILE: Final = "check the path in CANN's log, its permissions and the space on the disk."
_SYMBOLS: Final = "build the kernels again with this CANN and register them before they are used."

RUNTIME_USAGE: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_RT_PARAM_INVALID": says(
        "The runtime was given an argument that it cannot take.",
        "a copy larger than its destination, or a destination size of 0",
        "an address that was freed, or freed twice, or never allocated",
        "a timeout of 0 or below -1",
        "waiting for an event that was never recorded",
        do=_ARGUMENTS,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_INVALID_DEVICEID": says(
        "There is no device of that number.",
        "it is not below the number of visible devices",
        "ASCEND_RT_VISIBLE_DEVICES hides it: visible devices are numbered from 0 again",
        "the driver is not loaded",
        do="device ids run from 0 to device_count() - 1; ASCEND_RT_VISIBLE_DEVICES renumbers them.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_CONTEXT_NULL": says(
        "This thread has no current context.",
        "aclrtSetDevice was not called on this thread: threads inherit nothing",
        "the device was reset, or its context destroyed",
        do="call aclrtSetDevice, or aclrtSetCurrentContext, on this very thread before the call.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_STREAM_CONTEXT": says(
        "The stream belongs to another context than the current one.",
        "another device was made current on this thread in between",
        "the stream's device was reset",
        do=_CONTEXT,
        raises=ContextError,
    ),
    "ACL_ERROR_RT_MODEL_CONTEXT": says(
        "The model or captured graph belongs to another context than the current one.",
        "another device was made current on this thread in between",
        do=_CONTEXT,
        raises=ContextError,
    ),
    "ACL_ERROR_RT_STREAM_MODEL": says(
        "The stream is not one of this model's, or is bound to a model and cannot be used freely.",
        "a stream of one model was used with another",
        do="use the stream that belongs to the model, or a stream of your own.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID": says(
        "One of the events has no time yet.",
        "its stream was not synchronized",
        "it was created without a time line",
        do=_EVENTS,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL": says(
        "The second event is earlier than the first.",
        "the events were given in the wrong order, or recorded again in between",
        do=_EVENTS,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_ADDR_UNALIGNED": says(
        "A memory address is not aligned as it must be.",
        "an address inside an allocation was passed where its start is needed",
        do=_ARGUMENTS,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_FILE_OPEN": says(
        "The runtime could not open a file.",
        "it is missing from the installation, or this user may not read it",
        do=_FILE,
    ),
    "ACL_ERROR_RT_FILE_WRITE": says(
        "The runtime could not write a file.",
        "the disk is full, or this user may not write there",
        do=_FILE,
    ),
    "ACL_ERROR_RT_STREAM_SUBSCRIBE": says(
        "The stream is subscribed already, or to another thread.",
        "the subscription ran twice",
        do="unsubscribe the stream first.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_THREAD_SUBSCRIBE": says(
        "This thread is not subscribed to any stream.",
        "reports are processed on another thread than the one that was subscribed",
        do="process reports on the thread whose identifier was subscribed.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_GROUP_NOT_SET": says(
        "No group of cores is chosen for this thread.",
        "aclrtSetGroup was not called",
        do="call aclrtSetGroup first.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_GROUP_NOT_CREATE": says(
        "There is no such group of cores.",
        "the group's number is out of range on this chip",
        do="use a number below what aclrtGetGroupCount returns.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_STREAM_NO_CB_REG": says(
        "No thread processes the callbacks of this stream.",
        "aclrtSubscribeReport was not called for it",
        do="call aclrtSubscribeReport with the identifier of the thread that processes reports.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_INVALID_MEMORY_TYPE": says(
        "The memory is of a kind that this call cannot take.",
        "an address of the host where one of the device is needed, or the other way round",
        do=_ARGUMENTS,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_INVALID_HANDLE": says(
        "A handle does not name a living object of the kind that is needed.",
        "the stream, event or context was destroyed",
        "a handle of another kind was passed",
        do=_CONTEXT,
        raises=ContextError,
    ),
    "ACL_ERROR_RT_INVALID_MALLOC_TYPE": says(
        "The allocation policy is unknown or not possible here.",
        "two policies were combined in one call",
        "huge pages on a device that has none left",
        do="allocate with ACL_MEM_MALLOC_HUGE_FIRST.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_WAIT_TIMEOUT": says(
        "A wait ended because its time was over.",
        "work queued before takes longer",
        "nobody records the event, or signals what is waited for",
        do=WAIT,
        raises=DeadlineError,
    ),
    "ACL_ERROR_RT_TASK_TIMEOUT": says(
        "A task on the device ran longer than allowed and was ended.",
        "a kernel that waits for something that never comes",
        "a timeout for operators that is too short for this shape",
        do="find the operator in the device log; raise the timeout only if it is known to be slow.",
        raises=KernelError,
    ),
    "ACL_ERROR_RT_SYSPARAMOPT_NOT_SET": says(
        "The option was never set, so there is nothing to tell.",
        "a query before the option was set",
        do="set the option first.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_DEVICE_TASK_ABORT": says(
        "All tasks of the device are being ended.",
        "somebody in the process asked for it, usually to recover from a fault",
        do="wait until the recovery is over, then close everything of this device and start again.",
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_STREAM_ABORT": says(
        "The stream was aborted; what was queued on it did not run.",
        "aclrtStreamAbort, or a failure on a stream that stops at the first one",
        do="destroy the stream, make a new one and queue the work again.",
        raises=KernelError,
    ),
    "ACL_ERROR_RT_CAPTURE_DEPENDENCY": says(
        "A captured stream would depend on work outside the capture.",
        "waiting for an event that was recorded before the capture began",
        do="record the event inside the capture, or wait before it begins.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_STREAM_UNJOINED": says(
        "The capture ended while another stream that joined it had not come back.",
        "an event from the other stream to the first is missing",
        do=_JOIN,
        raises=ContextError,
    ),
    "ACL_ERROR_RT_MODEL_CAPTURED": says(
        "The captured graph cannot be used while it is being captured.",
        "it was launched or destroyed before the capture ended",
        do=_GRAPH,
        raises=ContextError,
    ),
    "ACL_ERROR_RT_STREAM_CAPTURED": says(
        "The call is not possible on a stream that is being captured.",
        "synchronizing, querying or destroying it inside the capture",
        do=_CAPTURE,
        raises=ContextError,
    ),
    "ACL_ERROR_RT_EVENT_CAPTURED": says(
        "The event was recorded inside a capture and has no state of its own.",
        "it was queried or synchronized by the host",
        do="use another event outside the capture.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_STREAM_NOT_CAPTURED": says(
        "The stream is not being captured.",
        "the capture was never begun, or ended or broke off",
        do=_GRAPH,
        raises=ContextError,
    ),
    "ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT": says(
        "The call is forbidden by the capture's mode.",
        "a synchronous copy or fill while a capture in global mode runs",
        do="make the call before the capture, or capture in relaxed mode.",
        raises=UnsupportedError,
    ),
    "ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT": says(
        "The call would have used the default stream during a capture.",
        "a NULL stream, or a synchronous function",
        do=_CAPTURE,
        raises=ContextError,
    ),
    "ACL_ERROR_STREAM_CAPTURE_CONFLICT": says(
        "The stream would have joined two captures.",
        "an event of one capture was waited for in another",
        do=_GRAPH,
        raises=ContextError,
    ),
    "ACL_ERROR_STREAM_TASK_GROUP_STATUS": says(
        "The task group is not in the state that this call needs.",
        "its begin and end are out of order",
        do="end each task group before the next begins.",
        raises=ContextError,
    ),
    "ACL_ERROR_STREAM_TASK_GROUP_INTR": says(
        "The task group broke off.",
        "a call inside it failed",
        do="find the first call inside the group that failed.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_TASK_ABORT_STOP": says(
        "The task did not run because an abort stopped it.",
        "an earlier failure, or an abort that was asked for",
        do="look for the first failure on this device; this one follows from it.",
        raises=KernelError,
    ),
    "ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED": says(
        "The capture is ended on another stream than it began on.",
        "two captures were mixed up",
        do=_GRAPH,
        raises=ContextError,
    ),
    "ACL_ERROR_RT_MODEL_RUNNING": says(
        "The captured graph is running and cannot be changed.",
        "an update before the launch had finished",
        do="synchronize the stream that runs it first.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD": says(
        "The capture is ended by another thread than began it.",
        "work was handed to a thread pool inside the capture",
        do=_GRAPH,
        raises=ContextError,
    ),
    "ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY": says(
        "The array given is too small for the answer.",
        "its length was guessed",
        do="ask for the count first, then pass an array of that length.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_MODEL_UPDATE_FAILED": says(
        "A captured graph could not be updated.",
        "the new work has another structure than the old",
        do="capture the graph again.",
    ),
    "ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC": says(
        "A captured graph would have contained something that blocks.",
        "a blocking host callback, or a copy of pageable memory",
        do="use pinned memory and callbacks that do not block inside a capture.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_SYMBOL_NOT_FOUND": says(
        "The kernel binary has no symbol of that name.",
        "the binary is another version than the program expects",
        do=_SYMBOLS,
        raises=UnsupportedError,
    ),
    "ACL_ERROR_RT_INVALID_SYMBOL": says(
        "The symbol is not one of the device's.",
        "a host variable was passed for one of the device",
        do=_SYMBOLS,
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RT_INVALID_DEVICE_FUNCTION": says(
        "The function is not a kernel that this device can run.",
        "it was compiled for another chip",
        do=_SYMBOLS,
        raises=UnsupportedError,
    ),
    "ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING": says(
        "A graph inside the graph is still being captured.",
        "the outer capture ended first",
        do=_GRAPH,
        raises=ContextError,
    ),
}
