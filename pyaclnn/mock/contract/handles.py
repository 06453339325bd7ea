# SPDX-License-Identifier: Apache-2.0
"""Rules about handles: their life, their kind, and their destruction."""

from __future__ import annotations

from .rule import Rule

__all__ = ["HANDLES"]

HANDLES = (
    Rule(
        id="handle-unknown",
        title="a handle that CANN never gave out",
        explanation="The value passed as a handle is none: an uninitialised variable, a pointer to "
        "a handle instead of the handle, or a number from elsewhere. CANN dereferences it.",
        fix="pass the handle itself, as the creating function returned it",
        source="CANN: runtime, stream and event handles are checked by a magic word (107017)",
        wrong="aclrtSynchronizeStream((aclrtStream)&stream);",
        right="aclrtSynchronizeStream(stream);",
    ),
    Rule(
        id="handle-destroyed",
        title="a handle is used after it was destroyed",
        explanation="The object is gone. CANN 9.1 notices for streams and events while their "
        "memory happens to be readable (107017); elsewhere it reads freed memory.",
        fix="destroy an object after its last use, and forget its handle then",
        source="CANN: runtime, magic word in stream and event handles (107017)",
        wrong="aclrtDestroyStream(other);\naclrtSynchronizeStream(other);\nother = NULL;",
        right="aclrtSynchronizeStream(other);\naclrtDestroyStream(other);\nother = NULL;",
    ),
    Rule(
        id="handle-of-another-kind",
        title="a handle of another kind of object",
        explanation="The handle is alive, but not of the kind this parameter takes: a tensor where "
        "an array belongs, an event where a stream belongs. A cast hid it from the compiler.",
        fix="pass an object of the parameter's own kind, without a cast",
        source="CANN: opbase common/api/acl_op_api.cpp; no kind is checked there",
        wrong="uint64_t count;\naclGetIntArraySize((const aclIntArray *)x, &count);",
        right="uint64_t count;\naclGetIntArraySize(shape, &count);",
    ),
    Rule(
        id="destroyed-twice",
        title="an object is destroyed a second time",
        explanation="The first call ended it; the second frees freed memory, which corrupts the "
        "heap or destroys an object that was made in between.",
        fix="destroy every object once, and set its handle to NULL then",
        source="CANN: opbase common/utils/common_types.cpp (undefined behaviour)",
        wrong="aclDestroyTensor(x);\naclDestroyTensor(x);\nx = NULL;",
        right="aclDestroyTensor(x);\nx = NULL;",
    ),
    Rule(
        id="list-element-destroyed",
        title="an element of a list is destroyed beside its list",
        explanation="aclCreateTensorList and aclCreateScalarList take their elements over: "
        "destroying the list destroys them. Destroying one separately frees it twice.",
        fix="destroy the list alone",
        source="CANN: opbase common/api/acl_op_api.cpp aclDestroyTensorList",
        wrong="const aclTensor *elements[] = {x, y};\n"
        "aclTensorList *list = aclCreateTensorList(elements, 2);\n"
        "aclDestroyTensorList(list);\naclDestroyTensor(x);\nx = y = NULL;",
        right="const aclTensor *elements[] = {x, y};\n"
        "aclTensorList *list = aclCreateTensorList(elements, 2);\n"
        "aclDestroyTensorList(list);\nx = y = NULL;",
    ),
    Rule(
        id="primary-context-destroyed",
        title="a device's primary context is destroyed",
        explanation="aclrtSetDevice made it and shares it among all threads; aclrtDestroyContext "
        "is for contexts from aclrtCreateContext and answers 107002.",
        fix="call aclrtResetDevice instead",
        source="CANN: runtime, aclrtDestroyContext (107002)",
        wrong="aclrtContext context;\naclrtGetCurrentContext(&context);\n"
        "aclrtDestroyContext(context);",
        right="aclrtContext context;\naclrtCreateContext(&context, 0);\n"
        "aclrtDestroyContext(context);\naclrtSetCurrentContext(primary);",
    ),
)
