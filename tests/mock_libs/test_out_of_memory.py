# SPDX-License-Identifier: Apache-2.0
"""A device process that runs out of memory: the program gets an error that names memory."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.mock_libs.programs import Programs

pytestmark = pytest.mark.usefixtures("own_processes")

MIB = 1 << 20
GROUPS = Path("/sys/fs/cgroup")
LIMITS = {"memory/cgroup.procs": "memory.limit_in_bytes", "cgroup.procs": "memory.max"}
"""Memory limit of a control group of version 1 and 2, by a file that exists in that version."""

PROGRAM = """
import json, os, resource, sys
from pathlib import Path
import numpy as np, pyaclnn
device = pyaclnn.Device(0)
x = pyaclnn.to_device(np.ones(1 << 10, np.float32))
large = pyaclnn.to_device(np.ones(1 << 25, np.float32))
def compute(given):
    result = given * 2.0 + given
    device.synchronize()
    return float(result.numpy()[0])
compute(x)
[process] = [int(pid) for task in Path("/proc/self/task").glob("*/children")
             for pid in task.read_text().split()]
if sys.argv[1] == "limit":
    resource.prlimit(process, resource.RLIMIT_DATA, (64 << 20, 64 << 20))
else:
    Path(sys.argv[1], "cgroup.procs").write_text(str(process))
said = []
for given in (large, x):
    try:
        said.append(compute(given))
    except pyaclnn.AclError as error:
        said.append([type(error).__name__, error.cause or error.code, str(error)])
print(json.dumps(said))
"""


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group with 64 MiB of memory."""
    for known, limit in LIMITS.items():
        folder = (GROUPS / known).parent / f"pyaclnn-{os.getpid()}"
        if not (GROUPS / known).exists():
            continue
        try:
            folder.mkdir()
        except OSError as error:
            pytest.skip(f"no control group can be made: {error}")
        try:
            (folder / limit).write_text(str(64 * MIB), encoding="ascii")
            yield folder
        except OSError as error:
            pytest.skip(f"no control group has a limit of memory: {error}")
        finally:
            folder.rmdir()
        return
    pytest.skip("there are no control groups of memory")


def said(programs: Programs, how: str) -> list[list[object] | float]:
    done = programs.run([sys.executable, "-c", PROGRAM, how], {"PYACLNN_BACKEND": "mock"})
    assert done.returncode == 0, done.stderr
    answers: list[list[object] | float] = json.loads(done.stdout)
    return answers


def test_a_device_process_that_is_killed_is_a_lost_device(programs: Programs, group: Path) -> None:
    for answer in said(programs, str(group)):
        assert isinstance(answer, list)
        assert answer[:2] == ["DeviceLostError", 507010]
        assert "killed (SIGKILL): the machine or the container ran out of memory" in str(answer[2])


def test_a_device_process_at_its_limit_refuses_and_lives_on(programs: Programs) -> None:
    large, small = said(programs, "limit")
    assert isinstance(large, list)
    assert "memory ran out (MemoryError: Unable to allocate 128. MiB" in str(large[2])
    assert "of data (ulimit -d)" in str(large[2])
    assert small == 3.0
