# SPDX-License-Identifier: Apache-2.0
"""Events: what the three constructors differ in, order between streams, times."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from .programs import Programs

pytestmark = pytest.mark.usefixtures("context")
SYNC, TIME_LINE = lib.ACL_EVENT_SYNC, lib.ACL_EVENT_TIME_LINE
WITH_FLAG, EX_WITH_FLAG = "aclrtCreateEventWithFlag", "aclrtCreateEventExWithFlag"


def query(event: Any) -> tuple[int, int]:
    """Give both answers about an event: the current one and the deprecated one."""
    status, old = ffi.new("aclrtEventRecordedStatus *"), ffi.new("aclrtEventStatus *")
    npu.call("aclrtQueryEventStatus", event, status)
    npu.call("aclrtQueryEvent", event, old)
    return status[0], old[0]


NOT_READY, COMPLETE = (0, 1), (1, 0)
"""The two enumerations count in opposite directions."""


@pytest.mark.parametrize(
    ("constructor", "flag", "answer", "wait"),
    [
        ("aclrtCreateEvent", None, NOT_READY, 107000),
        (WITH_FLAG, TIME_LINE, NOT_READY, 107000),
        (WITH_FLAG, SYNC, NOT_READY, 0),
        (EX_WITH_FLAG, SYNC, COMPLETE, 0),
        (EX_WITH_FLAG, TIME_LINE, COMPLETE, 0),
    ],
)
class TestNeverRecorded:
    def test_query(
        self, constructor: str, flag: int | None, answer: tuple[int, int], wait: int
    ) -> None:
        del wait
        assert query(npu.event(flag, constructor)) == answer

    def test_wait(
        self, constructor: str, flag: int | None, answer: tuple[int, int], wait: int
    ) -> None:
        del answer
        stream = npu.stream()
        assert lib.aclrtStreamWaitEvent(stream, npu.event(flag, constructor)) == wait
        blocks = (constructor, flag) == (WITH_FLAG, SYNC)
        assert lib.aclrtSynchronizeStreamWithTimeout(stream, 3) == (507046 if blocks else 0)
        npu.call("aclrtDestroyStreamForce", stream)

    def test_synchronize(
        self, constructor: str, flag: int | None, answer: tuple[int, int], wait: int
    ) -> None:
        del answer, wait
        assert lib.aclrtSynchronizeEvent(npu.event(flag, constructor)) == 0

    def test_elapsed_time(
        self, constructor: str, flag: int | None, answer: tuple[int, int], wait: int
    ) -> None:
        del answer, wait
        event = npu.event(flag, constructor)
        assert lib.aclrtEventElapsedTime(ffi.new("float *"), event, event) == 507000


def test_a_recorded_event_is_ready_when_it_was_reached() -> None:
    event, stream = npu.event(), npu.stream()
    npu.call("aclrtRecordEvent", event, stream)
    status = ffi.new("aclrtEventRecordedStatus *")
    npu.call("aclrtQueryEventStatus", event, status)
    assert status[0] == lib.ACL_EVENT_RECORDED_STATUS_NOT_READY == 0
    assert query(event) == COMPLETE


class TestElapsedTime:
    def test_codes(self) -> None:
        first, second, milliseconds = npu.event(), npu.event(), ffi.new("float *")
        stream = npu.stream()
        assert lib.aclrtEventElapsedTime(NULL, first, second) == 100000
        npu.call("aclrtRecordEvent", first, stream)
        assert lib.aclrtEventElapsedTime(milliseconds, first, second) == 107006
        npu.call("aclrtSynchronizeStream", stream)
        assert lib.aclrtEventElapsedTime(milliseconds, first, second) == 507000
        npu.call("aclrtRecordEvent", second, stream)
        assert lib.aclrtEventElapsedTime(milliseconds, first, second) == 107006
        npu.call("aclrtSynchronizeStream", stream)
        assert lib.aclrtEventElapsedTime(milliseconds, second, first) == 107007
        assert lib.aclrtEventElapsedTime(milliseconds, first, second) == 0
        assert 0 < milliseconds[0] < 10000

    def test_timestamp_is_in_microseconds(self) -> None:
        event, stamp = npu.event(), ffi.new("uint64_t *")
        assert lib.aclrtEventGetTimestamp(event, stamp) == 507000
        npu.call("aclrtRecordEvent", event, NULL)
        assert lib.aclrtEventGetTimestamp(event, stamp) == 107006
        npu.call("aclrtSynchronizeEvent", event)
        npu.call("aclrtEventGetTimestamp", event, stamp)
        assert stamp[0] > 0
        assert lib.aclrtEventGetTimestamp(event, NULL) == 100000


STREAM = ffi.cast("void *", 0)


@pytest.mark.parametrize(
    ("function", "arguments", "code"),
    [
        ("aclrtCreateEvent", (NULL,), 100000),
        (WITH_FLAG, (NULL, SYNC), 100000),
        (WITH_FLAG, (ffi.new("aclrtEvent *"), 0), 107000),
        (EX_WITH_FLAG, (ffi.new("aclrtEvent *"), 0x4000), 107000),
        ("aclrtDestroyEvent", (NULL,), 100000),
        ("aclrtRecordEvent", (NULL, STREAM), 100000),
        ("aclrtResetEvent", (NULL, STREAM), 100000),
        ("aclrtStreamWaitEvent", (STREAM, NULL), 100000),
        ("aclrtSynchronizeEvent", (NULL,), 100000),
        ("aclrtQueryEventStatus", (NULL, ffi.new("aclrtEventRecordedStatus *")), 100000),
        ("aclrtSynchronizeEvent", (ffi.cast("void *", 0x99),), 107017),
    ],
)
def test_code(function: str, arguments: tuple[Any, ...], code: int) -> None:
    assert getattr(lib, function)(*arguments) == code


def test_a_destroyed_event_is_recognised() -> None:
    event = npu.event()
    npu.call("aclrtRecordEvent", event, NULL)
    npu.call("aclrtDestroyEvent", event)
    assert lib.aclrtDestroyEvent(event) == 107017
    assert lib.aclrtRecordEvent(event, NULL) == 107017
    assert lib.aclrtSynchronizeEvent(event) == 107017
    npu.call("aclrtSynchronizeStream", NULL)


@pytest.mark.parametrize(("timeout", "code"), [(0, 107000), (-2, 107000), (-1, 0), (100000, 0)])
def test_timeouts(timeout: int, code: int) -> None:
    event = npu.event()
    npu.call("aclrtRecordEvent", event, NULL)
    assert lib.aclrtSynchronizeEventWithTimeout(event, timeout) == code


def test_an_event_behind_a_blocked_wait_times_out() -> None:
    stream, event = npu.stream(), npu.event()
    npu.call("aclrtStreamWaitEvent", stream, npu.event(SYNC, WITH_FLAG))
    npu.call("aclrtRecordEvent", event, stream)
    assert lib.aclrtSynchronizeEventWithTimeout(event, 3) == 507047
    npu.call("aclrtDestroyStreamForce", stream)
    assert lib.aclrtSynchronizeEvent(event) == 107023, "it is never reached now"


class Fills:
    """Two streams that write into one byte of device memory."""

    def __init__(self) -> None:
        self.one, self.other = npu.stream(), npu.stream()
        self.memory = npu.device_memory(1)
        npu.memory_to_free.append(self.memory)
        self.set(0, NULL)
        npu.call("aclrtSynchronizeStream", NULL)

    def set(self, value: int, stream: Any) -> None:
        npu.call("aclrtMemsetAsync", self.memory, 1, value, 1, stream)

    @property
    def value(self) -> int:
        return npu.read(self.memory, 1)[0]


class TestOrder:
    def test_a_wait_runs_what_stands_before_the_record_and_no_more(self) -> None:
        fills, event = Fills(), npu.event()
        fills.set(1, fills.one)
        npu.call("aclrtRecordEvent", event, fills.one)
        fills.set(2, fills.one)
        npu.call("aclrtStreamWaitEvent", fills.other, event)
        npu.call("aclrtSynchronizeStream", fills.other)
        assert fills.value == 1
        npu.call("aclrtSynchronizeStream", fills.one)
        assert fills.value == 2

    def test_a_wait_is_for_the_record_of_its_moment(self) -> None:
        fills, event = Fills(), npu.event()
        fills.set(1, fills.one)
        npu.call("aclrtRecordEvent", event, fills.one)
        npu.call("aclrtStreamWaitEvent", fills.other, event)
        fills.set(2, fills.one)
        npu.call("aclrtRecordEvent", event, fills.one)
        npu.call("aclrtSynchronizeStream", fills.other)
        assert fills.value == 1

    def test_waiting_on_the_host_runs_as_far_as_the_record(self) -> None:
        fills, event = Fills(), npu.event()
        fills.set(1, fills.one)
        npu.call("aclrtRecordEvent", event, fills.one)
        fills.set(2, fills.one)
        npu.call("aclrtSynchronizeEvent", event)
        assert fills.value == 1

    def test_a_destroyed_event_holds_nobody_up(self) -> None:
        fills, event = Fills(), npu.event(SYNC, WITH_FLAG)
        npu.call("aclrtStreamWaitEvent", fills.one, event)
        fills.set(1, fills.one)
        npu.call("aclrtDestroyEvent", event)
        npu.call("aclrtSynchronizeStream", fills.one)
        assert fills.value == 1

    def test_a_wait_that_came_first_is_ended_by_a_record_from_another_thread(
        self, context: Any
    ) -> None:
        fills, event = Fills(), npu.event(SYNC, WITH_FLAG)
        npu.call("aclrtStreamWaitEvent", fills.one, event)
        fills.set(3, fills.one)
        waits = ffi.new("aclrtEventWaitStatus *")
        npu.call("aclrtQueryEventWaitStatus", event, waits)
        assert waits[0] == lib.ACL_EVENT_WAIT_STATUS_NOT_READY

        def record() -> None:
            npu.call("aclrtSetCurrentContext", context)
            npu.call("aclrtRecordEvent", event, fills.other)

        timer = threading.Timer(0.05, record)
        timer.start()
        assert lib.aclrtSynchronizeStreamWithTimeout(fills.one, 100000) == 0
        timer.join()
        assert fills.value == 3
        npu.call("aclrtQueryEventWaitStatus", event, waits)
        assert waits[0] == lib.ACL_EVENT_WAIT_STATUS_COMPLETE

    def test_streams_that_wait_for_each_other_never_end(self) -> None:
        fills = Fills()
        first, second = npu.event(SYNC, WITH_FLAG), npu.event(SYNC, WITH_FLAG)
        npu.call("aclrtStreamWaitEvent", fills.one, first)
        npu.call("aclrtRecordEvent", second, fills.one)
        npu.call("aclrtStreamWaitEvent", fills.other, second)
        npu.call("aclrtRecordEvent", first, fills.other)
        for stream in (fills.one, fills.other):
            assert lib.aclrtSynchronizeStreamWithTimeout(stream, 3) == 507046
        npu.call("aclrtDestroyStreamForce", fills.one)
        assert lib.aclrtSynchronizeStreamWithTimeout(fills.other, 100000) == 0

    def test_a_stream_may_wait_for_itself(self) -> None:
        fills, event = Fills(), npu.event()
        npu.call("aclrtRecordEvent", event, fills.one)
        npu.call("aclrtStreamWaitEvent", fills.one, event)
        fills.set(1, fills.one)
        npu.call("aclrtSynchronizeStream", fills.one)
        assert fills.value == 1


class TestReset:
    def test_a_reset_is_reached_in_stream_order(self) -> None:
        event = npu.event(SYNC, WITH_FLAG)
        npu.call("aclrtRecordEvent", event, NULL)
        npu.call("aclrtSynchronizeStream", NULL)
        npu.call("aclrtResetEvent", event, NULL)
        assert query(event) == COMPLETE
        npu.call("aclrtSynchronizeStream", NULL)
        assert query(event) == NOT_READY

    def test_a_wait_after_a_reset_is_for_a_later_record(self) -> None:
        fills, event = Fills(), npu.event(SYNC, WITH_FLAG)
        npu.call("aclrtRecordEvent", event, fills.one)
        npu.call("aclrtResetEvent", event, fills.other)
        npu.call("aclrtStreamWaitEvent", fills.other, event)
        assert lib.aclrtSynchronizeStreamWithTimeout(fills.other, 3) == 507046
        npu.call("aclrtRecordEvent", event, fills.one)
        assert lib.aclrtSynchronizeStreamWithTimeout(fills.other, 100000) == 0

    def test_a_reset_does_not_forget_a_later_record(self) -> None:
        event, stream = npu.event(SYNC, WITH_FLAG), npu.stream()
        npu.call("aclrtRecordEvent", event, NULL)
        npu.call("aclrtResetEvent", event, stream)
        npu.call("aclrtRecordEvent", event, NULL)
        npu.call("aclrtSynchronizeStream", NULL)
        npu.call("aclrtSynchronizeStream", stream)
        assert query(event) == COMPLETE


def test_events_are_limited(programs: Programs) -> None:
    result = programs.python(
        "call('aclrtSetDevice', 0); context = value('aclrtCreateContext', 'aclrtContext', 0)\n"
        "made = [event() for _ in range(1023)]\n"
        "print(lib.aclrtCreateEvent(ffi.new('aclrtEvent *')), message())\n"
        "call('aclrtDestroyEvent', made.pop()); event()\n"
        "call('aclrtDestroyContext', context); call('aclrtSetDevice', 0); event()",
        PYACLNN_MOCK_SOC="Ascend310P3",
    )
    assert result.stdout.startswith("207007 "), result.stderr
    assert result.returncode == 0, result.stderr
