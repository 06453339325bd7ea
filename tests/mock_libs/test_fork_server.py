# SPDX-License-Identifier: Apache-2.0
"""Device processes as forks: like those that hosts start, and ended by the same events."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .npu import has_ended, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .programs import Programs

VARIABLE = "PYACLNN_MOCK_FORK_SERVER"
KERNEL = Path(__file__).with_name("look_around.py")
LOOK = "call('aclrtSetDevice', 0); problem = RmsNormGrad(); problem.launch(); finish(); "
END = "problem.close(); call('aclrtResetDevice', 0)"
FINISH = "def finish(): call('aclrtSynchronizeStream', NULL)\n"
SOURCE = Path(__file__).parents[2] / "mock_libs/model/process/fork_server.c"
READ_AT_START = tuple(
    re.findall(r'"(\w+)=?"', SOURCE.read_text("utf-8").partition("READ[] = {")[2].partition("}")[0])
)
LOADED = """
import json, os
parent = json.load(open(os.environ['SEEN']))['parent']
print('_multiarray_umath' in open(f'/proc/{parent}/maps').read())
"""
"""Prints if the server has loaded NumPy."""
OWN = {"process", "parent"}
"""Observations that differ in every process."""


@pytest.fixture
def session() -> Iterator[subprocess.Popen[bytes]]:
    """A process in whose lifetime there are fork servers, which nobody else uses."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


class Looker:
    """Runs programs whose device process looks around."""

    def __init__(self, programs: Programs, file: Path, session: int) -> None:
        self.programs = programs
        self._file = file
        self.session = str(session)

    def run(self, before: str = "", after: str = END, **variables: str) -> dict[str, Any]:
        """Run a program and return what its device process sees, and what the program prints."""
        self._file.unlink(missing_ok=True)
        named = {
            "PYACLNN_MOCK_OPERATORS": str(KERNEL),
            "SEEN": str(self._file),
            VARIABLE: self.session,
        }
        done = self.programs.python(f"{before}\n{FINISH}{LOOK}\n{after}", **{**named, **variables})
        assert done.stderr == ""
        found: dict[str, Any] = json.loads(self._file.read_text(encoding="utf-8"))
        return {**found, "printed": done.stdout}

    def is_fork(self, seen: dict[str, Any]) -> bool:
        """Return whether a device process was started by a fork server."""
        command = Path(f"/proc/{seen['parent']}/cmdline")
        return command.exists() and b"fork_server" in command.read_bytes()


@pytest.fixture
def looker(programs: Programs, tmp_path: Path, session: subprocess.Popen[bytes]) -> Looker:
    return Looker(programs, tmp_path / "seen.json", session.pid)


def test_forks_are_like_processes_that_the_host_starts(looker: Looker) -> None:
    """The first two begin before the server has loaded NumPy, the third after that."""
    variables = {"PYTHONHASHSEED": "5", "FREE": "a = b", "EMPTY": "", "LANG": "C"}
    started = looker.run(**variables, **{VARIABLE: ""})
    assert started["variables"].pop(VARIABLE) == ""
    assert not looker.is_fork(started)
    for has_numpy in ("False\n", None, "True\n"):
        fork = looker.run(**variables, after=f"{LOADED}\n{END}")
        assert has_numpy in {fork.pop("printed"), None}
        assert looker.is_fork(fork)
        assert fork["variables"].pop(VARIABLE) == looker.session
        assert {name: fork[name] for name in fork.keys() - OWN} == {
            name: started[name] for name in fork.keys() - OWN
        }


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "change",
    [
        "os.umask(0o77)",
        "os.nice(1)",
        "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])",
        "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
        "open('/proc/self/oom_score_adj', 'w').write('7')",
        "import ctypes; ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)",
        "import ctypes; ctypes.CDLL(None).personality(0x40000)",
        "os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))",
    ],
    ids=[
        *("umask", "priority", "processors", "limit", "oom", "no-new-privileges", "personality"),
        "scheduler",
    ],
)
def test_a_host_that_differs_from_the_server_starts_its_processes_itself(
    looker: Looker, change: str
) -> None:
    assert looker.is_fork(looker.run())
    assert not looker.is_fork(looker.run(before=f"import os; {change}"))
    assert looker.is_fork(looker.run())


