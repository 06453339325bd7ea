# SPDX-License-Identifier: Apache-2.0
"""Contexts: one current one a thread, and what needs it."""

from __future__ import annotations

from typing import Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

pytestmark = pytest.mark.usefixtures("context")


def current() -> Any:
    """The thread's current context, or its refusal."""
    handle = ffi.new("aclrtContext *")
    return lib.aclrtGetCurrentContext(handle) or handle[0]


def test_a_new_context_is_current(context: Any) -> None:
    other = npu.value("aclrtCreateContext", "aclrtContext", 1)
    assert current() == other
    npu.call("aclrtDestroyContext", other)
    assert current() == 107002
    npu.call("aclrtSetCurrentContext", context)
    assert current() == context


def test_a_thread_inherits_nothing(context: Any) -> None:
    def body() -> Any:
        npu.call("aclrtSetCurrentContext", context)
        return current()

    assert npu.in_thread(current) == 107002
    assert npu.in_thread(body) == context


def test_set_device_makes_the_primary_context_current(context: Any) -> None:
    npu.call("aclrtSetDevice", 1)
    primary = current()
    assert primary != context
    assert lib.aclrtDestroyContext(primary) == 107002
    npu.call("aclrtResetDevice", 1)
    assert current() == primary, "the reference that is left keeps it, and current"
    npu.call("aclrtSetCurrentContext", context)


def test_a_destroyed_context_takes_its_streams_and_events_along(context: Any) -> None:
    other = npu.value("aclrtCreateContext", "aclrtContext", 1)
    stream, event = npu.stream(), npu.event()
    npu.call("aclrtDestroyContext", other)
    npu.call("aclrtSetCurrentContext", context)
    assert lib.aclrtSynchronizeStream(stream) == 107017
    assert lib.aclrtSynchronizeEvent(event) == 107017
    assert lib.aclrtDestroyEvent(event) == 107017


@pytest.mark.parametrize(
    ("function", "arguments", "code"),
    [
        ("aclrtCreateContext", (NULL, 1), 100000),
        ("aclrtDestroyContext", (NULL,), 100000),
        ("aclrtSetCurrentContext", (NULL,), 100000),
        ("aclrtGetCurrentContext", (NULL,), 100000),
        ("aclrtCreateContext", (ffi.new("aclrtContext *"), 7), 107001),
        ("aclrtDestroyContext", (ffi.cast("void *", 0x1234),), 107002),
        ("aclrtSetCurrentContext", (ffi.cast("void *", 0x1234),), 107002),
    ],
)
def test_code(function: str, arguments: tuple[Any, ...], code: int) -> None:
    assert getattr(lib, function)(*arguments) == code


def test_destroyed_twice(context: Any) -> None:
    other = npu.value("aclrtCreateContext", "aclrtContext", 1)
    npu.call("aclrtDestroyContext", other)
    assert lib.aclrtDestroyContext(other) == 107002
    assert lib.aclrtSetCurrentContext(other) == 107002
    npu.call("aclrtSetCurrentContext", context)


OUT = ffi.new("void **")
SIZE = ffi.new("size_t *")
NUMBER = ffi.new("int32_t *")
ANY = ffi.cast("void *", 0x1000)
NEEDS_A_CONTEXT: list[tuple[str, tuple[Any, ...]]] = [
    ("aclrtMalloc", (OUT, 8, 0)),
    ("aclrtMallocHost", (OUT, 8)),
    ("aclrtMemcpy", (ffi.cast("void *", 0x1), 8, ANY, 8, 1)),
    ("aclrtMemset", (ANY, 8, 0, 8)),
    ("aclrtMemcpyAsync", (ffi.cast("void *", 0x1), 8, ANY, 8, 1, NULL)),
    ("aclrtCreateStream", (OUT,)),
    ("aclrtCreateEvent", (OUT,)),
    ("aclrtSynchronizeStream", (NULL,)),
    ("aclrtSynchronizeDevice", ()),
    ("aclrtGetMemInfo", (lib.ACL_HBM_MEM, SIZE, SIZE)),
    ("aclrtGetCurrentContext", (OUT,)),
    ("aclrtCtxSetSysParamOpt", (lib.ACL_OPT_DETERMINISTIC, 1)),
]


