# SPDX-License-Identifier: Apache-2.0
"""Captured work: it runs when it is replayed, as often as that is asked for, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pyaclnn.mock

from . import npu
from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Callable

    from .programs import Programs

pytestmark = pytest.mark.usefixtures("context")
GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
NONE, ACTIVE, INVALIDATED = 0, 1, 2
BYTES = 64


def begin(stream: Any, mode: int = GLOBAL) -> None:
    npu.call("aclmdlRICaptureBegin", stream, mode)


def end(stream: Any) -> tuple[int, Any]:
    graph = ffi.new("aclmdlRI *")
    return lib.aclmdlRICaptureEnd(stream, graph), graph[0]


def info(stream: Any) -> tuple[int, Any]:
    status, graph = ffi.new("aclmdlRICaptureStatus *"), ffi.new("aclmdlRI *")
    npu.call("aclmdlRICaptureGetInfo", stream, status, graph)
    return int(status[0]), graph[0]


def fill(memory: Any, value: int, stream: Any) -> int:
    status: int = lib.aclrtMemsetAsync(memory, BYTES, value, BYTES, stream)
    return status


def captured(stream: Any, work: Callable[[], object]) -> Any:
    """Capture what a function gives a stream."""
    begin(stream)
    work()
    status, graph = end(stream)
    assert status == 0, npu.message()
    return graph


def replay(graph: Any, stream: Any) -> None:
    npu.call("aclmdlRIExecuteAsync", graph, stream)
    npu.call("aclrtSynchronizeStream", stream)


@pytest.fixture
def memory(context: Any) -> Any:  # noqa: ARG001 (it lies on its device)
    made = npu.device_memory(BYTES)
    npu.memory_to_free.append(made)
    npu.call("aclrtMemset", made, BYTES, 0, BYTES)
    return made


@pytest.fixture
def stream(context: Any) -> Any:  # noqa: ARG001 (it stands in it)
    return npu.stream()


@pytest.fixture
def other(context: Any) -> Any:  # noqa: ARG001 (it stands in it)
    return npu.stream()


class TestReplay:
    def test_nothing_runs_before_it(self, stream: Any, memory: Any) -> None:
        graph = captured(stream, lambda: fill(memory, 7, stream))
        npu.call("aclrtSynchronizeStream", stream)
        assert npu.read(memory, 1) == b"\0"
        replay(graph, stream)
        assert npu.read(memory, 1) == b"\7"
        npu.call("aclmdlRIDestroy", graph)

    def test_it_comes_behind_what_was_queued_and_before_what_is_queued_later(
        self, stream: Any, memory: Any
    ) -> None:
        host = npu.pinned(BYTES)

        def work() -> None:
            npu.call("aclrtMemcpyAsync", host, 1, memory, 1, npu.DEVICE_TO_HOST, stream)

        graph = captured(stream, work)
        for value in (3, 4):
            assert fill(memory, value, stream) == 0
            npu.call("aclmdlRIExecuteAsync", graph, stream)
            assert fill(memory, 9, stream) == 0
            npu.call("aclrtSynchronizeStream", stream)
            assert host[0] == value
        npu.call("aclmdlRIDestroy", graph)
        npu.call("aclrtFreeHost", host)

    @pytest.mark.parametrize("on", ["stream", "other", "default"])
    def test_a_kernel_computes_with_what_its_memory_holds_by_then(
        self, on: str, stream: Any, other: Any, problem: npu.RmsNormGrad
    ) -> None:
        target = {"stream": stream, "other": other, "default": NULL}[on]
        problem.launch()
        npu.call("aclrtSynchronizeStream", NULL)
        of_ones = problem.dx
        graph = captured(stream, lambda: problem.launch(stream))
        for first, expected in ((bytes(4), False), (b"\x00\x00\x80\x3f", True)):
            npu.write(problem.memory[0], first)
            npu.call("aclrtMemset", problem.memory[4], problem.bytes, 0, problem.bytes)
            replay(graph, target)
            assert (problem.dx == of_ones) is expected
        npu.call("aclmdlRIDestroy", graph)

    def test_a_kernel_that_fails_is_reported_to_the_stream_of_the_replay(
        self, stream: Any, other: Any, broken: npu.RmsNormGrad
    ) -> None:
        event = npu.event(lib.ACL_EVENT_SYNC)

        def work() -> None:
            npu.call("aclrtRecordEvent", event, stream)
            npu.call("aclrtStreamWaitEvent", other, event)
            broken.launch(other)
            npu.call("aclrtRecordEvent", event, other)
            npu.call("aclrtStreamWaitEvent", stream, event)

        graph = captured(stream, work)
        for _ in range(2):
            npu.call("aclmdlRIExecuteAsync", graph, stream)
            assert lib.aclrtSynchronizeStream(stream) == 507015
            assert lib.aclrtSynchronizeStream(other) == 0
        npu.call("aclmdlRIDestroy", graph)

    def test_a_graph_outlives_its_stream_but_not_its_context(self, memory: Any) -> None:
        first = npu.stream()
        graph = captured(first, lambda: fill(memory, 5, first))
        npu.call("aclrtDestroyStream", first)
        replay(graph, NULL)
        assert npu.read(memory, 1) == b"\5"
        mine = npu.value("aclrtGetCurrentContext", "aclrtContext")
        another = npu.value("aclrtCreateContext", "aclrtContext", 1)
        assert lib.aclmdlRIExecuteAsync(graph, NULL) == 107004
        npu.call("aclrtDestroyContext", another)
        npu.call("aclrtSetCurrentContext", mine)
        npu.call("aclmdlRIDestroy", graph)
        assert lib.aclmdlRIExecuteAsync(graph, NULL) == 107017


class TestInfo:
    def test_tells_of_every_stream_of_a_capture(self, stream: Any, other: Any) -> None:
        event = npu.event(lib.ACL_EVENT_SYNC)
        assert info(stream) == (NONE, NULL)
        begin(stream)
        assert info(stream)[0] == ACTIVE
        assert info(other)[0] == NONE
        npu.call("aclrtRecordEvent", event, stream)
        npu.call("aclrtStreamWaitEvent", other, event)
        assert info(other) == info(stream)
        assert lib.aclrtStreamAbort(other) == 107027
        assert lib.aclrtSynchronizeDevice() == 107027
        assert info(other)[0] == INVALIDATED
        assert fill(NULL, 0, stream) == 100000
        assert lib.aclrtRecordEvent(event, stream) == 507903
        assert end(stream) == (507903, NULL)
        assert info(other) == (NONE, NULL)


def _wait_for_what_was_recorded_before(stream: Any, other: Any, event: Any) -> int:
    npu.call("aclrtRecordEvent", event, other)
    begin(stream)
    return int(lib.aclrtStreamWaitEvent(stream, event))


def _wait_in_another_capture(stream: Any, other: Any, event: Any) -> int:
    begin(stream)
    begin(other)
    npu.call("aclrtRecordEvent", event, other)
    status = int(lib.aclrtStreamWaitEvent(stream, event))
    assert end(other)[0] == 507903
    return status


def _on_the_default_stream(stream: Any, other: Any, event: Any) -> int:
    del other
    begin(stream)
    npu.call("aclrtRecordEvent", event, stream)
    return int(lib.aclrtStreamWaitEvent(NULL, event))


def _asked(function: str, *more: Any) -> Callable[[Any, Any, Any], int]:
    def ask(stream: Any, other: Any, event: Any) -> int:
        del other
        begin(stream)
        npu.call("aclrtRecordEvent", event, stream)
        of_an_event = "Event" in function
        return int(getattr(lib, function)(event if of_an_event else stream, *more))

    return ask


def _pageable(stream: Any, other: Any, event: Any) -> int:
    del other, event
    begin(stream)
    memory, host = npu.device_memory(BYTES), ffi.new("char[64]")
    npu.memory_to_free.append(memory)
    return int(lib.aclrtMemcpyAsync(memory, 64, host, 64, npu.HOST_TO_DEVICE, stream))


@pytest.mark.parametrize(
    ("what", "status"),
    [
        (_asked("aclrtSynchronizeStream"), 107027),
        (_asked("aclrtSynchronizeStreamWithTimeout", 1), 107027),
        (_asked("aclrtStreamQuery", ffi.new("aclrtStreamStatus *")), 107027),
        (_asked("aclrtSynchronizeEvent"), 107028),
        (_asked("aclrtQueryEventStatus", ffi.new("aclrtEventRecordedStatus *")), 107028),
        (_asked("aclrtQueryEventWaitStatus", ffi.new("aclrtEventWaitStatus *")), 107028),
        (_wait_for_what_was_recorded_before, 107024),
        (_wait_in_another_capture, 107032),
        (_on_the_default_stream, 107031),
        (_pageable, 107041),
    ],
)
def test_what_breaks_a_capture_off(
    what: Callable[[Any, Any, Any], int], status: int, stream: Any, other: Any
) -> None:
    assert what(stream, other, npu.event(lib.ACL_EVENT_SYNC)) == status
    assert info(stream)[0] == INVALIDATED
    assert end(stream) == (507903, NULL)


class TestBeginAndEnd:
    def test_what_cannot_begin(self, stream: Any) -> None:
        assert lib.aclmdlRICaptureBegin(NULL, GLOBAL) == 100000
        assert lib.aclmdlRICaptureBegin(stream, 3) == 107000
        begin(stream)
        assert lib.aclmdlRICaptureBegin(stream, GLOBAL) == 107027
        npu.call("aclmdlRIDestroy", end(stream)[1])

    def test_what_is_no_end(self, stream: Any, other: Any) -> None:
        event = npu.event(lib.ACL_EVENT_SYNC)
        assert lib.aclmdlRICaptureEnd(stream, NULL) == 100000
        assert end(stream)[0] == 107029
        begin(stream)
        npu.call("aclrtRecordEvent", event, stream)
        npu.call("aclrtStreamWaitEvent", other, event)
        assert end(other)[0] == 107036
        assert end(stream) == (107025, NULL)

    @pytest.mark.parametrize(("mode", "status"), [(GLOBAL, 107038), (RELAXED, 0)])
    def test_the_end_in_another_thread(
        self, context: Any, stream: Any, mode: int, status: int
    ) -> None:
        def there() -> tuple[int, Any]:
            npu.call("aclrtSetCurrentContext", context)
            return end(stream)

        begin(stream, mode)
        found, graph = npu.in_thread(there)
        assert found == status
        npu.call("aclmdlRIDestroy", end(stream)[1] if status else graph)

    def test_a_context_that_ends_takes_its_captures_along(self) -> None:
        mine = npu.value("aclrtGetCurrentContext", "aclrtContext")
        another = npu.value("aclrtCreateContext", "aclrtContext", 1)
        begin(npu.stream())
        npu.call("aclrtDestroyContext", another)
        npu.call("aclrtSetCurrentContext", mine)
        assert lib.aclrtMemset(NULL, 0, 0, 0) == 0


class TestCallsThatWorkAtOnce:
    @pytest.mark.parametrize(
        ("mode", "here", "there"),
        [(GLOBAL, 107030, 107030), (THREAD_LOCAL, 107030, 0), (RELAXED, 0, 0)],
    )
    def test_whom_a_capture_forbids_them(
        self, context: Any, stream: Any, memory: Any, mode: int, here: int, there: int
    ) -> None:
        def elsewhere() -> int:
            npu.call("aclrtSetCurrentContext", context)
            return int(lib.aclrtMemcpy(memory, 8, bytes(8), 8, npu.HOST_TO_DEVICE))

        begin(stream, mode)
        assert lib.aclrtMemset(memory, BYTES, 0, BYTES) == here
        assert npu.in_thread(elsewhere) == there
        status, graph = end(stream)
        assert status == 0, "a call that is refused leaves the capture as it is"
        npu.call("aclmdlRIDestroy", graph)

    def test_a_thread_may_allow_itself_what_a_capture_forbids(
        self, stream: Any, memory: Any
    ) -> None:
        mode = ffi.new("aclmdlRICaptureMode *", RELAXED)
        begin(stream)
        npu.call("aclmdlRICaptureThreadExchangeMode", mode)
        assert mode[0] == GLOBAL
        assert lib.aclrtMemset(memory, BYTES, 0, BYTES) == 0
        npu.call("aclmdlRICaptureThreadExchangeMode", mode)
        assert mode[0] == RELAXED
        assert lib.aclrtMemset(memory, BYTES, 0, BYTES) == 107030
        mode[0] = 3
        assert lib.aclmdlRICaptureThreadExchangeMode(mode) == 107000
        npu.call("aclmdlRIDestroy", end(stream)[1])


class TestEventsAfterwards:
    def test_a_captured_record_stands_for_nothing_outside(self, stream: Any, other: Any) -> None:
        event = npu.event(lib.ACL_EVENT_SYNC)
        graph = captured(stream, lambda: npu.call("aclrtRecordEvent", event, stream))
        assert lib.aclrtSynchronizeEvent(event) == 107028
        assert lib.aclrtStreamWaitEvent(other, event) == 107028
        npu.call("aclrtRecordEvent", event, other)
        npu.call("aclrtSynchronizeEvent", event)
        npu.call("aclmdlRIDestroy", graph)


_FAULTS = """
import pyaclnn.mock as mock
call('aclrtSetDevice', 0)
one = stream(); memory = device_memory(64); graph = ffi.new('aclmdlRI *')
call('aclmdlRICaptureBegin', one, 0)
call('aclrtMemsetAsync', memory, 64, 1, 64, one)
call('aclmdlRICaptureEnd', one, graph)
for fault in ('507023', 'async:507015', 'hang'):
    mock.set_faults(f'aclmdlRIExecuteAsync:1={fault}')
    print(lib.aclmdlRIExecuteAsync(graph[0], one), lib.aclrtSynchronizeStreamWithTimeout(one, 3))
