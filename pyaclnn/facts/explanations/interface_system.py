# SPDX-License-Identifier: Apache-2.0
"""Codes 200xxx, 300xxx and 500xxx: what the host interface cannot do (CANN: acl/acl_base.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import (
    ContextError,
    DeviceLostError,
    InvalidArgumentError,
    OutOfMemoryError,
    UnsupportedError,
)
from pyaclnn.facts.explanations.entry import LOG, OLD, RELEASE, says

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.explanations.entry import Explanation

__all__ = ["INTERFACE_SYSTEM"]


INTERFACE_SYSTEM: Final[Mapping[str, Explanation]] = {
    "ACL_ERROR_BAD_ALLOC": says(
        "The host ran out of memory.",
        "the machine's or the container's memory limit is reached",
        do=RELEASE,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_API_NOT_SUPPORT": says(
        "The function exists but does nothing on this chip or in this mode.",
        "it belongs to another product line",
        "the program runs on the device side, or against stub libraries",
        do=OLD,
        raises=UnsupportedError,
    ),
    "ACL_ERROR_INVALID_DEVICE": says(
        "There is no device of that number.",
        "ASCEND_RT_VISIBLE_DEVICES hides it: visible devices are numbered from 0 again",
        do="device ids run from 0 to device_count() - 1; ASCEND_RT_VISIBLE_DEVICES renumbers them.",
        now="ACL_ERROR_RT_INVALID_DEVICEID",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_MEMORY_ADDRESS_UNALIGNED": says(
        "A memory address is not aligned as it must be.",
        "an address inside an allocation was passed where its start is needed",
        do="pass an address as it was allocated, or one that is a multiple of 64.",
        raises=InvalidArgumentError,
    ),
    "ACL_ERROR_RESOURCE_NOT_MATCH": says(
        "Two objects that were given together do not belong together.",
        "a stream of one context with an event or a model of another",
        do="use objects of one context in one call.",
        raises=ContextError,
    ),
    "ACL_ERROR_INVALID_RESOURCE_HANDLE": says(
        "A handle does not name a living object.",
        "the object was destroyed",
        "the handle is of another kind, or was never valid",
        do="use objects of one device and close them before the device.",
        raises=ContextError,
    ),
    "ACL_ERROR_FEATURE_UNSUPPORTED": says(
        "What was asked for is not supported here.",
        "a flag or mode that this chip or version lacks",
        "peer access with flags other than 0",
        do=OLD,
        raises=UnsupportedError,
    ),
    "ACL_ERROR_PROF_MODULES_UNSUPPORTED": says(
        "One of the parts to be profiled cannot be profiled here.",
        "the chip lacks its counters",
        do="profile fewer parts.",
        raises=UnsupportedError,
    ),
    "ACL_ERROR_STORAGE_OVER_LIMIT": says(
        "A limit of the hardware's storage is exceeded.",
        "too many objects of one kind exist at once",
        do=RELEASE,
        raises=OutOfMemoryError,
    ),
    "ACL_ERROR_INTERNAL_ERROR": says(
        "CANN failed inside, without saying more by its code.",
        "aclInit could not read the chip's name: no driver, no device nodes, no permission",
        "versions of CANN's packages that do not fit together",
        do="run `pyaclnn doctor`: it names the first layer that is broken.",
    ),
    "ACL_ERROR_FAILURE": says(
        "Something failed that has no code of its own.",
        "a Python package that CANN's operator compiler needs is missing",
        "a part that CANN started has ended",
        do=LOG,
    ),
    "ACL_ERROR_GE_FAILURE": says(
        "The graph engine failed with a code that the host interface does not pass on.",
        "an offline model that does not fit this CANN",
        do=LOG,
    ),
    "ACL_ERROR_RT_FAILURE": says(
        "The runtime failed with a code that the host interface does not pass on.",
        "a driver that does not fit this CANN",
        do=LOG,
    ),
    "ACL_ERROR_DRV_FAILURE": says(
        "The driver failed.",
        "device nodes are missing or may not be opened",
        "driver and firmware do not fit together",
        do="check that the device nodes exist, that this user may open them, and that no other "
        "container holds the device.",
        raises=DeviceLostError,
    ),
    "ACL_ERROR_PROFILING_FAILURE": says(
        "The profiler failed.",
        "its output folder cannot be written",
        "another profiler holds the device",
        do=LOG,
    ),
}