@pytest.mark.parametrize(("function", "arguments"), NEEDS_A_CONTEXT)
def test_needs_a_context(function: str, arguments: tuple[Any, ...]) -> None:
    def body() -> tuple[int, int, str]:
        return getattr(lib, function)(*arguments), lib.aclrtGetLastError(0), npu.message()

    code, last, text = npu.in_thread(body)
    assert (code, last) == (107002, 107002)
    assert "no current context" in text


def test_asking_for_the_device_without_a_context_leaves_no_trace() -> None:
    def body() -> tuple[int, int, int, str]:
        before = lib.aclrtFree(ffi.cast("void *", 0x1234))
        npu.message()
        code = lib.aclrtGetDevice(NUMBER)
        return before, code, lib.aclrtGetLastError(0), npu.message()

    # An earlier failure is still the last error.
    assert npu.in_thread(body) == (107000, 107002, 107000, "")


def test_needs_no_context() -> None:
    device, host = npu.device_memory(8), npu.pinned(8)

    def body() -> list[int]:
        made = npu.tensor((2,), device)
        return [
            lib.aclDestroyTensor(made),
            lib.aclrtGetDeviceCount(ffi.new("uint32_t *")),
            lib.aclrtGetRunMode(ffi.new("aclrtRunMode *")),
            lib.aclrtGetVersion(NUMBER, NUMBER, NUMBER),
            lib.aclrtPeekAtLastError(0),
            lib.aclrtFree(device),
            lib.aclrtFreeHost(host),
        ]

    assert npu.in_thread(body) == [0] * 7


def test_system_parameters_of_a_context_start_as_those_of_the_process(context: Any) -> None:
    value = ffi.new("int64_t *")
    npu.call("aclrtSetSysParamOpt", lib.ACL_OPT_DETERMINISTIC, 1)
    other = npu.value("aclrtCreateContext", "aclrtContext", 1)
    npu.call("aclrtSetSysParamOpt", lib.ACL_OPT_DETERMINISTIC, 0)
    npu.call("aclrtCtxGetSysParamOpt", lib.ACL_OPT_DETERMINISTIC, value)
    assert value[0] == 1
    npu.call("aclrtDestroyContext", other)
    npu.call("aclrtSetCurrentContext", context)
    npu.call("aclrtCtxGetSysParamOpt", lib.ACL_OPT_DETERMINISTIC, value)
    assert value[0] == 0
    assert lib.aclrtSetSysParamOpt(ffi.cast("aclSysParamOpt", 77), 1) == 107000
    assert lib.aclrtGetSysParamOpt(lib.ACL_OPT_DETERMINISTIC, NULL) == 100000


def test_a_context_has_an_overflow_mode_of_its_own(context: Any) -> None:
    def mode() -> int:
        return int(npu.value("aclrtGetDeviceSatMode", "aclrtFloatOverflowMode"))

    assert mode() == lib.ACL_RT_OVERFLOW_MODE_INFNAN
    npu.call("aclrtSetDeviceSatMode", lib.ACL_RT_OVERFLOW_MODE_SATURATION)
    other = npu.value("aclrtCreateContext", "aclrtContext", 1)
    assert mode() == lib.ACL_RT_OVERFLOW_MODE_INFNAN
    npu.call("aclrtDestroyContext", other)
    npu.call("aclrtSetCurrentContext", context)
    assert mode() == lib.ACL_RT_OVERFLOW_MODE_SATURATION
    assert lib.aclrtSetDeviceSatMode(lib.ACL_RT_OVERFLOW_MODE_UNDEF) == 107000
    assert lib.aclrtGetDeviceSatMode(NULL) == 100000
    assert npu.in_thread(lambda: lib.aclrtSetDeviceSatMode(1)) == 107002


def test_a_limit_for_waits_is_taken() -> None:
    assert lib.aclrtSetOpWaitTimeout(1) == 0
