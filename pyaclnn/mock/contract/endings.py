# SPDX-License-Identifier: Apache-2.0
"""Rules about objects that are left at the end."""

from __future__ import annotations

from .rule import Rule

__all__ = ["ENDINGS"]

_MAKE = "aclrtEvent made;\naclrtCreateEvent(&made);\n"

ENDINGS = (
    Rule(
        id="memory-alive-at-reset",
        title="device memory is still allocated when the device closes",
        explanation="The last aclrtResetDevice leaves allocations to the driver, which frees them "
        "when the process ends: until then they are lost.",
        fix="free all device memory before the last aclrtResetDevice",
        source="CANN: aclrtResetDevice",
        wrong="void *lost;\naclrtSetDevice(1);\n"
        "aclrtMalloc(&lost, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);\naclrtResetDevice(1);\n"
        "aclrtSetCurrentContext(primary);",
        right="void *lost;\naclrtSetDevice(1);\n"
        "aclrtMalloc(&lost, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);\naclrtFree(lost);\n"
        "aclrtResetDevice(1);\naclrtSetCurrentContext(primary);",
    ),
    Rule(
        id="alive-at-finalize",
        title="something is still alive at aclFinalize",
        explanation="The documented order is: destroy events and streams, then contexts, reset "
        "the devices, then aclFinalize. What is left is leaked, or destroyed after the runtime.",
        fix="destroy it, or reset its device, before aclFinalize",
        source="CANN: aclFinalize",
        wrong=_MAKE + "stage_close();\naclFinalize();\naclrtDestroyEvent(made);\n"
        "aclrtResetDevice(0);",
        right=_MAKE + "stage_close();\naclrtDestroyEvent(made);\naclrtResetDevice(0);\n"
        "aclFinalize();",
        alone=True,
    ),
    Rule(
        id="alive-at-exit",
        title="something is still alive when the process ends",
        explanation="The process ends without giving everything back. On a device that other "
        "processes share, streams and memory stay taken until the driver notices.",
        fix="destroy it, or reset its device, before the process ends",
        source="CANN: aclFinalize",
        wrong="stage_close();",
        right="stage_close();\naclrtResetDevice(0);\naclFinalize();",
        alone=True,
    ),
    Rule(
        id="finalized-twice",
        title="aclFinalize is called a second time",
        explanation="aclFinalize ignores how often aclInit was called and tears down at once; "
        "again it answers 100037.",
        fix="call aclFinalize once, and only if this program's own aclInit answered 0",
        source="CANN: runtime aclrt_impl/acl.cpp (100037)",
        wrong="stage_close();\naclrtResetDevice(0);\naclFinalize();\naclFinalize();",
        right="stage_close();\naclrtResetDevice(0);\naclFinalize();",
        alone=True,
    ),
)
