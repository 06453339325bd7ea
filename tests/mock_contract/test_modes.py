# SPDX-License-Identifier: Apache-2.0
"""In which order streams run, and what memory holds that nobody has written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.mock_libs.programs import Programs

# A producer and a consumer on two streams; `order` is what stands between them.
EXCHANGE = """
import sys
import pyaclnn.mock as mock
call('aclrtSetDevice', 0)
one, two = stream(), stream(); memory = device_memory(64); host = pinned(64); made = event()
def exchange(ordered, first):
    call('aclrtMemset', memory, 64, 0, 64)
    call('aclrtMemsetAsync', memory, 64, 7, 64, one)
    if ordered:
        call('aclrtRecordEvent', made, one); call('aclrtStreamWaitEvent', two, made)
    call('aclrtMemcpyAsync', host, 64, memory, 64, 2, two)
    for each in ((one, two) if first == 'one' else (two, one)):
        call('aclrtSynchronizeStream', each)
    return host[0] == 7
"""
END = """
call('aclrtDestroyStream', one); call('aclrtDestroyStream', two); call('aclrtDestroyEvent', made)
call('aclrtFree', memory); call('aclrtFreeHost', host); call('aclrtResetDevice', 0)
"""


def run(programs: Programs, code: str, mode: str = "") -> str:
    result = programs.python(EXCHANGE + code + END, PYACLNN_MOCK_MODE=mode)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


class TestDeferred:
    def test_runs_only_what_must_run(self, programs: Programs) -> None:
        assert run(programs, "print(exchange(False, 'one'), exchange(False, 'two'))") == (
            "True False"
        )

    def test_forgetting_to_synchronize_fails_every_time(self, programs: Programs) -> None:
        code = """
problem = RmsNormGrad(); wrong = 0
for _ in range(20):
    problem.launch(one); wrong += problem.dx != bytes(64); call('aclrtSynchronizeStream', one)
    call('aclrtMemset', problem.memory[4], 64, 1, 64)
print(wrong); problem.close()
"""
        assert run(programs, code) == "20"


class TestShuffled:
    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("first", ["one", "two"])
    def test_a_forgotten_event_fails_for_some_of_ten_seeds_but_not_for_all(
        self, programs: Programs, first: str
    ) -> None:
        code = f"""
outcomes = []
for seed in range(10):
    mock.set_mode(f'shuffled:{{seed}}'); outcomes.append(exchange(False, {first!r}))
print(set(outcomes))
"""
        assert run(programs, code) in {"{False, True}", "{True, False}"}

    def test_events_order_exactly(self, programs: Programs) -> None:
        code = """
good = 0
for seed in range(50):
    mock.set_mode(f'shuffled:{seed}')
    good += exchange(True, 'one') + exchange(True, 'two')
print(good)
"""
        assert run(programs, code) == "100"

    def test_the_same_seed_gives_the_same_order(self, programs: Programs) -> None:
        code = "print([exchange(False, 'one') for _ in range(40)])"
        first = run(programs, code, "shuffled:5")
        assert run(programs, code, "shuffled:5") == first
        assert run(programs, code, "shuffled:6") != first
        assert "True" in first
        assert "False" in first

    def test_many_streams_in_a_chain_of_events(self, programs: Programs) -> None:
        code = """
streams = [stream() for _ in range(6)]; events = [event() for _ in streams]
good = 0
for seed in range(20):
    mock.set_mode(f'shuffled:{seed}')
    for number, (each, mark) in enumerate(zip(streams, events)):
        call('aclrtMemsetAsync', memory, 64, number, 64, each)
        call('aclrtRecordEvent', mark, each)
        if number + 1 < len(streams):
            call('aclrtStreamWaitEvent', streams[number + 1], mark)
    call('aclrtSynchronizeDevice'); good += read(memory, 1) == bytes([5])
print(good, len(mock.violations()))
for each, mark in zip(streams, events):
    call('aclrtDestroyStream', each); call('aclrtDestroyEvent', mark)
