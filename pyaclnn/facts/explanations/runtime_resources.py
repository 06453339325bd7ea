# SPDX-License-Identifier: Apache-2.0
"""Codes 207xxx: what the runtime has not got (CANN: acl/error_codes/rt_error_codes.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import (
    ContextError,
    DeadlineError,
    DeviceLostError,
    KernelError,
    OutOfMemoryError,
    UnsupportedError,
)
from pyaclnn.facts.explanations.entry import OLD, RELEASE, says

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.explanations.entry import Explanation

__all__ = ["RUNTIME_RESOURCES"]

_CAPACITY: Final = "close objects of this kind that are no longer needed."
_OVERFLOW: Final = "look for infinities in the inputs, or compute in a wider data type."

RUNTIME_RESOURCES: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_RT_FEATURE_NOT_SUPPORT": says(
        "The runtime does not support this here.",
        "the driver is older than this CANN needs",
        "the chip lacks the feature",
        "an asynchronous copy from host to host",
        do=OLD,
        raises=UnsupportedError,
    ),
    "ACL_ERROR_RT_MEMORY_ALLOCATION": says(
        "The device has not enough free memory.",
        "this process holds too much",
        "another process uses the device: `npu-smi info -t proc-mem -i ID` shows it",
        "only huge pages were asked for and none are left",
        do=RELEASE,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_RT_MEMORY_FREE": says(
        "Memory could not be freed.",
        "the address was freed before, or is not the start of an allocation",
        do="free each address once, exactly as it was allocated.",
    ),
    "ACL_ERROR_RT_AICORE_OVER_FLOW": says(
        "A kernel on the AI cores met a number out of range.",
        "values beyond what float16 can hold",
        do=_OVERFLOW,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_NO_DEVICE": says(
        "No device can be used.",
        "ASCEND_RT_VISIBLE_DEVICES is wrong: ids must ascend, without spaces or repeats",
        "the driver sees no NPU",
        "the container was started without its device nodes",
        do="no device could be opened; check `npu-smi info`, ASCEND_RT_VISIBLE_DEVICES and the "
        "driver's version.",
        raises=DeviceLostError,
    ),
    "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL": says(
        "The driver could not allocate something that the call needs.",
        "the device's or the host's memory is exhausted",
        do=RELEASE,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_RT_NO_PERMISSION": says(
        "This user or container may not do that.",
        "the user is not in the group that owns the device nodes",
        "the operation is for administrators, or refused inside containers",
        do="add the user to the driver's group (`UserGroup` in /etc/ascend_install.info) and log "
        "in again.",
    ),
    "ACL_ERROR_RT_NO_EVENT_RESOURCE": says(
        "The device has no free event left.",
        "events are created in a loop and never closed",
        do=_CAPACITY,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_RT_NO_STREAM_RESOURCE": says(
        "The device has no free stream left.",
        "streams are created in a loop and never closed",
        "other processes on the device hold them",
        do=_CAPACITY,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_RT_NO_NOTIFY_RESOURCE": says(
        "The device has no free notify left.",
        "notifies are created and never destroyed",
        "many communicators exist at once",
        do=_CAPACITY,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_RT_NO_MODEL_RESOURCE": says(
        "The device has no room for another model or captured graph.",
        "too many are loaded at once",
        do=_CAPACITY,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_RT_NO_CDQ_RESOURCE": says(
        "The device has no free command queue of this kind left.",
        "too many are open at once",
        do=_CAPACITY,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_RT_OVER_LIMIT": says(
        "A limit on the number of objects is reached.",
        "objects are created and never closed",
        do=_CAPACITY,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_RT_QUEUE_EMPTY": says(
        "The queue has nothing to give.",
        "the producer has not put anything into it yet",
        do="wait for the producer, or ask again later.",
    ),
    "ACL_ERROR_RT_QUEUE_FULL": says(
        "The queue takes no more.",
        "the consumer is slower than the producer, or has ended",
        do="wait until the consumer has taken something.",
    ),
    "ACL_ERROR_RT_REPEATED_INIT": says(
        "Something was initialised twice.",
        "two parts of the process initialise the same thing",
        do="initialise it once.",
        raises=ContextError,
    ),
    "ACL_ERROR_RT_AIVEC_OVER_FLOW": says(
        "A kernel on the vector cores met a number out of range.",
        "values beyond what float16 can hold",
        do=_OVERFLOW,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_OVER_FLOW": says(
        "A kernel met a number out of range.",
        "values beyond what float16 can hold",
        do=_OVERFLOW,
        raises=KernelError,
    ),
    "ACL_ERROR_RT_DEVICE_OOM": says(
        "Software on the device itself ran out of memory.",
        "too many processes use the device",
        do=RELEASE,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP": says(
        "A captured graph contains an operator that cannot be updated.",
        "the operator's kernel has no updatable form",
        do="capture the graph again instead of updating it.",
        raises=UnsupportedError,
    ),
    "ACL_ERROR_RT_TIMEOUT": says(
        "Something took longer than allowed.",
        "the device is being recovered or is very busy",
        do="the work is still queued; wait again with more time, or without a timeout.",
        raises=DeadlineError,
    ),
    "ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED": says(
        "The devices are connected in a way that this does not work over.",
        "the devices are in different servers, or have no direct link",
        do="choose devices that `npu-smi info -t topo` shows as directly connected.",
        raises=UnsupportedError,
    ),
}
