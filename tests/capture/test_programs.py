# SPDX-License-Identifier: Apache-2.0
"""Programs in C are captured and replay: graphs, ranks, faults, parts, crashes, forks, kills."""

from __future__ import annotations

import itertools
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pyaclnn.capture.session import Settings, captured as environment_of_capture
from pyaclnn.capture.trace import Call, Chip, Contents, Ended, Process, read_trace, traces_of
from pyaclnn.mock import cflags, ldflags

from .captured import PROGRAM, capture, pyaclnn

SOURCES = Path(__file__).parent / "c"
MODES = ("deferred", "eager", "shuffled:3")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("programs")
    made = {}
    for name in ("sample", "ranks", "loop", "forks"):
        made[name] = folder / name
        compiler = shlex.split(os.environ.get("CC", "cc"))
        own = ["-pthread", str(SOURCES / f"{name}.c"), "-o", str(made[name])]
        subprocess.run([*compiler, "-O1", *own, *cflags(), *ldflags()], check=True)
    return made


def captured(trace: Path, *command: str | Path, **variables: str) -> tuple[Path, str]:
    options = ("--contents", "full") if "--contents" not in command else ()
    done = pyaclnn("capture", "-o", trace, *options, *command, **variables)
    return trace, done.stdout


def calls(trace: Path) -> list[Call]:
    return [record for record in read_trace(trace) if isinstance(record, Call)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["sample", "graph"])
def test_a_program_replays_in_every_order_of_streams(
    kind: str, mode: str, build: dict[str, Path], tmp_path: Path
) -> None:
    command: list[str | Path] = [build["sample"], "3"]
    command += ["graph"] if kind == "graph" else []
    trace, printed = captured(tmp_path / "run.trace", "--", *command)
    assert printed == ("0 126\n" if kind == "graph" else "2 126\n")
    done = pyaclnn("replay", trace, "--exact", PYACLNN_MOCK_MODE=mode)
    assert done.stdout.endswith("3 results compared: no divergence.\n"), done.stdout


def test_a_fault_while_capturing_is_found_at_its_call(
    build: dict[str, Path], tmp_path: Path
) -> None:
    faults = {"PYACLNN_MOCK_FAULTS": "aclnnAdd:2=wrong"}
    trace, _ = captured(tmp_path / "run.trace", "--", build["sample"], "3", **faults)
    second = [call.number for call in calls(trace) if call.name == "aclnnAdd"][1]
    done = pyaclnn("replay", trace)
    assert done.returncode == 1
    found = [line for line in done.stdout.splitlines() if line.startswith("call ")]
    assert len(found) == 1
    assert found[0].startswith(f"call {second} aclnnAdd out[")

    right, _ = captured(tmp_path / "right.trace", "--", build["sample"], "3")
    done = pyaclnn("trace", "compare", right, trace)
    assert done.returncode == 1
    lines = [line for line in done.stdout.splitlines() if line.startswith("call ")]
    assert lines[0].startswith(f"call {second} aclnnAdd out[")
    assert "no divergence." in pyaclnn("trace", "compare", right, right).stdout


@pytest.mark.exhaustive
def test_each_rank_replays_alone_with_what_its_peer_sent(
    build: dict[str, Path], tmp_path: Path
) -> None:
    trace, printed = captured(tmp_path / "run.trace", "--", build["ranks"])
    assert sorted(printed.splitlines()) == ["rank 0: 0 145", "rank 1: 0 245"]
    traces = traces_of(trace)
    assert len(traces) == 2
    for each, mode in itertools.product(traces, MODES):
        done = pyaclnn("replay", each, PYACLNN_MOCK_MODE=mode)
        assert "1 result compared" in done.stdout
        assert " of peers taken (Hccl" in done.stdout
        assert done.stdout.endswith(": no divergence.\n")


def test_a_part_of_a_run_replays_by_itself(build: dict[str, Path], tmp_path: Path) -> None:
    command = ("--calls", "25:40", "--", build["sample"], "6")
    trace, _ = captured(tmp_path / "run.trace", *command)
    numbers = [call.number for call in calls(trace)]
    before = [number for number in numbers if number < 25]
    assert numbers[len(before) :] == list(range(25, 40))
    assert {call.name for call in calls(trace)[: len(before)]} == {
        *(
            "aclrtSetDevice",
            "aclrtCreateStream",
            "aclrtMalloc",
            "aclCreateScalar",
            "aclCreateTensor",
        ),
    }
    done = pyaclnn("replay", trace)
    assert f"{len({*numbers})} calls replayed" in done.stdout
    assert "3 results compared: no divergence." in done.stdout


