# SPDX-License-Identifier: Apache-2.0
"""Streams: handles, timeouts, order, and work that runs only when it must."""

from __future__ import annotations

from typing import Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

pytestmark = pytest.mark.usefixtures("context")
STATUS = ffi.new("aclrtStreamStatus *")


def test_a_destroyed_stream_is_recognised() -> None:
    stream = npu.stream()
    npu.call("aclrtDestroyStream", stream)
    assert npu.stream() != stream, "a handle is never given out twice"
    for answer in (
        lib.aclrtDestroyStream(stream),
        lib.aclrtDestroyStreamForce(stream),
        lib.aclrtSynchronizeStream(stream),
        lib.aclrtStreamQuery(stream, STATUS),
        lib.aclrtStreamAbort(stream),
        lib.aclrtRecordEvent(npu.event(), stream),
        lib.aclrtSubscribeReport(1, stream),
    ):
        assert answer == 107017
    assert "no live stream" in npu.message()


@pytest.mark.parametrize("address", [0x1, 0x7FFF00001000, 2**64 - 1])
def test_what_never_was_a_stream_is_refused(address: int) -> None:
    assert lib.aclrtSynchronizeStream(ffi.cast("void *", address)) == 107017


def test_an_event_is_no_stream() -> None:
    assert lib.aclrtSynchronizeStream(npu.event()) == 107017


def test_a_stream_of_another_context(context: Any) -> None:
    stream, event, memory = npu.stream(), npu.event(), npu.device_memory(64)
    host = npu.pinned(64)
    other = npu.value("aclrtCreateContext", "aclrtContext", 1)
    refused = [
        lib.aclrtDestroyStream(stream),
        lib.aclrtDestroyStreamForce(stream),
        lib.aclrtRecordEvent(event, stream),
        lib.aclrtStreamWaitEvent(stream, event),
        lib.aclrtMemcpyAsync(memory, 8, host, 8, 1, stream),
        lib.aclrtMemsetAsync(memory, 8, 0, 8, stream),
        lib.aclrtCmoAsync(memory, 8, lib.ACL_RT_CMO_TYPE_PREFETCH, stream),
        lib.aclrtSetStreamFailureMode(stream, 0),
        lib.aclrtSetStreamOverflowSwitch(stream, 1),
    ]
    assert refused == [107003] * len(refused)
    assert lib.aclrtSynchronizeStream(stream) == 0, "synchronizing is allowed from everywhere"
    assert lib.aclrtStreamQuery(stream, STATUS) == 0
    npu.call("aclrtDestroyContext", other)
    npu.call("aclrtSetCurrentContext", context)
    npu.call("aclrtFree", memory)
    npu.call("aclrtFreeHost", host)


@pytest.mark.parametrize(
    ("function", "arguments", "code"),
    [
        ("aclrtCreateStream", (NULL,), 100000),
        ("aclrtCreateStreamWithConfig", (NULL, 0, 0), 100000),
        ("aclrtDestroyStream", (NULL,), 100000),
        ("aclrtStreamQuery", (NULL, NULL), 100000),
        ("aclrtStreamGetId", (NULL, NULL), 100000),
        ("aclrtSynchronizeStreamWithTimeout", (NULL, 0), 107000),
        ("aclrtSynchronizeStreamWithTimeout", (NULL, -2), 107000),
        ("aclrtSynchronizeStreamWithTimeout", (NULL, -1), 0),
        ("aclrtSynchronizeStreamWithTimeout", (NULL, 5), 0),
        ("aclrtSetStreamFailureMode", (NULL, 2), 107000),
        ("aclrtSetStreamFailureMode", (NULL, 0), 0),
        ("aclrtSynchronizeStream", (NULL,), 0),
        ("aclrtDestroyStreamConfigHandle", (NULL,), 100000),
        ("aclrtCreateStreamV2", (ffi.new("aclrtStream *"), NULL), 100000),
    ],
)
def test_code(function: str, arguments: tuple[Any, ...], code: int) -> None:
    assert getattr(lib, function)(*arguments) == code


def test_stream_from_a_configuration() -> None:
    configuration = lib.aclrtCreateStreamConfigHandle()
    flag = ffi.new("size_t *", lib.ACL_STREAM_FAST_SYNC)
    attribute = lib.ACL_RT_STREAM_FLAG
    assert lib.aclrtSetStreamConfigOpt(configuration, attribute, flag, 3) == 100000
    assert lib.aclrtSetStreamConfigOpt(configuration, attribute, NULL, 8) == 100000
    npu.call("aclrtSetStreamConfigOpt", configuration, attribute, flag, 8)
    made = npu.value("aclrtCreateStreamV2", "aclrtStream", configuration)
    npu.call("aclrtDestroyStreamConfigHandle", configuration)
    npu.call("aclrtDestroyStream", made)


