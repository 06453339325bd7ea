# SPDX-License-Identifier: Apache-2.0
"""HCCL between processes, each with a simulated NPU of its own; ranks that never come, or die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock import libdir

from .programs import HERE
from .sanitized import KINDS, OPTIONS, build_libraries, flags_of, start
from .test_collectives import all_reduce, call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kept import Keep

    from .programs import Programs

_NUMBER = count()
_TIMEOUT = 120


class World:
    """Processes that are a rank each.

    Args:
        folder: Where they leave files for each other.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *steps: list[Any], ranks: int = 2, **environment: str) -> list[Any]:
        """Return the results of each process's steps; None if it died."""
        path = {"LD_LIBRARY_PATH": str(libdir()), "PYACLNN_MOCK_DEVICES": str(ranks)}
        root_info = str(self.folder / f"root-{next(_NUMBER)}")
        processes = []
        for rank, own in enumerate(steps):
            process = subprocess.Popen(
                [sys.executable, str(HERE / "ranks.py")],
                env={**os.environ, **path, **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            processes.append(process)
            assert process.stdin is not None
            request = {"ranks": ranks, "here": [rank], "root_info": root_info, "steps": own}
            request["processes"] = len(steps)
            process.stdin.write(json.dumps(request))
            process.stdin.close()
            process.stdin = None
        ended = [(*process.communicate(timeout=_TIMEOUT), process) for process in processes]
        for _, errors, process in ended:
            assert process.returncode in {0, -9}, errors
        return [json.loads(out) if process.returncode == 0 else None for out, _, process in ended]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def ones(rank: int, function: str, arguments: list[Any]) -> dict[str, Any]:
    array = np.full(2, rank + 1, np.float32)
    return call(rank, function, [*arguments], array, np.zeros(2, np.float32))


def floats(answer: dict[str, Any]) -> list[float]:
    return [float(value) for value in np.frombuffer(bytes.fromhex(answer["receive"]), np.float32)]


def test_values_travel_and_work_goes_on_while_a_program_waits_elsewhere(
    world: World, tmp_path: Path
) -> None:
    """Rank 1 queues two sums, waits for a file of rank 0, and only then synchronizes."""
    file, summed = str(tmp_path / "told"), ["send", "receive", 2, 4, 0]
    first = [[ones(0, "HcclAllReduce", summed)], [ones(0, "HcclAllReduce", summed)]]
    second = [[ones(1, "HcclAllReduce", summed)] * 2 + ["go on"], {"wait": file}]
    message = [
        [[ones(0, "HcclSend", ["send", 2, 4, 1])]],
        [[ones(1, "HcclRecv", ["receive", 2, 4, 0])]],
    ]
    one, other = world([*first, {"tell": file}, *message[0]], [*second, *message[1]])
    assert (one["joined"], other["joined"]) == (0, 0)
    assert [floats(answer) for answer in one["answers"][:2]] == [[3.0, 3.0]] * 2
    assert floats(other["answers"][-1]) == [1.0, 1.0]
    assert {a["synchronized"] for a in [*one["answers"], other["answers"][-1]]} == {0}


@pytest.mark.exhaustive
def test_a_rank_that_does_not_come_to_the_group_is_named(world: World) -> None:
    one, other = world([], [], ranks=4, HCCL_CONNECT_TIMEOUT="2")
    for answer in (one, other):
        assert answer["joined"] == 9
        assert "after 2 s, ranks 2, 3 of 4 did not come" in answer["text"]


@pytest.mark.exhaustive
def test_a_rank_that_does_not_come_to_an_operation_is_named(world: World, tmp_path: Path) -> None:
    file = str(tmp_path / "over")
    one, _ = world([[all_reduce(0)], {"tell": file}], [{"wait": file}], HCCL_EXEC_TIMEOUT="2")
    (answer,) = one["answers"]
    assert (answer["synchronized"], answer["error"]) == (507048, 9)
    assert "AllReduce: after 2 s, rank 1 did not come to it" in answer["text"]


def test_a_rank_that_dies_fails_the_others_at_once(world: World) -> None:
    one, other = world([[all_reduce(0)]], ["die"])
    assert other is None
    (answer,) = one["answers"]
    assert (answer["synchronized"], answer["error"]) == (507057, 21)
    assert "rank 1 has died" in answer["text"]


@pytest.mark.exhaustive
def test_a_rank_that_leaves_is_named_to_those_who_need_it(world: World) -> None:
    one, other = world([[all_reduce(0)]], [])
    assert other["joined"] == 0
    (answer,) = one["answers"]
    assert (answer["synchronized"], answer["error"]) == (507057, 21)
    assert "rank 1 has destroyed its communicator, or ended" in answer["text"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "text"), [("HCCL_CONNECT_TIMEOUT", "soon"), ("HCCL_EXEC_TIMEOUT", "-1")]
)
def test_a_wrong_time_limit_is_named(world: World, name: str, text: str) -> None:
    (one,) = world([], ranks=1, **{name: text})
    assert one["joined"] == 1
    assert "EI0001: [PID: " in one["text"]
    assert f"{name} is '{text}'; it must be a number of seconds" in one["text"]


@pytest.fixture(params=["c", *(pytest.param(k, marks=pytest.mark.exhaustive) for k in KINDS)])
def program(request: pytest.FixtureRequest, programs: Programs, keep: Keep) -> list[str | Path]:
    """The command of a program in C, also with the compiler's sanitizers."""
    kind: str = request.param
    if kind == "c":
        return [programs.build("ranks.c")]
    link = build_libraries(keep, kind)
    return [*start(), programs.build("ranks.c", *flags_of(kind), link=link)]


def test_a_program_in_c_sums_over_threads_and_over_processes(
    program: list[str | Path], programs: Programs, tmp_path: Path
) -> None:
    environment = {**OPTIONS, "PYACLNN_MOCK_DEVICES": "3", "PYACLNN_MOCK_STRICT": "1"}
    alone = programs.run([*program, "all", "3"], environment)
    assert (alone.returncode, alone.stderr) == (0, "")
    several = [
        subprocess.Popen(
            [*map(str, program), str(rank), "2", str(tmp_path / "root")],
            env={**os.environ, **environment},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for process in several:
        _, errors = process.communicate(timeout=_TIMEOUT)
        assert (process.returncode, errors) == (0, "")


_ENDS_AT_ONCE = """
import os, socket, subprocess, sys
meeting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
meeting.bind(b"\\0" + sys.argv[1].encode())
meeting.listen()
place = str(meeting.fileno())
code = "import os; from pyaclnn.mock.collectives.process import main; os.read(0, 1); main([%r])"
command = [sys.executable, "-c", code % place]
subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[meeting.fileno()])
os._exit(0)
"""


def test_the_process_where_ranks_meet_ends_with_who_started_it_before_it_began(
    tmp_path: Path,
) -> None:
    # It begins when its standard input ends, which is when the host has.
    done = subprocess.run(
        [sys.executable, "-c", _ENDS_AT_ONCE, str(tmp_path)],
        cwd="/",
        stdout=subprocess.PIPE,  # open for as long as one of the two lives
        stderr=subprocess.STDOUT,
        timeout=_TIMEOUT / 4,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "")
