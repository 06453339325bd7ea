# SPDX-License-Identifier: Apache-2.0
"""The command where memory is scarce: in a container, under ``ulimit``, without overcommit."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .commands import run, silent_environment

LIMITED = """
import resource, runpy, sys
limit, size = getattr(resource, sys.argv.pop(1)), int(sys.argv.pop(1))
resource.setrlimit(limit, (size, size))
try:
    bytearray(size)
except MemoryError:
    runpy.run_module("pyaclnn", run_name="__main__", alter_sys=True)
else:
    sys.exit("the limit does not hold")
"""
ONE_OPERATOR = ("smoke", "--backend", "mock", "--operator", "rms_norm", "--dtype", "float32")


def smoke(limit: str, size: int) -> tuple[int, str, str]:
    """Run smoke on one operator, in a process that may not have more than so many bytes."""
    command = (sys.executable, "-c", LIMITED, limit, str(size), *ONE_OPERATOR)
    # The memory of OpenBLAS threads, which depends on the cores, is excluded. A fork of the tests'
    # server would not do: it has more memory from the first than some of the limits allow.
    environment = silent_environment(OPENBLAS_NUM_THREADS="1")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("limit", "size"),
    [
        pytest.param(
            *("RLIMIT_AS", 4_000_000 << 10),
            id="address space, as ulimit -v 4000000",
            marks=pytest.mark.exhaustive,
        ),
        # The kernel counts here what it would have to back with memory if it did not overcommit:
        # private pages that can be written. The device's tens of gigabytes are none of these.
        pytest.param("RLIMIT_DATA", 400 << 20, id="memory that is promised, as without overcommit"),
    ],
)
def test_smoke_passes_with_much_less_than_a_device_has(limit: str, size: int) -> None:
    status, told, errors = smoke(limit, size)
    assert status == 0, errors
    assert "outputs passed on the simulated NPU" in told


def test_what_cannot_be_had_is_an_error_that_names_the_limit() -> None:
    status, told, errors = smoke("RLIMIT_AS", 500 << 20)
    assert (status, told) == (2, "")
    assert "address space cannot be reserved: raise the limit (ulimit -v)" in errors


PLANTED = """
import resource, sys
import pyaclnn.cli
from pyaclnn.__main__ import main
def refused(arguments=None): raise {error}
pyaclnn.cli.main = refused
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
sys.exit(main())
"""


def test_the_command_ends_in_one_line_where_memory_runs_out() -> None:
    done = run(sys.executable, "-c", PLANTED.format(error="MemoryError('no room for it')"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pyaclnn: memory ran out (MemoryError: no room for it): ")
    assert "no more than 1048576 KiB of data (ulimit -d)" in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_other_error_is_taken_for_it() -> None:
    done = run(sys.executable, "-c", PLANTED.format(error="KeyError('x')"))
    assert "Traceback" in done.stderr
    assert "memory ran out" not in done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_from_ample_to_nothing_each_end_of_the_command_names_the_limit(limit: str) -> None:
    """Where NumPy's OpenBLAS ends the process, or it crashes on import, nobody can say anything."""
    word = {"RLIMIT_AS": "(ulimit -v)", "RLIMIT_DATA": "(ulimit -d)"}[limit]
    ends = []
    for size in (400, 200, 100, 90, 80, 75, 70, 65, 60, 57, 15, 12):
        status, told, errors = smoke(limit, size << 20)
        ends.append(status)
        if status == 0:
            assert "outputs passed on the simulated NPU" in told
        elif status == 1 and not told and ", in main\n" not in errors:
            continue  # Python had not come to the command
        elif "OpenBLAS" not in errors and status > 0:
            assert status in {2, 3}, errors
            assert word in errors
    assert {2, 3} & set(ends), "no limit was too small"
    assert ends[0] == (0 if limit == "RLIMIT_DATA" else 2)