def test_calls_that_place_a_thread_are_counted_once(tmp_path: Path) -> None:
    whole, _ = captured(tmp_path / "run.trace", "--", sys.executable, "-c", PROGRAM)
    place = next(c.number for c in calls(whole) if c.name == "aclrtSetDevice")
    command = ("--calls", f"{place}:{place + 40}", "--", sys.executable, "-c", PROGRAM)
    part, _ = captured(tmp_path / "part.trace", *command)
    last = pyaclnn("trace", "show", part).stdout.splitlines()
    (totals,) = (line for line in last if " functions, " in line)
    assert int(totals.split()[0]) == len({call.number for call in calls(part)})


def test_a_capture_around_the_simulated_npu_records_or_refuses(
    build: dict[str, Path], tmp_path: Path
) -> None:
    run = ("--", sys.executable, "-m", "pyaclnn", "mock", "run")
    trace, printed = captured(tmp_path / "run.trace", *run, build["sample"], "3")
    assert printed == "2 126\n"
    assert [call.name for call in calls(trace)].count("aclnnAdd") == 3
    other = ("capture", "-o", tmp_path / "other.trace", *run, "--cann", "8.1", build["sample"], "3")
    done = pyaclnn(*other, PYACLNN_MOCK_CANN="9.1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pyaclnn mock run pyaclnn capture" in done.stderr


SOURCE = "int main(void) { return 0; }"


def test_a_program_that_records_nothing_is_named_with_the_reason(tmp_path: Path) -> None:
    trace, compiler = tmp_path / "run.trace", shlex.split(os.environ.get("CC", "cc"))
    (tmp_path / "empty.c").write_text(SOURCE)
    subprocess.run([*compiler, "-static", "empty.c", "-o", "empty"], cwd=tmp_path, check=True)
    (tmp_path / "other").write_bytes((tmp_path / "empty").read_bytes())
    (tmp_path / "other").chmod(0o4755)
    rows: tuple[tuple[list[str | Path], str, int], ...] = (
        (["true"], "called no function of CANN", 2),
        (["sh", "-c", "exit 7"], "called no function of CANN", 7),
        ([tmp_path / "empty"], "linked statically", 2),
        ([tmp_path / "other"], "runs as another user", 2),
    )
    for program, reason, status in rows:
        done = pyaclnn("capture", "-o", trace, "--", *program)
        assert "pyaclnn capture: nothing was recorded: " in done.stderr
        assert reason in done.stderr
        assert done.returncode == status
        assert not trace.exists()


def test_a_signal_to_the_command_ends_the_program_and_its_status(tmp_path: Path) -> None:
    environment = {**os.environ, "PYACLNN_BACKEND": "mock"}
    program = f"import time\n{CHOOSES}\nprint(1, flush=True)\ntime.sleep(99)"
    command = [sys.executable, "-m", "pyaclnn", "capture", "-o", str(tmp_path / "run.trace"), "--"]
    command += [sys.executable, "-c", program]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"1"
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 128 + signal.SIGTERM
    assert list(read_trace(tmp_path / "run.trace"))[-1] == Ended(signal.SIGTERM)


CHOOSES = """
import numpy as np, pyaclnn
pyaclnn.select_backend("mock")
pyaclnn.rms_norm(np.ones((2, 8), np.float32), np.ones(8, np.float32))
"""


def test_a_program_that_chooses_the_backend_itself_is_captured(tmp_path: Path) -> None:
    shown = pyaclnn("trace", "show", capture(tmp_path / "run.trace", CHOOSES))
    assert "aclnnRmsNorm" in shown.stdout


@pytest.mark.exhaustive
def test_a_limited_trace_keeps_the_newest_part_and_what_it_needs(
    build: dict[str, Path], tmp_path: Path
) -> None:
    command = ("--limit", "64K", "--", build["sample"], "3000")
    trace, _ = captured(tmp_path / "run.trace", *command)
    old = trace.with_name("run.trace.old")
    assert trace.stat().st_size + old.stat().st_size < 150_000
    assert calls(trace)[-1].name == "aclFinalize"
    for part in (old, trace):
        assert "incomplete" not in pyaclnn("trace", "show", part).stdout
        of = {r.call for r in read_trace(part) if isinstance(r, Contents)}
        assert of <= {call.number for call in calls(part)}
        assert [r.name for r in read_trace(part) if isinstance(r, Chip)] == ["Ascend910B3"]
        done = pyaclnn("replay", part)
        assert done.returncode == 0, done.stdout


@pytest.mark.exhaustive
def test_a_crash_leaves_the_calls_before_it_and_its_signal(
    build: dict[str, Path], tmp_path: Path
) -> None:
    trace, _ = captured(tmp_path / "run.trace", "--", build["sample"], "3", CRASH="1")
    assert list(read_trace(trace))[-1] == Ended(signal.SIGSEGV)
    assert [call.name for call in calls(trace)][-1] == "aclrtSynchronizeStream"


@pytest.mark.exhaustive
def test_a_child_of_a_fork_has_a_file_of_its_own(build: dict[str, Path], tmp_path: Path) -> None:
    trace, printed = captured(tmp_path / "run.trace", "--", build["sample"], "3", FORK="1")
    assert printed == "2 126\n"
    parent, child = traces_of(trace)
    assert calls(parent)[-1].name == "aclFinalize"
    assert [call.name for call in calls(child)] == ["aclrtCreateStream"]
    shown = pyaclnn("trace", "show", trace)
    assert f"other processes of the program: {child.name}\n" in shown.stdout


THREADS = """
import threading, numpy as np
from pyaclnn import aclnn
def work(first):
    for step in range(first, first + 5):
        aclnn.add(np.full((4, 4), step, np.float32), np.ones(4, np.float32), alpha=1.0)
threads = [threading.Thread(target=work, args=(first,)) for first in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.exhaustive
def test_results_of_threads_that_share_a_stream_are_those_of_their_calls(tmp_path: Path) -> None:
    done = pyaclnn("replay", capture(tmp_path / "run.trace", THREADS, "--contents", "full"))
    assert " 15 results compared" in done.stdout
    assert "no divergence" in done.stdout, done.stdout


@pytest.mark.exhaustive
def test_children_of_a_program_with_threads_neither_hang_nor_take_its_file(
    build: dict[str, Path], tmp_path: Path
) -> None:
    command = ("--limit", "16K", "--", build["forks"], "20")
    trace, printed = captured(tmp_path / "run.trace", *command)
    assert printed == "0 hung\n"
    own, *children = traces_of(trace)
    assert len(children) == 20
    assert list(read_trace(own))[-1] == Ended(0)
    for path in children:
        (process,) = (r for r in read_trace(path) if isinstance(r, Process))
        assert path.suffix == f".{process.number}"


@pytest.mark.exhaustive
@pytest.mark.long
def test_a_kill_at_any_moment_leaves_a_readable_trace(
    build: dict[str, Path], tmp_path: Path
) -> None:
    chance = random.Random(31)
    from_here = {**os.environ, "PYACLNN_BACKEND": "mock"}
    settings = Settings(contents="full")
    readable = most = 0
    for number in range(200):
        trace, in_loop = tmp_path / f"{number}.trace", bool(number % 2)
        process = subprocess.Popen(
            [build["loop"], "100000000", *["without a device"] * in_loop],
            env=environment_of_capture(from_here, trace, settings),
            stdout=subprocess.DEVNULL,
        )
        # Half of them are killed while the device starts, half in the loop behind.
        while not trace.exists() or (in_loop and trace.stat().st_size < 4096):
            time.sleep(0.001)
        # Most of them early: a long trace takes a hundred times as long to read as to write.
        time.sleep(chance.random() * chance.choice((0.01, 0.02, 0.1)))
        process.kill()
        process.wait()
        found = [call.number for call in calls(trace)]
        assert found == list(range(len(found)))
        readable, most = readable + 1, max(most, len(found))
        trace.unlink()
    assert readable == 200
    assert most > 1000


@pytest.mark.exhaustive
@pytest.mark.long
def test_a_million_calls_need_no_more_memory_than_a_few(
    build: dict[str, Path], tmp_path: Path
) -> None:
    used = {}
    for count in (10_000, 1_000_000):
        trace = tmp_path / f"{count}.trace"
        command = ("--contents", "hash", "--", build["loop"], str(count))
        _, printed = captured(trace, *command)
        match = re.search(r"(\d+) kB", printed)
        assert match is not None
        used[count] = int(match[1])
        per_call = trace.stat().st_size / count
        assert per_call < 200
    assert used[1_000_000] < used[10_000] + 2048
    assert sum(1 for record in read_trace(trace) if isinstance(record, Call)) > 1_000_000