def test_streams_have_ids_and_switches_of_their_own() -> None:
    one, other = npu.stream(), npu.stream()
    number, flag = ffi.new("int32_t[2]"), ffi.new("uint32_t *")
    npu.call("aclrtStreamGetId", one, number)
    npu.call("aclrtStreamGetId", other, number + 1)
    assert number[0] != number[1]
    npu.call("aclrtSetStreamOverflowSwitch", one, 1)
    npu.call("aclrtGetStreamOverflowSwitch", one, flag)
    assert flag[0] == 1
    npu.call("aclrtGetStreamOverflowSwitch", other, flag)
    assert flag[0] == 0


def test_synchronizing_with_a_blocked_stream_times_out() -> None:
    stream = npu.stream()
    never = npu.event(lib.ACL_EVENT_SYNC, "aclrtCreateEventWithFlag")
    npu.call("aclrtStreamWaitEvent", stream, never)
    assert lib.aclrtSynchronizeStreamWithTimeout(stream, 5) == 507046
    assert lib.aclrtSynchronizeDeviceWithTimeout(5) == 507046
    npu.call("aclrtStreamQuery", stream, STATUS)
    assert STATUS[0] == lib.ACL_STREAM_STATUS_NOT_READY
    npu.call("aclrtDestroyStreamForce", stream)


class TestAsynchrony:
    """Queued work does not run before something waits for it."""

    def test_a_query_tells_how_things_stand_and_lets_them_go_on(
        self, problem: npu.RmsNormGrad
    ) -> None:
        before = problem.dx
        problem.launch()
        assert problem.dx == before
        npu.call("aclrtStreamQuery", NULL, STATUS)
        assert STATUS[0] == lib.ACL_STREAM_STATUS_NOT_READY == 1
        npu.call("aclrtStreamQuery", NULL, STATUS)
        assert STATUS[0] == lib.ACL_STREAM_STATUS_COMPLETE == 0
        assert problem.dx != before

    @pytest.mark.parametrize(
        ("function", "arguments"),
        [
            ("aclrtSynchronizeStream", (NULL,)),
            ("aclrtSynchronizeStreamWithTimeout", (NULL, 10000)),
            ("aclrtSynchronizeDevice", ()),
            ("aclrtSynchronizeDeviceWithTimeout", (10000,)),
        ],
    )
    def test_synchronizing_shows_the_result(
        self, problem: npu.RmsNormGrad, function: str, arguments: tuple[Any, ...]
    ) -> None:
        before = problem.dx
        problem.launch()
        assert problem.dx == before == b"\xff\x7f" * 32
        npu.call(function, *arguments)
        assert problem.dx == bytes(64), "all ones give a gradient of zero"

    def test_other_streams_do_not_go_on(self, problem: npu.RmsNormGrad) -> None:
        stream, before = npu.stream(), problem.dx
        problem.launch(stream)
        npu.call("aclrtSynchronizeStream", NULL)
        assert problem.dx == before
        npu.call("aclrtDestroyStream", stream)
        assert problem.dx == bytes(64), "destroying waits"

    def test_force_does_not_wait(self, problem: npu.RmsNormGrad) -> None:
        stream, before = npu.stream(), problem.dx
        problem.launch(stream)
        npu.call("aclrtDestroyStreamForce", stream)
        npu.call("aclrtSynchronizeDevice")
        assert problem.dx == before

    def test_an_abort_is_told_to_whoever_waits_next(self, problem: npu.RmsNormGrad) -> None:
        stream, before = npu.stream(), problem.dx
        event = npu.event()
        problem.launch(stream)
        npu.call("aclrtRecordEvent", event, stream)
        npu.call("aclrtStreamAbort", stream)
        assert lib.aclrtSynchronizeEvent(event) == 107023
        assert lib.aclrtSynchronizeStream(stream) == 107023
        assert lib.aclrtSynchronizeStream(stream) == 0
        assert problem.dx == before

    def test_tasks_of_a_stream_run_in_order(self) -> None:
        memory, host = npu.device_memory(4), npu.pinned(4)
        for value in (1, 2, 3):
            npu.call("aclrtMemsetAsync", memory, 4, value, 4, NULL)
        npu.call("aclrtMemcpyAsync", host, 4, memory, 4, 2, NULL)
        npu.call("aclrtMemsetAsync", memory, 4, 9, 4, NULL)
        npu.call("aclrtSynchronizeStream", NULL)
        assert [host[i] for i in range(4)] == [3] * 4
        assert npu.read(memory, 4) == b"\x09" * 4
        npu.call("aclrtFree", memory)
        npu.call("aclrtFreeHost", host)


def test_streams_are_limited(programs: Any) -> None:
    result = programs.python(
        "call('aclrtSetDevice', 0); made = [stream() for _ in range(511)]\n"
        "print(lib.aclrtCreateStream(ffi.new('aclrtStream *')), message())\n"
        "call('aclrtDestroyStream', made.pop()); stream(); call('aclrtResetDevice', 0)\n"
        "call('aclrtSetDevice', 0); stream()",
        PYACLNN_MOCK_SOC="Ascend310B1",
    )
    assert result.stdout.startswith("207008 "), result.stderr
    assert result.returncode == 0, result.stderr
