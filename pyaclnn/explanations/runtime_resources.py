# SPDX-License-Identifier: Apache-2.0
"""Codes 207xxx: what the runtime has not got (CANN: acl/error_codes/rt_error_codes.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.errors import (
    AclError,
    ContextError,
    DeadlineError,
    DeviceLostError,
    KernelError,
    OutOfMemoryError,
    UnsupportedError,
)
from pyaclnn.explanations.entry import explained

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.explanations.entry import Explanation

__all__ = ["RUNTIME_RESOURCES"]

_RELEASE: Final = (
    "release device arrays that are no longer needed, or see who else uses this device."
)
_CAPACITY: Final = "close objects of this kind that are no longer needed."
_OLD: Final = "this chip, driver or CANN version does not offer it; the driver may be too old."
_OVERFLOW: Final = "look for infinities in the inputs, or compute in a wider data type."

RUNTIME_RESOURCES: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_RT_FEATURE_NOT_SUPPORT": explained(
        UnsupportedError,
        "The runtime does not support this here.",
        "the driver is older than this CANN needs",
        "the chip lacks the feature",
        "an asynchronous copy from host to host",
        do=_OLD,
    ),
    "ACL_ERROR_RT_MEMORY_ALLOCATION": explained(
        OutOfMemoryError,
        "The device has not enough free memory.",
        "this process holds too much",
        "another process uses the device: `npu-smi info -t proc-mem -i ID` shows it",
        "only huge pages were asked for and none are left",
        do=_RELEASE,
    ),
    "ACL_ERROR_RT_MEMORY_FREE": explained(
        AclError,
        "Memory could not be freed.",
        "the address was freed before, or is not the start of an allocation",
        do="free each address once, exactly as it was allocated.",
    ),
    "ACL_ERROR_RT_AICORE_OVER_FLOW": explained(
        KernelError,
        "A kernel on the AI cores met a number out of range.",
        "values beyond what float16 can hold",
        do=_OVERFLOW,
    ),
    "ACL_ERROR_RT_NO_DEVICE": explained(
        DeviceLostError,
        "No device can be used.",
        "ASCEND_RT_VISIBLE_DEVICES is wrong: ids must ascend, without spaces or repeats",
        "the driver sees no NPU",
        "the container was started without its device nodes",
        do="no device could be opened; check `npu-smi info`, ASCEND_RT_VISIBLE_DEVICES and the "
        "driver's version.",
    ),
    "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL": explained(
        OutOfMemoryError,
        "The driver could not allocate something that the call needs.",
        "the device's or the host's memory is exhausted",
        do=_RELEASE,
    ),
    "ACL_ERROR_RT_NO_PERMISSION": explained(
        AclError,
        "This user or container may not do that.",
        "the user is not in the group that owns the device nodes",
        "the operation is for administrators, or refused inside containers",
        do="add the user to the driver's group (`UserGroup` in /etc/ascend_install.info) and log "
        "in again.",
    ),
    "ACL_ERROR_RT_NO_EVENT_RESOURCE": explained(
        OutOfMemoryError,
        "The device has no free event left.",
        "events are created in a loop and never closed",
        do=_CAPACITY,
    ),
    "ACL_ERROR_RT_NO_STREAM_RESOURCE": explained(
        OutOfMemoryError,
        "The device has no free stream left.",
        "streams are created in a loop and never closed",
        "other processes on the device hold them",
        do=_CAPACITY,
    ),
    "ACL_ERROR_RT_NO_NOTIFY_RESOURCE": explained(
        OutOfMemoryError,
        "The device has no free notify left.",
        "notifies are created and never destroyed",
        "many communicators exist at once",
        do=_CAPACITY,
    ),
    "ACL_ERROR_RT_NO_MODEL_RESOURCE": explained(
        OutOfMemoryError,
        "The device has no room for another model or captured graph.",
        "too many are loaded at once",
        do=_CAPACITY,
    ),
    "ACL_ERROR_RT_NO_CDQ_RESOURCE": explained(
        OutOfMemoryError,
        "The device has no free command queue of this kind left.",
        "too many are open at once",
        do=_CAPACITY,
    ),
    "ACL_ERROR_RT_OVER_LIMIT": explained(
        OutOfMemoryError,
        "A limit on the number of objects is reached.",
        "objects are created and never closed",
        do=_CAPACITY,
    ),
    "ACL_ERROR_RT_QUEUE_EMPTY": explained(
        AclError,
        "The queue has nothing to give.",
        "the producer has not put anything into it yet",
        do="wait for the producer, or ask again later.",
    ),
    "ACL_ERROR_RT_QUEUE_FULL": explained(
        AclError,
        "The queue takes no more.",
        "the consumer is slower than the producer, or has ended",
        do="wait until the consumer has taken something.",
    ),
    "ACL_ERROR_RT_REPEATED_INIT": explained(
        ContextError,
        "Something was initialised twice.",
        "two parts of the process initialise the same thing",
        do="initialise it once.",
    ),
    "ACL_ERROR_RT_AIVEC_OVER_FLOW": explained(
        KernelError,
        "A kernel on the vector cores met a number out of range.",
        "values beyond what float16 can hold",
        do=_OVERFLOW,
    ),
    "ACL_ERROR_RT_OVER_FLOW": explained(
        KernelError,
        "A kernel met a number out of range.",
        "values beyond what float16 can hold",
        do=_OVERFLOW,
    ),
    "ACL_ERROR_RT_DEVICE_OOM": explained(
        OutOfMemoryError,
        "Software on the device itself ran out of memory.",
        "too many processes use the device",
        do=_RELEASE,
    ),
    "ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP": explained(
        UnsupportedError,
        "A captured graph contains an operator that cannot be updated.",
        "the operator's kernel has no updatable form",
        do="capture the graph again instead of updating it.",
    ),
    "ACL_ERROR_RT_TIMEOUT": explained(
        DeadlineError,
        "Something took longer than allowed.",
        "the device is being recovered or is very busy",
        do="the work is still queued; wait again with more time, or without a timeout.",
    ),
    "ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED": explained(
        UnsupportedError,
        "The devices are connected in a way that this does not work over.",
        "the devices are in different servers, or have no direct link",
        do="choose devices that `npu-smi info -t topo` shows as directly connected.",
    ),
}
