# SPDX-License-Identifier: Apache-2.0
"""Codes 107xxx: what the runtime refuses (CANN: acl/error_codes/rt_error_codes.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.errors import (
    AclError,
    ContextError,
    DeadlineError,
    DeviceLostError,
    InvalidArgumentError,
    KernelError,
    UnsupportedError,
)
from pyaclnn.explanations.entry import explained

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.explanations.entry import Explanation

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
_WAIT: Final = "the work is still queued; wait again with more time, or without a timeout."
_FILE: Final = "check the path in CANN's log, its permissions and the space on the disk."
_SYMBOLS: Final = "build the kernels again with this CANN and register them before they are used."

RUNTIME_USAGE: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_RT_PARAM_INVALID": explained(
        InvalidArgumentError,
        "The runtime was given an argument that it cannot take.",
        "a copy larger than its destination, or a destination size of 0",
        "an address that was freed, or freed twice, or never allocated",
        "a timeout of 0 or below -1",
        "waiting for an event that was never recorded",
        do=_ARGUMENTS,
    ),
    "ACL_ERROR_RT_INVALID_DEVICEID": explained(
        InvalidArgumentError,
        "There is no device of that number.",
        "it is not below the number of visible devices",
        "ASCEND_RT_VISIBLE_DEVICES hides it: visible devices are numbered from 0 again",
        "the driver is not loaded",
        do="device ids run from 0 to device_count() - 1; ASCEND_RT_VISIBLE_DEVICES renumbers them.",
    ),
    "ACL_ERROR_RT_CONTEXT_NULL": explained(
        ContextError,
        "This thread has no current context.",
        "aclrtSetDevice was not called on this thread: threads inherit nothing",
        "the device was reset, or its context destroyed",
        do="call aclrtSetDevice, or aclrtSetCurrentContext, on this very thread before the call.",
    ),
    "ACL_ERROR_RT_STREAM_CONTEXT": explained(
        ContextError,
        "The stream belongs to another context than the current one.",
        "another device was made current on this thread in between",
        "the stream's device was reset",
        do=_CONTEXT,
    ),
    "ACL_ERROR_RT_MODEL_CONTEXT": explained(
        ContextError,
        "The model or captured graph belongs to another context than the current one.",
        "another device was made current on this thread in between",
        do=_CONTEXT,
    ),
    "ACL_ERROR_RT_STREAM_MODEL": explained(
        ContextError,
        "The stream is not one of this model's, or is bound to a model and cannot be used freely.",
        "a stream of one model was used with another",
        do="use the stream that belongs to the model, or a stream of your own.",
    ),
    "ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID": explained(
        InvalidArgumentError,
        "One of the events has no time yet.",
        "its stream was not synchronized",
        "it was created without a time line",
        do=_EVENTS,
    ),
    "ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL": explained(
        InvalidArgumentError,
        "The second event is earlier than the first.",
        "the events were given in the wrong order, or recorded again in between",
        do=_EVENTS,
    ),
    "ACL_ERROR_RT_ADDR_UNALIGNED": explained(
        InvalidArgumentError,
        "A memory address is not aligned as it must be.",
        "an address inside an allocation was passed where its start is needed",
        do=_ARGUMENTS,
    ),
    "ACL_ERROR_RT_FILE_OPEN": explained(
        AclError,
        "The runtime could not open a file.",
        "it is missing from the installation, or this user may not read it",
        do=_FILE,
    ),
    "ACL_ERROR_RT_FILE_WRITE": explained(
        AclError,
        "The runtime could not write a file.",
        "the disk is full, or this user may not write there",
        do=_FILE,
    ),
    "ACL_ERROR_RT_STREAM_SUBSCRIBE": explained(
        InvalidArgumentError,
        "The stream is subscribed already, or to another thread.",
        "the subscription ran twice",
        do="unsubscribe the stream first.",
    ),
    "ACL_ERROR_RT_THREAD_SUBSCRIBE": explained(
        InvalidArgumentError,
        "This thread is not subscribed to any stream.",
        "reports are processed on another thread than the one that was subscribed",
        do="process reports on the thread whose identifier was subscribed.",
    ),
    "ACL_ERROR_RT_GROUP_NOT_SET": explained(
        ContextError,
        "No group of cores is chosen for this thread.",
        "aclrtSetGroup was not called",
        do="call aclrtSetGroup first.",
    ),
    "ACL_ERROR_RT_GROUP_NOT_CREATE": explained(
        InvalidArgumentError,
        "There is no such group of cores.",
        "the group's number is out of range on this chip",
        do="use a number below what aclrtGetGroupCount returns.",
    ),
    "ACL_ERROR_RT_STREAM_NO_CB_REG": explained(
        InvalidArgumentError,
        "No thread processes the callbacks of this stream.",
        "aclrtSubscribeReport was not called for it",
        do="call aclrtSubscribeReport with the identifier of the thread that processes reports.",
    ),
    "ACL_ERROR_RT_INVALID_MEMORY_TYPE": explained(
        InvalidArgumentError,
        "The memory is of a kind that this call cannot take.",
        "an address of the host where one of the device is needed, or the other way round",
        do=_ARGUMENTS,
    ),
    "ACL_ERROR_RT_INVALID_HANDLE": explained(
        ContextError,
        "A handle does not name a living object of the kind that is needed.",
        "the stream, event or context was destroyed",
        "a handle of another kind was passed",
        do=_CONTEXT,
    ),
    "ACL_ERROR_RT_INVALID_MALLOC_TYPE": explained(
        InvalidArgumentError,
        "The allocation policy is unknown or not possible here.",
        "two policies were combined in one call",
        "huge pages on a device that has none left",
        do="allocate with ACL_MEM_MALLOC_HUGE_FIRST.",
    ),
    "ACL_ERROR_RT_WAIT_TIMEOUT": explained(
        DeadlineError,
        "A wait ended because its time was over.",
        "work queued before takes longer",
        "nobody records the event, or signals what is waited for",
        do=_WAIT,
    ),
    "ACL_ERROR_RT_TASK_TIMEOUT": explained(
        KernelError,
        "A task on the device ran longer than allowed and was ended.",
        "a kernel that waits for something that never comes",
        "a timeout for operators that is too short for this shape",
        do="find the operator in the device log; raise the timeout only if it is known to be slow.",
    ),
    "ACL_ERROR_RT_SYSPARAMOPT_NOT_SET": explained(
        ContextError,
        "The option was never set, so there is nothing to tell.",
        "a query before the option was set",
        do="set the option first.",
    ),
    "ACL_ERROR_RT_DEVICE_TASK_ABORT": explained(
        DeviceLostError,
        "All tasks of the device are being ended.",
        "somebody in the process asked for it, usually to recover from a fault",
        do="wait until the recovery is over, then close everything of this device and start again.",
    ),
    "ACL_ERROR_RT_STREAM_ABORT": explained(
        KernelError,
        "The stream was aborted; what was queued on it did not run.",
        "aclrtStreamAbort, or a failure on a stream that stops at the first one",
        do="destroy the stream, make a new one and queue the work again.",
    ),
    "ACL_ERROR_RT_CAPTURE_DEPENDENCY": explained(
        ContextError,
        "A captured stream would depend on work outside the capture.",
        "waiting for an event that was recorded before the capture began",
        do="record the event inside the capture, or wait before it begins.",
    ),
    "ACL_ERROR_RT_STREAM_UNJOINED": explained(
        ContextError,
        "The capture ended while another stream that joined it had not come back.",
        "an event from the other stream to the first is missing",
        do=_JOIN,
    ),
    "ACL_ERROR_RT_MODEL_CAPTURED": explained(
        ContextError,
        "The captured graph cannot be used while it is being captured.",
        "it was launched or destroyed before the capture ended",
        do=_GRAPH,
    ),
    "ACL_ERROR_RT_STREAM_CAPTURED": explained(
        ContextError,
        "The call is not possible on a stream that is being captured.",
        "synchronizing, querying or destroying it inside the capture",
        do=_CAPTURE,
    ),
    "ACL_ERROR_RT_EVENT_CAPTURED": explained(
        ContextError,
        "The event was recorded inside a capture and has no state of its own.",
        "it was queried or synchronized by the host",
        do="use another event outside the capture.",
    ),
    "ACL_ERROR_RT_STREAM_NOT_CAPTURED": explained(
        ContextError,
        "The stream is not being captured.",
        "the capture was never begun, or ended or broke off",
        do=_GRAPH,
    ),
    "ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT": explained(
        UnsupportedError,
        "The call is forbidden by the capture's mode.",
        "a synchronous copy or fill while a capture in global mode runs",
        do="make the call before the capture, or capture in relaxed mode.",
    ),
    "ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT": explained(
        ContextError,
        "The call would have used the default stream during a capture.",
        "a NULL stream, or a synchronous function",
        do=_CAPTURE,
    ),
    "ACL_ERROR_STREAM_CAPTURE_CONFLICT": explained(
        ContextError,
        "The stream would have joined two captures.",
        "an event of one capture was waited for in another",
        do=_GRAPH,
    ),
    "ACL_ERROR_STREAM_TASK_GROUP_STATUS": explained(
        ContextError,
        "The task group is not in the state that this call needs.",
        "its begin and end are out of order",
        do="end each task group before the next begins.",
    ),
    "ACL_ERROR_STREAM_TASK_GROUP_INTR": explained(
        ContextError,
        "The task group broke off.",
        "a call inside it failed",
        do="find the first call inside the group that failed.",
    ),
    "ACL_ERROR_RT_TASK_ABORT_STOP": explained(
        KernelError,
        "The task did not run because an abort stopped it.",
        "an earlier failure, or an abort that was asked for",
        do="look for the first failure on this device; this one follows from it.",
    ),
    "ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED": explained(
        ContextError,
        "The capture is ended on another stream than it began on.",
        "two captures were mixed up",
        do=_GRAPH,
    ),
    "ACL_ERROR_RT_MODEL_RUNNING": explained(
        ContextError,
        "The captured graph is running and cannot be changed.",
        "an update before the launch had finished",
        do="synchronize the stream that runs it first.",
    ),
    "ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD": explained(
        ContextError,
        "The capture is ended by another thread than began it.",
        "work was handed to a thread pool inside the capture",
        do=_GRAPH,
    ),
    "ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY": explained(
        InvalidArgumentError,
        "The array given is too small for the answer.",
        "its length was guessed",
        do="ask for the count first, then pass an array of that length.",
    ),
    "ACL_ERROR_RT_MODEL_UPDATE_FAILED": explained(
        AclError,
        "A captured graph could not be updated.",
        "the new work has another structure than the old",
        do="capture the graph again.",
    ),
    "ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC": explained(
        ContextError,
        "A captured graph would have contained something that blocks.",
        "a blocking host callback, or a copy of pageable memory",
        do="use pinned memory and callbacks that do not block inside a capture.",
    ),
    "ACL_ERROR_RT_SYMBOL_NOT_FOUND": explained(
        UnsupportedError,
        "The kernel binary has no symbol of that name.",
        "the binary is another version than the program expects",
        do=_SYMBOLS,
    ),
    "ACL_ERROR_RT_INVALID_SYMBOL": explained(
        InvalidArgumentError,
        "The symbol is not one of the device's.",
        "a host variable was passed for one of the device",
        do=_SYMBOLS,
    ),
    "ACL_ERROR_RT_INVALID_DEVICE_FUNCTION": explained(
        UnsupportedError,
        "The function is not a kernel that this device can run.",
        "it was compiled for another chip",
        do=_SYMBOLS,
    ),
    "ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING": explained(
        ContextError,
        "A graph inside the graph is still being captured.",
        "the outer capture ended first",
        do=_GRAPH,
    ),
}
