# SPDX-License-Identifier: Apache-2.0
"""Device processes that work, are stopped, do not start or do not end: time limits hold."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .programs import Programs

pytestmark = pytest.mark.usefixtures("own_processes")

STOPPED = """
import os, signal, threading, time
call('aclrtSetDevice', 0)
problem, s, e = RmsNormGrad(), stream(), event()
problem.launch(s); call('aclrtSynchronizeStream', s)
kid = children()[0]
os.kill(kid, signal.SIGSTOP)
os.waitid(os.P_PID, kid, os.WSTOPPED | os.WNOWAIT)
problem.launch(s); call('aclrtRecordEvent', e, s)
begin = time.monotonic()
def took(least, most):
    assert least <= time.monotonic() - begin < most, time.monotonic() - begin
def end():
    print('done'); os.kill(kid, signal.SIGKILL); sys.stdout.flush(); os._exit(0)
"""

CASES = {
    "a stream's time limit": "assert lib.aclrtSynchronizeStreamWithTimeout(s, 500) == 507046\n"
    "took(0.5, 250)",
    "an event's time limit": "assert lib.aclrtSynchronizeEventWithTimeout(e, 500) == 507047\n"
    "took(0.5, 250)",
    "a device's time limit": "assert lib.aclrtSynchronizeDeviceWithTimeout(500) == 507046\n"
    "took(0.5, 250)",
    "a wait without a limit: no heartbeat": "assert lib.aclrtSynchronizeStream(s) == 507010\n"
    "assert 'stopped' in message()\ntook(4, 250)",
    "a signal's handler after the wait": """
signal.signal(signal.SIGALRM, lambda *_: print('alarm'))
signal.setitimer(signal.ITIMER_REAL, 0.1)
lib.aclrtSynchronizeStreamWithTimeout(s, 500); took(0.5, 250)
""",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CASES)
def test_a_stopped_device_process_holds_up(programs: Programs, name: str) -> None:
    result = programs.python(f"{STOPPED}{CASES[name]}\nend()")
    assert result.stdout.endswith("done\n"), result.stdout + result.stderr


@pytest.mark.exhaustive
def test_a_device_that_is_stopped_without_work_closes(programs: Programs) -> None:
    result = programs.python("""
import os, signal, time
call('aclrtSetDevice', 0); kid = children()[0]; os.kill(kid, signal.SIGSTOP)
begin = time.monotonic(); call('aclrtResetDevice', 0)
print(time.monotonic() - begin < 250, has_ended(kid))
""")
    assert result.stdout == "True True\n", result.stderr


WAITING = """
import os, signal, threading
from held import IN_PHASE_1, IN_PHASE_2
signal.alarm(120)  # what is held up would be for ever
call('aclrtSetDevice', 0); s = stream()
def wait():
    call('aclrtSetDevice', 0); RmsNormGrad(rows=IN_PHASE_2).launch(s)
    call('aclrtSynchronizeStream', s)
def check():
    call('aclrtSetDevice', 0); RmsNormGrad(rows=IN_PHASE_1).check()
thread = threading.Thread(target=%s); thread.start()
pipe = open(os.environ['HELD'], 'w')  # now the kernel has begun
%s
assert thread.is_alive(); pipe.close(); thread.join()
print('done', flush=True); os._exit(0)
"""

MEANWHILE = {
    "a question": (
        "wait",
        """
status = ffi.new('aclrtStreamStatus *'); call('aclrtStreamQuery', s, status)
assert status[0] == lib.ACL_STREAM_STATUS_NOT_READY""",
    ),
    "work of the same device": (
        "wait",
        "RmsNormGrad().check(); call('aclrtDestroyStream', stream()); device_memory(64)",
    ),
    "work of another device": (
        "wait",
        "call('aclrtSetDevice', 1); RmsNormGrad().launch(); call('aclrtSynchronizeStream', NULL)",
    ),
    "phase 1 on another device while one waits for phase 1": (
        "check",
        "call('aclrtSetDevice', 1); RmsNormGrad().launch()",
    ),
    "a fork while another thread waits": (
        "wait",
        """
