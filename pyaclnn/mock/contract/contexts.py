# SPDX-License-Identifier: Apache-2.0
"""Rules about contexts, threads and devices."""

from __future__ import annotations

from .rule import Rule

__all__ = ["CONTEXTS"]

CONTEXTS = (
    Rule(
        id="no-context",
        title="a thread without current context calls CANN",
        explanation="Every thread has a current context of its own and inherits none. What needs "
        "a device answers 107002 before aclrtSetDevice or aclrtSetCurrentContext on that thread.",
        fix="call aclrtSetDevice or aclrtSetCurrentContext first, on every thread",
        source="CANN: runtime, ACL_ERROR_RT_CONTEXT_NULL (107002)",
        wrong="in_thread(synchronize_device);",
        right="in_thread(set_context_and_synchronize);",
    ),
    Rule(
        id="context-gone",
        title="a thread goes on with a context that was destroyed",
        explanation="Another thread destroyed the context, or reset the device, that is current "
        "here. The thread must choose another one (107002).",
        fix="let the threads that use a context end before it is destroyed",
        source="CANN: runtime, ACL_ERROR_RT_CONTEXT_NULL (107002)",
        wrong="aclrtContext context;\naclrtCreateContext(&context, 0);\n"
        "aclrtDestroyContext(context);\naclrtSynchronizeDevice();\n"
        "aclrtSetCurrentContext(primary);",
        right="aclrtContext context;\naclrtCreateContext(&context, 0);\naclrtSynchronizeDevice();\n"
        "aclrtDestroyContext(context);\naclrtSetCurrentContext(primary);",
    ),
    Rule(
        id="stream-of-another-context",
        title="a stream of another context",
        explanation="Work is queued on streams of the thread's current context only (107003). "
        "Typically the stream was made by a thread with another context.",
        fix="make the stream's context current first, by aclrtSetCurrentContext",
        source="CANN: runtime, ACL_ERROR_RT_STREAM_CONTEXT (107003)",
        wrong="aclrtContext context;\naclrtCreateContext(&context, 0);\n"
        "aclrtMemsetAsync(device, BYTES, 0, BYTES, stream);\naclrtDestroyContext(context);\n"
        "aclrtSetCurrentContext(primary);",
        right="aclrtContext context;\naclrtCreateContext(&context, 0);\n"
        "aclrtSetCurrentContext(primary);\n"
        "aclrtMemsetAsync(device, BYTES, 0, BYTES, stream);\naclrtDestroyContext(context);",
    ),
    Rule(
        id="stream-of-another-device",
        title="a stream of another device",
        explanation="The thread's current device and the stream's device differ (107003): "
        "aclrtSetDevice was called between making the stream and using it.",
        fix="make the stream's device current first, by aclrtSetDevice or aclrtSetCurrentContext",
        source="CANN: runtime, ACL_ERROR_RT_STREAM_CONTEXT (107003)",
        wrong="aclrtSetDevice(1);\naclrtRecordEvent(event, stream);\naclrtResetDevice(1);\n"
        "aclrtSetCurrentContext(primary);",
        right="aclrtSetDevice(1);\naclrtSetCurrentContext(primary);\n"
        "aclrtRecordEvent(event, stream);\naclrtSetDevice(1);\naclrtResetDevice(1);\n"
        "aclrtResetDevice(1);\naclrtSetCurrentContext(primary);",
    ),
    Rule(
        id="device-reset-too-often",
        title="a device is reset more often than it was set",
        explanation="aclrtSetDevice counts and aclrtResetDevice counts back; one too many answers "
        "507007, and takes the device from whoever else uses it before that.",
        fix="call aclrtResetDevice once for every aclrtSetDevice",
        source="CANN: runtime, ACL_ERROR_RT_CONTEXT_RELEASE_ERROR (507007)",
        wrong="aclrtSetDevice(1);\naclrtResetDevice(1);\naclrtResetDevice(1);\n"
        "aclrtSetCurrentContext(primary);",
        right="aclrtSetDevice(1);\naclrtResetDevice(1);\naclrtSetCurrentContext(primary);",
    ),
)
