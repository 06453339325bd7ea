# SPDX-License-Identifier: Apache-2.0
"""Recorder in trouble: addresses used again, full disks, no memory, threads, signals, forks."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.capture.trace import Call, Ended, read_trace
from pyaclnn.mock import cflags, ldflags
from tests.fork_server import run_program

from .captured import pyaclnn

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

SOURCE = Path(__file__).parent / "c" / "watched.c"


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("programs") / "watched"
    compiler = shlex.split(os.environ.get("CC", "cc"))
    own = ["-O1", "-fno-builtin", "-pthread", "-rdynamic", str(SOURCE), "-o", str(program)]
    subprocess.run([*compiler, *own, *cflags(), *ldflags(), "-ldl"], check=True)
    return program


@pytest.fixture
def run(watched: Path, tmp_path: Path) -> Run:
    def captured(
        *words: str | int, options: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        command: tuple[str | Path, ...] = ("--", watched, *map(str, words))
        return pyaclnn("capture", "-o", tmp_path / "run.trace", *options, *command)

    return captured


def calls(trace: Path) -> list[Call]:
    return [record for record in read_trace(trace) if isinstance(record, Call)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("contents", ["none", "hash"])
def test_a_part_has_memory_whose_address_another_thread_has_just_freed(
    contents: str, run: Run, tmp_path: Path
) -> None:
    trace = tmp_path / "run.trace"
    options = ("--contents", contents)
    done = run("reuse", options=options)
    same, address = done.stdout.split()
    assert same == "same"
    found = [(c.name, c.handle("devPtr")) for c in calls(trace) if "devPtr" in c.arguments]
    names = [name for name, memory in found if memory == int(address)]
    assert names == ["aclrtMalloc", "aclrtFree", "aclrtMalloc", "aclrtMemset", "aclrtFree"]

    first = next(c.number for c in calls(trace) if c.name == "aclrtMemset")
    trace.unlink()
    run("reuse", options=(*options, "--calls", f"{first}:"))
    assert [call.name for call in calls(trace)].count("aclrtMalloc") == 1
    assert "that use what no call" not in pyaclnn("replay", trace).stdout


RESETS = """
import sys
import pyaclnn
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
with pyaclnn.capture("first.trace"):
    call("aclInit", raw.NULL)
    for device in (1, 0, 0):
        call("aclrtSetDevice", device)
        fetch("aclrtCreateStream", OUT)
        fetch("aclrtMalloc", OUT, 64, 0)
        fetch("aclrtCreateEvent", OUT)
for text in sys.argv[1:]:
    name, *device = text.split()
    call(name, *map(int, device))
call("aclrtSetDevice", 0)
with pyaclnn.capture("second.trace"):
    call("aclrtSynchronizeDevice")
"""
DEVICE = ["aclrtSetDevice"]
OBJECTS = ["aclrtCreateStream", "aclrtMalloc", "aclrtCreateEvent"]
AGAIN = ["aclrtSetDevice", "aclrtSynchronizeDevice"]


@pytest.mark.parametrize(
    ("resets", "alive"),
    [
        ([], [*DEVICE, *OBJECTS, *DEVICE, *OBJECTS, *DEVICE, *OBJECTS]),
        (["aclrtResetDevice 0"], [*DEVICE, *OBJECTS, *DEVICE, *OBJECTS, *DEVICE, *OBJECTS]),
        (["aclrtResetDevice 0"] * 2, [*DEVICE, *OBJECTS]),
        (["aclrtResetDeviceForce 0"], [*DEVICE, *OBJECTS]),
        (["aclrtResetDevice 1", "aclrtResetDeviceForce 0"], []),
        (["aclFinalize"], []),
    ],
)
def test_a_part_has_nothing_of_a_device_that_was_reset_for_the_last_time(
    resets: list[str], alive: list[str], tmp_path: Path
) -> None:
    environment = {**os.environ, "PYACLNN_BACKEND": "mock", "PYACLNN_MOCK_MODE": "eager"}
    command = [sys.executable, "-c", RESETS, *resets]
    done = run_program(command, environment, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [call.name for call in calls(tmp_path / "second.trace")] == [*alive, *AGAIN]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("room", [0, 100, 3000, 5001])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_ends_the_trace_with_a_word_and_not_the_program(
    error: int, room: int, run: Run, tmp_path: Path
) -> None:
    trace = tmp_path / "run.trace"
    done = run("full", room, error)
    assert (done.returncode, done.stdout) == (0, "0 6\n")
    assert done.stderr == f"pyaclnn capture: {trace} is incomplete: {os.strerror(error)}\n"
    numbers = [call.number for call in calls(trace)]
    assert numbers == list(range(len(numbers)))
    assert "\nincomplete: " in f"\n{pyaclnn('trace', 'show', trace).stdout}"


def test_a_limit_of_files_ends_the_trace_with_a_word_and_not_the_program(
    run: Run, tmp_path: Path
) -> None:
    trace = tmp_path / "run.trace"
    done = run("limit", 5000)
    reason = os.strerror(errno.EFBIG)
    assert (done.returncode, done.stdout) == (0, "0 6\n")
    assert done.stderr == f"pyaclnn capture: {trace} is incomplete: {reason}\n"
    assert list(read_trace(trace))[-1] == Ended(0, errno.EFBIG)
    shown = pyaclnn("trace", "show", trace).stdout.splitlines()
    assert shown[-1] == f"incomplete: the recording ended with {reason!r}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("options", [(), ("--limit", "64K"), ("--calls", "100:")])
def test_a_recorder_without_memory_ends_the_trace_with_a_word_and_not_the_program(
    options: tuple[str, ...], first: int, run: Run, tmp_path: Path
) -> None:
    trace = tmp_path / "run.trace"
    ended = 0
    for number in (*range(first, 20, 3), {1: 30, 2: 50, 3: 100}[first]):
        done = run("scarce", number, options=options)
        assert done.stdout == "0 6\n", (number, done)
        reason = os.strerror(errno.ENOMEM)
        if done.stderr:
            ended += 1
            line, *rest = done.stderr.splitlines()
            assert line == f"pyaclnn capture: {trace} is incomplete: {reason}"
            assert bool(rest) != trace.exists()  # it has ended before the first call that is wanted
        if trace.exists():
            assert done.returncode == 0
            assert list(read_trace(trace))[-1] == Ended(0, errno.ENOMEM if done.stderr else 0)
        for path in tmp_path.iterdir():
            path.unlink()
    assert ended > 1


def test_threads_that_end_leave_no_memory_behind(run: Run) -> None:
    left = int(run("threads").stdout.split()[0])
    assert left < 5000


def test_an_expanded_tensor_costs_no_memory(run: Run) -> None:
    status, _, largest = run("add").stdout.replace("largest", "").split()
    assert status == "0"
    assert 0 < int(largest) < 1 << 20


def test_a_signal_is_recorded_without_a_request_for_memory(run: Run, tmp_path: Path) -> None:
    assert run("die").stderr == ""
    (child,) = tmp_path.glob("run.trace.*")
    assert list(read_trace(child))[-1] == Ended(15)


@pytest.mark.exhaustive
def test_a_child_of_a_fork_goes_on_while_a_thread_reads_the_table(run: Run) -> None:
    assert run("split").stdout == "went on\n"


def test_a_failed_call_compares_no_names(run: Run) -> None:
    assert run("fail").stdout == "0 compared\n"