child = os.fork()
if child == 0:
    os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3""",
    ),
    "a time limit": (
        "wait",
        "assert lib.aclrtSynchronizeStreamWithTimeout(s, 20) == 507046",
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", MEANWHILE)
def test_what_does_not_need_a_kernel_that_runs_is_not_held_up_by_it(
    programs: Programs, name: str
) -> None:
    result = programs.holding(WAITING % MEANWHILE[name])
    assert result.stdout == "done\n", (result.returncode, result.stdout + result.stderr)


def script(folder: Path, text: str) -> str:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.exhaustive
def test_a_device_process_that_never_answers_is_not_waited_for(
    programs: Programs, tmp_path: Path
) -> None:
    result = programs.python(
        "print(lib.aclrtSetDevice(0), message())",
        PYACLNN_MOCK_PYTHON=script(tmp_path, "exec sleep 1000"),
        PYACLNN_MOCK_PATIENCE="1",
    )
    assert result.stdout.startswith("507033 ")
    assert "PYACLNN_MOCK_PATIENCE" in result.stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "99999"])
def test_patience_that_is_no_number_of_seconds_is_refused_by_name(
    programs: Programs, seconds: str
) -> None:
    result = programs.python(
        "print(lib.aclrtSetDevice(0), message())", PYACLNN_MOCK_PATIENCE=seconds
    )
    assert result.stdout.startswith("507033 ")
    assert f"PYACLNN_MOCK_PATIENCE is '{seconds}'" in result.stdout


@pytest.mark.exhaustive
def test_a_device_process_that_does_not_end_is_ended(programs: Programs, tmp_path: Path) -> None:
    code = (
        "import sys, threading, time; sys.path[:] = filter(None, sys.path); "
        "threading.Thread(target=time.sleep, args=(1000,)).start(); "
        "from pyaclnn.mock.device.process import main; main([3, 4])"
    )
    result = programs.python(
        """
import time
call('aclrtSetDevice', 0); kid = children()[0]
begin = time.monotonic(); call('aclrtResetDevice', 0)
print(time.monotonic() - begin < 250, has_ended(kid))
""",
        PYACLNN_MOCK_PYTHON=script(tmp_path, f"exec {sys.executable} -c '{code}'"),
    )
    assert result.stdout == "True True\n", result.stderr


RING = """
import threading
def ring():
    call('aclrtSetDevice', 0)
    streams = [stream() for _ in range(%d)]; events = [event() for _ in streams]
    for i, s in enumerate(streams):
        if i:
            call('aclrtStreamWaitEvent', s, events[i - 1])
        call('aclrtRecordEvent', events[i], s)
    print(lib.aclrtSynchronizeStream(streams[-1]))
threading.stack_size(64 << 10)
thread = threading.Thread(target=ring); thread.start(); thread.join()
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("mode", "length"), [("deferred", 1900), ("eager", 1900), ("shuffled:1", 100)]
)
def test_a_long_chain_of_waits_needs_no_stack(programs: Programs, mode: str, length: int) -> None:
    result = programs.python(RING % length, PYACLNN_MOCK_MODE=mode)
    assert result.stdout == "0\n", (result.returncode, result.stderr)


GIVEN_UP = """
import os, threading
call('aclrtSetDevice', 0)
first, second = stream(), stream()
held, next_one = RmsNormGrad(rows=4111), RmsNormGrad(rows=2)
held.launch(first)
opened = threading.Event()
def hold():
    with open(os.environ['HELD'], 'w'):
        opened.wait(300)
thread = threading.Thread(target=hold); thread.start()
print(lib.aclrtSynchronizeStreamWithTimeout(first, 200))
next_one.launch(second)
opened.set(); thread.join()
print(lib.aclrtSynchronizeStreamWithTimeout(second, 100000))
print(lib.aclrtSynchronizeStreamWithTimeout(first, 100000))
held.close(); next_one.close()
call('aclrtDestroyStream', first); call('aclrtDestroyStream', second)
call('aclrtResetDevice', 0)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["deferred", "eager", "shuffled:3"])
def test_a_kernel_that_nobody_waits_for_any_more_does_not_hold_up_others(
    mode: str, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYACLNN_MOCK_MODE", mode)
    result = programs.holding(GIVEN_UP)
    assert result.stdout.split() == ["507046", "0", "0"], result.stderr
