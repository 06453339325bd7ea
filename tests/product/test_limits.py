# SPDX-License-Identifier: Apache-2.0
"""The command where memory is scarce: in a container, under ``ulimit``, without overcommit."""

from __future__ import annotations

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
    # What a thread of OpenBLAS takes, times the machine's cores, is not the subject.
    done = run(*command, environment=silent_environment(OPENBLAS_NUM_THREADS="1"))
    return done.returncode, done.stdout, done.stderr


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
