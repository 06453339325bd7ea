# SPDX-License-Identifier: Apache-2.0
"""A program that begins as a fork ends, prints and reports as one that was started."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests import fork_server
from tests.fork_server import run_program, serve_programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAMS = {
    "arguments": "import sys; print(sys.argv, sys.path[0], sys.stdin.read()); sys.exit(3)",
    "errors": "def fail():\n    1 / 0\nfail()",
    "ends": "import atexit; atexit.register(print, 'ended')",
    "finalizes": "class A:\n  def __del__(self): print('gone')\na, b = A(), [A()]\nb += [b]",
    "imports": "import colorsys, sys; sys.modules['of its own'] = type(sys)('of its own')",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "folder": "import os; print(os.getcwd(), os.environ['GIVEN'])",
    "descriptors": "import os; print(sorted(os.listdir('/proc/self/fd')))",
    "warned": "import warnings; warnings.warn('of its own')",
    "main": "import __main__\nx = 1\nprint(__main__.x, __name__)",
    "bytes": "import sys; sys.stdout.buffer.write(b'a\\r\\nb'); print(sys.stdout.encoding)",
}


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    before, fork_server._open[:] = fork_server._open[:], []
    with serve_programs():
        yield
    fork_server._open[:] = before


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("action", ["default", "error"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_fork_is_like_a_process_of_its_own(
    program: str, action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (sys.executable, "-W", action, "-c", PROGRAMS[program], "one", "two")
    environment = {**os.environ, "GIVEN": "a variable"}
    forked = run_program(command, environment, tmp_path, "given")
    monkeypatch.setattr(fork_server, "_open", [])
    assert vars(forked) == vars(run_program(command, environment, tmp_path, "given"))


@pytest.mark.usefixtures("server")
def test_what_is_read_at_the_start_needs_a_process_of_its_own() -> None:
    program = (sys.executable, "-c", "import os, sys; print(os.getppid(), 'numpy' in sys.modules)")
    assert run_program(program, os.environ).stdout.split()[1] == "True"
    other = run_program(program, {**os.environ, "PYTHONUTF8": "1"}).stdout.split()
    assert other == [str(os.getpid()), "False"]