"""
        assert run(programs, code) == "20 0"

    def test_a_stream_that_waits_for_nobody_blocks_nobody_else(self, programs: Programs) -> None:
        code = """
mock.set_mode('shuffled:1'); late = event(lib.ACL_EVENT_SYNC, 'aclrtCreateEventWithFlag')
call('aclrtStreamWaitEvent', two, late)
print(lib.aclrtSynchronizeStreamWithTimeout(two, 20), lib.aclrtSynchronizeStream(one))
call('aclrtRecordEvent', late, one); call('aclrtSynchronizeStream', two)
call('aclrtDestroyEvent', late)
"""
        assert run(programs, code) == "507046 0"


class TestEager:
    def test_work_runs_when_it_is_submitted(self, programs: Programs) -> None:
        code = """
call('aclrtMemsetAsync', memory, 64, 9, 64, one); print(read(memory, 2))
problem = RmsNormGrad(); problem.launch(one); print(problem.dx == bytes(64)); problem.close()
print(exchange(False, 'two'))
"""
        assert run(programs, code, "eager").split("\n") == [repr(b"\t\t"), "True", "True"]

    def test_a_failure_waits_for_the_next_synchronize(self, programs: Programs) -> None:
        code = """
with mock.faults('aclrtMemsetAsync=async:507013'):
    call('aclrtMemsetAsync', memory, 64, 9, 64, one)
print(lib.aclrtSynchronizeStream(one), lib.aclrtSynchronizeStream(one))
"""
        assert run(programs, code, "eager") == "507013 0"

    def test_an_event_holds_it_up(self, programs: Programs) -> None:
        code = """
late = event(lib.ACL_EVENT_SYNC, 'aclrtCreateEventWithFlag')
call('aclrtMemset', memory, 64, 0, 64); call('aclrtStreamWaitEvent', two, late)
call('aclrtMemsetAsync', memory, 64, 9, 64, two); print(read(memory, 1))
call('aclrtRecordEvent', late, one); print(read(memory, 1)); call('aclrtDestroyEvent', late)
"""
        assert run(programs, code, "eager").split("\n") == [repr(b"\0"), repr(b"\t")]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["shuffled", "shuffled:", "shuffled:x", "fast", "eager "])
def test_a_mode_that_does_not_exist_is_refused(programs: Programs, mode: str) -> None:
    result = programs.python("print(lib.aclrtSetDevice(0), message())", PYACLNN_MOCK_MODE=mode)
    assert result.stdout.startswith("507033 ")
    assert "it must be deferred, shuffled:SEED or eager" in result.stdout


class TestPoison:
    """Every pattern is a NaN in float16, bfloat16, float32 and float64."""

    def test_patterns(self, programs: Programs) -> None:
        code = """
fresh = device_memory(64); print(read(fresh, 2).hex()); call('aclrtFree', fresh)
again = device_memory(64); print(again == fresh, read(again, 2).hex()); call('aclrtFree', again)
problem = RmsNormGrad(); executor = problem.check(); print(read(problem.workspace, 2).hex())
assert problem.run(executor) == 0; call('aclrtSynchronizeStream', NULL)
print(read(problem.workspace, 2).hex()); problem.close()
"""
        assert run(programs, code).split("\n") == [
            "ff7f", "True ff7f", "ff7f", "fd7f",
        ]  # fmt: skip

    def test_a_tensor_inside_of_the_workspace_is_spoilt_before_the_kernel_reads_it(
        self, programs: Programs
    ) -> None:
        code = """
import numpy as np
problem = RmsNormGrad(); executor = problem.check()
call('aclDestroyAclOpExecutor', executor)
call('aclSetRawTensorAddr', problem.tensors[0], problem.workspace)
write(problem.workspace, b'\\x00\\x00\\x80\\x3f' * 8)
problem.launch(); call('aclrtSynchronizeStream', NULL)
print(bool(np.isnan(np.frombuffer(problem.dx, np.float32)).any())); problem.close()
"""
        assert run(programs, code) == "True"