SIGNALS = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGQUIT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGCHLD])
"""


@pytest.mark.parametrize("first", ["", SIGNALS])
def test_forks_have_the_signals_of_their_host(looker: Looker, first: str) -> None:
    """The first host has started the server, which serves all others."""
    assert looker.is_fork(looker.run(before=first))
    for before in ("", SIGNALS):
        fork, started = looker.run(before=before), looker.run(before=before, **{VARIABLE: ""})
        assert looker.is_fork(fork)
        for what in ("signals", "blocked"):
            assert fork[what] == started[what]
    assert os.readlink(f"/proc/{fork['parent']}/cwd") == "/"  # noqa: PTH115


def test_there_is_a_server_for_what_is_read_at_the_start(looker: Looker) -> None:
    seen = [looker.run(PYTHONHASHSEED=seed) for seed in ("1", "2", "1")]
    assert all(map(looker.is_fork, seen))
    servers = [one["parent"] for one in seen]
    assert servers[0] == servers[2] != servers[1]
    assert seen[0]["seed"] == seen[2]["seed"] != seen[1]["seed"]


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        (signal.SIGKILL, "was killed (SIGKILL)"),
        (signal.SIGSEGV, "its process ended"),
        pytest.param(signal.SIGSTOP, "has been stopped", marks=pytest.mark.exhaustive),
    ],
)
def test_the_end_of_a_fork_is_a_lost_device(
    looker: Looker, number: signal.Signals, answer: str
) -> None:
    after = f"""
import json, os
process = json.load(open(os.environ['SEEN']))['process']
os.kill(process, {number:d})
if {number == signal.SIGSTOP}: problem.launch()
assert wait_until(lambda: lib.aclrtSynchronizeStream(NULL) == 507010)
print(message())
problem.close(); call('aclrtResetDevice', 0)
call('aclrtSetDevice', 0); problem = RmsNormGrad(); problem.launch(); finish()
print(process, has_ended(process))
{END}
"""
    seen = looker.run(after=after)
    lost, ended = seen["printed"].splitlines()
    assert answer in lost
    assert ended.split()[1] == "True"
    assert looker.is_fork(seen)


def test_a_fault_loses_the_device_where_the_server_has_ended(looker: Looker) -> None:
    after = """
import json, os
server = json.load(open(os.environ['SEEN']))['parent']
os.kill(server, 9)
assert wait_until(lambda: has_ended(server))
print(lib.aclrtSynchronizeDevice())
problem.close(); call('aclrtResetDevice', 0)
"""
    faults = {"PYACLNN_MOCK_FAULTS": "aclrtSynchronizeDevice:1=lost"}
    assert looker.run(after=after, **faults)["printed"] == "507010\n"


@pytest.mark.exhaustive
def test_a_stopped_server_holds_up_neither_a_start_nor_an_end(looker: Looker) -> None:
    after = f"""
import json, os, signal
server = json.load(open(os.environ['SEEN']))['parent']
os.kill(server, signal.SIGSTOP)
print(lib.aclrtSetDevice(1), message())
{END}
os.kill(server, signal.SIGCONT)
call('aclrtSetDevice', 1); problem = RmsNormGrad(); problem.launch(); finish()
problem.close(); call('aclrtResetDevice', 1)
"""
    many = {"PYACLNN_MOCK_DEVICES": "2", "PYACLNN_MOCK_PATIENCE": "30"}
    seen = looker.run(after=after, **many)
    assert seen["printed"].startswith("507033 "), seen
    assert "did not answer within 30 s" in seen["printed"]
    assert looker.is_fork(seen)


def test_a_python_that_does_not_start_has_its_time(looker: Looker, tmp_path: Path) -> None:
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 600\n", encoding="ascii")
    slow.chmod(0o755)
    code = "import os; print(lib.aclrtSetDevice(0), message(), len(children()))"
    variables = {"PYACLNN_MOCK_PYTHON": str(slow), "PYACLNN_MOCK_PATIENCE": "1"}
    done = looker.programs.python(code, **{VARIABLE: looker.session, **variables})
    assert done.stdout.startswith("507033 "), done.stderr
    assert done.stdout.endswith("PATIENCE to more seconds 0\n")


@pytest.mark.parametrize(
    "command",
    [
        'ulimit -n 48; exec "$0" "$@"',
        'exec env =x "$0" "$@"',
        'exec "$0" "$@" 2>&-',
        'cd $(mktemp -d) && rmdir $PWD; exec "$0" "$@"',
    ],
    ids=["descriptors", "nameless", "no-errors", "no-folder"],
)
def test_a_program_in_an_unusual_state_has_its_device(looker: Looker, command: str) -> None:
    start = ["bash", "-c", command, sys.executable, "-c"]
    if subprocess.run([*start, "import socket"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("this Python itself imports nothing there: 3.13.0 does so without a folder")
    for _ in range(3):
        code = f"import sys; sys.path.append({str(KERNEL.parent)!r}); from npu import *; load()\n"
        code += FINISH + LOOK + END + "; print('fine')"
        done = subprocess.run(
            [*start, code],
            env={**os.environ, VARIABLE: looker.session},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=900,
        )
        assert done.stdout == "fine\n"


def test_a_relative_path_for_python_is_read_by_a_process_of_the_host(looker: Looker) -> None:
    assert not looker.is_fork(looker.run(PYTHONPATH="."))
    assert not looker.is_fork(looker.run(PYTHONPATH="/usr:"))
    assert looker.is_fork(looker.run(PYTHONPATH="/usr"))


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os._exit(0)", END])
def test_a_fork_ends_with_its_host(looker: Looker, end: str) -> None:
    seen = looker.run(after=f"import os\n{end}")
    assert wait_until(lambda: not Path(f"/proc/{seen['process']}").exists())
    assert looker.is_fork(looker.run())  # the server has reaped it, and lives on


def test_a_device_does_without_its_server(looker: Looker) -> None:
    after = f"""
