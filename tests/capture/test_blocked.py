# SPDX-License-Identifier: Apache-2.0
"""The recorder's waits for copies hold up no other thread, and lose nothing of what it records."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pyaclnn.capture.contents import AFTER
from pyaclnn.capture.trace import Absent, Call, Contents, read_trace
from pyaclnn.mock import cflags, ldflags
from tests.fork_server import run_program
from tests.mock_libs.programs import COMPILER

from .captured import pyaclnn

SOURCE = Path(__file__).parent / "c" / "blocked.c"
ADDITIONS = 20
HELD_UP = 0.7
"""Seconds: more than a part of a wait, and less than all of it."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("programs") / "blocked"
    command = [*COMPILER, "-O1", "-pthread", str(SOURCE), "-o", str(made), *cflags(), *ldflags()]
    subprocess.run([*command, "-ldl"], check=True)
    return made


def run(
    trace: Path, program: Path, case: str, *options: str, faults: str = ""
) -> subprocess.CompletedProcess[str]:
    variables = {"PYACLNN_MOCK_CANN": "9.1", "PYACLNN_MOCK_FAULTS": faults}
    return pyaclnn("capture", "-o", trace, *options, "--", program, case, **variables)


def is_held_up_briefly(case: str, program: Path, folder: Path) -> bool:
    """Return whether the longest call of a case is short, in one of three runs."""
    for turn in range(3):
        done = run(folder / f"{turn}.trace", program, case)
        assert done.returncode == 0, done.stderr
        if case.endswith("-exit") or float(done.stdout) < HELD_UP:  # at its exit it says nothing
            return True
    return False


@pytest.mark.parametrize("meanwhile", ["exit", "draw", "reset"])
def test_a_stream_that_is_destroyed_holds_up_no_other_thread(
    meanwhile: str, program: Path, tmp_path: Path
) -> None:
    assert is_held_up_briefly(f"destroy-{meanwhile}", program, tmp_path)


@pytest.mark.parametrize("meanwhile", ["exit", "draw", "reset", "drop"])
def test_the_recorders_own_thread_gives_way(meanwhile: str, program: Path, tmp_path: Path) -> None:
    assert is_held_up_briefly(f"drain-{meanwhile}", program, tmp_path)


def test_inputs_of_a_call_that_fails_are_in_full_beside_waits(
    program: Path, tmp_path: Path
) -> None:
    done = run(tmp_path / "run.trace", program, "fail", faults="aclnnAdd:p0.3=507899")
    assert done.returncode == 0, done.stderr
    records = list(read_trace(tmp_path / "run.trace"))
    failed = {
        r.number for r in records if isinstance(r, Call) and r.name == "aclnnAdd" and r.failed
    }
    inputs = [r for r in records if isinstance(r, Contents) and r.call in failed]
    assert len(failed) == int(done.stdout)
    assert len(inputs) == 2 * len(failed)
    assert all(each.data for each in inputs)


def test_a_failure_is_kept_for_a_wait_for_its_own_stream(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "run.trace", program, "keep", faults="aclnnAdd:1=async:507015")
    assert (done.returncode, done.stdout) == (0, "0 507015 told 0\n"), done.stderr


@pytest.mark.parametrize("contents", ["hash", "full"])
def test_contents_that_a_wait_brought_are_there_after_a_signal(
    contents: str, program: Path, tmp_path: Path
) -> None:
    done = run(tmp_path / "run.trace", program, "abort", "--contents", contents)
    assert done.returncode == 128 + signal.SIGABRT
    found = [r for r in read_trace(tmp_path / "run.trace") if isinstance(r, Contents)]
    assert len([each for each in found if each.phase == AFTER]) == ADDITIONS


def test_streams_that_end_after_the_trace_are_waited_for_no_more(
    program: Path, tmp_path: Path
) -> None:
    done = run(tmp_path / "run.trace", program, "end early", faults="aclrtMemcpy=507899")
    assert (done.returncode, done.stdout) == (0, "")
    (line,) = done.stderr.splitlines()
    assert "is incomplete: File too large" in line


def test_a_thread_is_cancelled_in_no_lock_of_the_recorder(program: Path, tmp_path: Path) -> None:
    done = run(tmp_path / "run.trace", program, "cancel", faults="aclrtGetDeviceCount=507899")
    calls = [r for r in read_trace(tmp_path / "run.trace") if isinstance(r, Call) and r.failed]
    assert (done.returncode, len(calls)) == (0, 2), done.stderr


CAPTURES = """
import os, threading, time
import numpy as np, pyaclnn
from pyaclnn import aclnn
with pyaclnn.capture("0.trace"):
    device = pyaclnn.Device(0)
goes_on = True
def work():
    x, y = (pyaclnn.to_device(np.ones(1000, np.float32), device) for _ in range(2))
    with pyaclnn.Stream(device) as stream:
        while goes_on:
            for _ in range(300):
                aclnn.muls(x, np.float32(2), out=y, stream=stream)
            stream.synchronize()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for number in range(1, 5):
    path = f"{number}.trace"
    with pyaclnn.capture(path):
        while not os.path.exists(path) or os.path.getsize(path) < 60_000:
            time.sleep(0.02)
goes_on = False
for thread in threads:
    thread.join()
"""


def test_captures_beside_threads_have_the_contents_of_their_own_calls(tmp_path: Path) -> None:
    environment = {**os.environ, "PYACLNN_BACKEND": "mock"}
    done = run_program([sys.executable, "-c", CAPTURES], environment, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = lost = 0
    for number in range(1, 5):
        records = list(read_trace(tmp_path / f"{number}.trace"))
        calls = {record.number for record in records if isinstance(record, Call)}
        brought = [r.call for r in records if isinstance(r, Contents)]
        absent = [r.call for r in records if isinstance(r, Absent)]
        others = {*brought, *absent} - calls
        assert len(others) <= 4  # two threads are in a call as the capture begins, and as it ends
        found, lost = found + len(brought), lost + len(absent)
    assert lost < found  # what threads give to streams while the capture waits for them
