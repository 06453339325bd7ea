# SPDX-License-Identifier: Apache-2.0
"""A program that begins as a fork ends, prints and reports as one that was started."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests import fork_server
from tests.fork_server import run_program, serve_programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kept import Keep

PROGRAMS = {
    "arguments": "import sys; print(sys.argv, sys.path[0], sys.stdin.read()); sys.exit(3)",
    "errors": "def fail():\n    1 / 0\nfail()",
    "ends": "import atexit; atexit.register(print, 'ended')",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "folder": "import os; print(os.getcwd(), os.environ['GIVEN'])",
    "descriptors": "import os; print(sorted(os.listdir('/proc/self/fd')))",
    "warned": "import warnings; warnings.warn('of its own')",
    "main": "import __main__\nx = 1\nprint(__main__.x, __name__)",
    "bytes": "import sys; sys.stdout.buffer.write(b'a\\r\\nb'); print(sys.stdout.encoding)",
}


@pytest.fixture(scope="module")
def server(keep: Keep) -> Iterator[None]:
    before, fork_server._open[:] = fork_server._open[:], []
    with serve_programs(keep):
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


DEVICES = {
    "arguments": "import os, sys; print(sys.argv, sys.path[0], os.getcwd(), file=sys.stderr)",
    "variables": "import os, sys; print(sorted(os.environ), file=sys.stderr)",
    "descriptors": "import os, sys; print(sorted(os.listdir('/proc/self/fd')), file=sys.stderr)",
    "status": "import os; os._exit(3)",
    "killed": "import os; os.kill(os.getpid(), 9)",
}
LOADED = "import sys; print('numpy' in sys.modules, file=sys.stderr)"
MODULE = "  # for pyaclnn.mock.device.process"
# A device process has a socket, its memory and a pipe.
WITH_DESCRIPTORS = ("sh", "-c", 'exec "$@" 3</dev/null 4</dev/null 5</dev/null', "sh")
NUMBERS = ("3", "4", "5")


def device(
    python: str, code: str, folder: Path, limit: str = "true", **variables: str
) -> tuple[int, str]:
    shell, option, script, name = WITH_DESCRIPTORS
    environment = {**os.environ, "GIVEN": "a variable", **variables}
    done = subprocess.run(
        [shell, option, f"{limit}; {script}", name, python, "-c", code + MODULE, *NUMBERS],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("code", DEVICES.values(), ids=DEVICES)
def test_a_forked_device_process_is_like_one_that_was_started(code: str, tmp_path: Path) -> None:
    launcher = fork_server._open[0].launcher
    assert device(launcher, code, tmp_path) == device(sys.executable, code, tmp_path)


@pytest.mark.usefixtures("server")
def test_what_has_other_limits_or_variables_or_is_no_device_is_no_fork(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = fork_server._open[0].launcher
    assert device(launcher, LOADED, tmp_path) == (0, "True\n")
    assert device(launcher, LOADED, tmp_path, "ulimit -n 99") == (0, "False\n")
    assert device(launcher, LOADED, tmp_path, PYTHONUTF8="1") == (0, "False\n")
    monkeypatch.setattr(sys.modules[__name__], "MODULE", "  # for another one")
    assert device(launcher, LOADED, tmp_path) == (0, "False\n")


@pytest.mark.usefixtures("server")
def test_a_forked_device_process_ends_with_its_launcher() -> None:
    code = "import os, sys, time; print(os.getpid(), file=sys.stderr, flush=True); time.sleep(60)"
    command = [*WITH_DESCRIPTORS, fork_server._open[0].launcher, "-c", code + MODULE, *NUMBERS]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as launcher:
        assert launcher.stderr is not None
        process = int(launcher.stderr.readline())
        assert process != launcher.pid
        ended = os.pidfd_open(process)
        launcher.kill()
        assert select.select([ended], [], [], 30)[0]
        os.close(ended)