import json, os
first = json.load(open(os.environ['SEEN']))
os.kill(first['parent'], 9)
assert wait_until(lambda: has_ended(first['parent']))
problem.launch(); finish()
{END}
assert wait_until(lambda: has_ended(first['process']))
call('aclrtSetDevice', 0); problem = RmsNormGrad(); problem.launch(); finish()
second = json.load(open(os.environ['SEEN']))
print(first['parent'] != second['parent'])
{END}
"""
    seen = looker.run(after=after)
    assert seen["printed"] == "True\n"
    assert looker.is_fork(seen)


MANY = f"""
import sys; sys.path.append({str(KERNEL.parent)!r})
from npu import *; load()
for number in range(16):
    call('aclrtSetDevice', number)
print('open', flush=True); sys.stdin.read()
problem = RmsNormGrad(); problem.launch(); call('aclrtSynchronizeStream', NULL); problem.close()
print(children())
for number in range(16):
    call('aclrtResetDevice', number)
"""


@pytest.mark.exhaustive
def test_a_server_has_many_children_at_once(looker: Looker) -> None:
    """The numbers of their connections are above 64."""
    variables = {**os.environ, VARIABLE: looker.session, "PYACLNN_MOCK_DEVICES": "16"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", MANY]
    with contextlib.ExitStack() as stack:
        hosts = []
        for _ in range(6):
            hosts.append(subprocess.Popen(command, env=variables, **pipes))  # type: ignore[call-overload]
            stack.callback(hosts[-1].kill)
        for host in hosts:
            assert host.stdout.readline() == "open\n"
        for host in hosts:
            assert host.communicate()[0] == "[]\n"


OPEN_AND_FORK = """
import json, os, signal, threading, time, warnings
warnings.simplefilter('ignore')  # of forks beside threads
forks = []
def fork():
    while not done:
        process = os.fork()
        if process == 0:
            signal.pause()
        forks.append(process)
        time.sleep(0.002)
done = []
thread = threading.Thread(target=fork); thread.start()
for _ in range(20):
    call('aclrtSetDevice', 0); call('aclrtResetDevice', 0)
call('aclrtSetDevice', 0); done.append(1); thread.join()
problem = RmsNormGrad(); problem.launch(); finish()
os.kill(json.load(open(os.environ['SEEN']))['process'], 9)
print(wait_until(lambda: lib.aclrtSynchronizeStream(NULL) == 507010))
problem.close(); call('aclrtResetDevice', 0)
for process in forks:
    os.kill(process, 9); os.waitpid(process, 0)
"""


def test_a_process_that_is_forked_during_a_start_keeps_nothing_of_it(looker: Looker) -> None:
    seen = looker.run(after=f"{END}\n{OPEN_AND_FORK}")
    assert seen["printed"] == "True\n"


def test_a_server_ends_with_its_session(looker: Looker, session: subprocess.Popen[bytes]) -> None:
    server = looker.run()["parent"]
    session.kill()
    session.wait()
    assert wait_until(lambda: has_ended(server))
    assert not looker.is_fork(looker.run())


@pytest.mark.exhaustive
def test_a_server_that_nobody_uses_ends(looker: Looker) -> None:
    server = looker.run()["parent"]
    assert not has_ended(server)
    assert wait_until(lambda: has_ended(server))


def test_a_server_has_nothing_of_the_program_that_started_it(looker: Looker) -> None:
    """Neither a pipe, whose end others wait for, nor a place in its group and session."""
    seen = looker.run(before="import os; left = os.dup2(1, 50)")
    server = seen["parent"]
    files = {
        str(path.readlink()).partition(":")[0] for path in Path(f"/proc/{server}/fd").iterdir()
    }
    assert files <= {"/dev/null", "socket", "anon_inode"}
    assert os.getsid(server) == os.getpgid(server) == server


def test_without_such_a_process_hosts_start_their_processes(looker: Looker) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    assert not looker.is_fork(looker.run(**{VARIABLE: str(ended.pid)}))


READ = """
import importlib, os
names = set()
found = os._Environ.__getitem__
os._Environ.__getitem__ = lambda self, name: (names.add(name), found(self, name))[1]
from pyaclnn.mock.device import fork_server
for module in fork_server._MODULES:
    importlib.import_module(module)
print(*sorted(names))
from pyaclnn.facts.releases import simulated
simulated()
print(*sorted(names))
"""


def test_what_a_server_imports_reads_no_variable_that_forks_may_have_otherwise(
    programs: Programs,
) -> None:
    done = programs.run([sys.executable, "-c", READ])
    imported, after = (set(line.split()) for line in done.stdout.splitlines())
    assert not [name for name in imported if not name.startswith(READ_AT_START)]
    assert "PYACLNN_MOCK_CANN" in after  # the check sees one