mock.set_faults('')
print(lib.aclrtSynchronizeStream(one), lib.aclmdlRIExecuteAsync(graph[0], one))
"""


def test_faults_strike_a_replay(programs: Programs) -> None:
    result = programs.python(_FAULTS)
    assert result.stdout == "507023 0\n0 507015\n0 507046\n0 0\n", result.stderr


class TestAnExternalEvent:
    """One of ACL_EVENT_EXTERNAL joins no capture: each replay records it, or waits for it."""

    @pytest.fixture
    def event(self, context: Any) -> Any:  # noqa: ARG002 (it is made in it)
        made = npu.value("aclrtCreateEventWithFlag", "aclrtEvent", lib.ACL_EVENT_EXTERNAL)
        yield made
        lib.aclrtDestroyEvent(made)

    def test_a_replay_waits_for_the_latest_record(
        self, event: Any, stream: Any, other: Any, memory: Any
    ) -> None:
        before = pyaclnn.mock.violations()

        def work() -> None:
            npu.call("aclrtStreamWaitEvent", stream, event)
            fill(memory, 1, stream)

        graph = captured(stream, work)
        for _ in range(2):
            fill(memory, 2, other)
            npu.call("aclrtRecordEvent", event, other)
            replay(graph, stream)
            assert npu.read(memory, BYTES) == bytes([1]) * BYTES
        npu.call("aclmdlRIDestroy", graph)
        assert pyaclnn.mock.violations() == before

    def test_other_streams_wait_for_the_record_of_a_replay(
        self, event: Any, stream: Any, other: Any, memory: Any
    ) -> None:
        before = pyaclnn.mock.violations()

        def work() -> None:
            fill(memory, 1, stream)
            npu.call("aclrtRecordEvent", event, stream)

        graph = captured(stream, work)
        for value in (2, 3):
            npu.call("aclmdlRIExecuteAsync", graph, stream)
            npu.call("aclrtStreamWaitEvent", other, event)
            fill(memory, value, other)
            npu.call("aclrtSynchronizeStream", other)
            assert npu.read(memory, BYTES) == bytes([value]) * BYTES
            npu.call("aclrtSynchronizeEvent", event)
        npu.call("aclmdlRIDestroy", graph)
        assert pyaclnn.mock.violations() == before
