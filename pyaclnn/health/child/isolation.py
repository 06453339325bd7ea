# SPDX-License-Identifier: Apache-2.0
"""Isolated child process for code of the vendor, which may hang, crash or end the process.

The child is a fresh interpreter, never a fork, in a session of its own. It writes its output to a
file and its messages to a pipe, one JSON object a line. When a step exceeds its deadline, the
child's process group gets SIGTERM, then SIGKILL. A child that survives both is in uninterruptible
sleep: it is reported and left behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.health.checks.catalogue import SOAK
from pyaclnn.health.child.journal import CALLS, FAULTS
from pyaclnn.health.child.processes import Descendants
from pyaclnn.health.child.traces import ask, crashed_at, error_lines, last_call, tail

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyaclnn.health.child.journal import ChildTask

__all__ = ["MOST_OUTPUT", "ChildOutcome", "run_child"]

_TICK: Final = 0.25
"""Seconds between two looks at a child that writes nothing."""
_POLL: Final = 0.01
_STARTING: Final = 60.0
"""Seconds until the first step of a child must begin."""
_PATIENCE: Final = 5.0
"""Seconds in which descendants of a child may end by themselves: the simulated device does."""
_TO_REPORT: Final = 20.0
"""Seconds in which a soak that is asked to end reports its findings."""
MOST_OUTPUT: Final = 64 << 20
"""Bytes that a child may write before it is ended."""
_CHUNK: Final = 1 << 16


@dataclass
class ChildOutcome:
    """Outcome of a child process.

    Attributes:
        results: The results of completed steps, as JSON.
        facts: Results of the child for other checks: the chip's name, the number of devices.
        running: The step that was under way when the child ended, or None.
        ended: ``done``, ``crash`` or ``timeout``; ``flood`` if it wrote more than `MOST_OUTPUT`
            bytes; ``stopped`` if it was asked to end;
            ``abandoned`` if not even SIGKILL ended it; ``unborn`` if it ended before its first
            step began, which is not the vendor's doing.
        returncode: The exit status, negative for a signal; None for an abandoned child.
        seconds: Time that the interrupted step had been running.
        error: The end of the child's output.
        log: Lines of CANN's own log that report errors.
        pid: The process.
        left: The processes that the child left behind; they were ended.
        call: The C function that was called and did not return, if there is one.
        place: Library and offset at which the child crashed, or was when it had to be ended.
    """

    results: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    running: str | None = None
    ended: str = "done"
    returncode: int | None = 0
    seconds: float = 0.0
    error: str = ""
    log: str = ""
    pid: int = 0
    left: tuple[str, ...] = ()
    call: str | None = None
    place: str | None = None


def run_child(
    task: ChildTask,
    environment: Mapping[str, str],
    scratch: Path,
    *,
    module: str,
    grace: float,
    stop: threading.Event,
    on_step: Callable[[str, float, float], None],
    on_result: Callable[[dict[str, Any]], None] = lambda _: None,
) -> ChildOutcome:
    """Run a child process to its end.

    Args:
        task: The task.
        environment: The environment variables.
        scratch: An empty folder for the child alone.
        grace: Seconds in which the child must end after each signal.
        stop: Set to end the child at once.
        on_step: Called when a step begins and while it runs, with its name, its time so far and its
            deadline.
        on_result: Called with each result as it arrives, as JSON.
        module: The program of the child, which reads the task and writes a `Journal`.

    Returns:
        The outcome.

    Raises:
        OSError: The child could not be started, e.g. because the disk is full.
    """
    child = _Child(task, environment, scratch, on_step, on_result, module)
    try:
        child.outcome.ended = child.watch(stop)
    finally:
        child.finish(grace)
    return child.outcome


class _Child:
    """A child process while it runs."""

    def __init__(
        self,
        task: ChildTask,
        environment: Mapping[str, str],
        scratch: Path,
        on_step: Callable[[str, float, float], None],
        on_result: Callable[[dict[str, Any]], None],
        module: str,
    ) -> None:
        self._task, self._scratch = task, scratch
        self._on_step, self._on_result = on_step, on_result
        self._errors, self._logs = scratch / "stderr", scratch / "log"
        self._logs.mkdir()
        order = scratch / "task.json"
        order.write_text(json.dumps(asdict(task)), encoding="utf-8")
        self._pipe, writing = os.pipe()
        command = [sys.executable, "-m", module, str(order), str(writing), str(os.getpid())]
        variables = {
            **environment,
            "ASCEND_PROCESS_LOG_PATH": str(self._logs),
            "ASCEND_SLOG_PRINT_TO_STDOUT": "0",
            "PYTHONUNBUFFERED": "1",
        }
        try:
            with self._errors.open("wb") as file:
                self._descendants = Descendants(
                    lambda: subprocess.Popen(  # noqa: S603  # our own module and interpreter
                        command,
                        stdin=subprocess.DEVNULL,
                        # A grandchild may hold a pipe open for ever; a file blocks nobody.
                        stdout=file,
                        stderr=subprocess.STDOUT,
                        env=variables,
                        cwd=scratch,
                        start_new_session=True,
                        pass_fds=(writing,),
                    )
                )
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(writing)
        self._process = self._descendants.root
        self._readable = select.poll()
        self._readable.register(self._pipe, select.POLLIN)
        self._is_open = True
        self._rest = b""
        self._since = time.monotonic()
        self._begun = self._done = False
        self.outcome = ChildOutcome(pid=self._process.pid)

    def watch(self, stop: threading.Event) -> str:
        """Wait until the child ends or has to be ended; its exit status is not collected yet."""
        while True:
            # First, so that everything is read that the child wrote before its end.
            if self._has_ended():
                self._receive_all()
                return "ended"
            if stop.is_set():
                return "stopped"
            seconds, deadline = self._seconds(), self._deadline()
            if _size(self._errors) > MOST_OUTPUT:
                return "flood"
            if seconds > deadline:
                return "timeout"
            if not self._receive(_TICK):
                self._descendants.look()
                if self.outcome.running is not None:
                    self._on_step(self.outcome.running, seconds, deadline)

    def finish(self, grace: float) -> None:
        """End the child with all that it started, and complete the outcome."""
        outcome, process = self.outcome, self._process
        outcome.seconds = self._seconds()
        routine: str | None = None
        if outcome.ended == "stopped" and outcome.running == SOAK:
            # Only the child itself: it may need other processes of its group for its report.
            os.kill(process.pid, signal.SIGTERM)
            self._wait(_TO_REPORT)
        if outcome.ended == "timeout":
            routine, outcome.place = ask(process.pid, self._scratch / FAULTS)
        elif self._has_ended():  # processes left in its group are named before the group is ended
            outcome.left = self._descendants.end(_PATIENCE)
        gone = self._end_group(grace, patient=outcome.ended in {"timeout", "stopped", "flood"})
        outcome.left += self._descendants.end(_PATIENCE)
        self._receive_all()
        os.close(self._pipe)
        outcome.returncode = process.returncode if gone else None
        if not gone:
            outcome.ended = "abandoned"
            # Nobody collects it: this keeps subprocess from complaining.
            process.returncode = -signal.SIGKILL
        elif outcome.ended == "ended":
            complete = self._done and process.returncode == 0
            outcome.ended = "done" if complete else "crash" if self._begun else "unborn"
        if outcome.ended == "crash":
            routine, outcome.place = crashed_at(self._scratch / FAULTS)
        outcome.call = routine or last_call(self._scratch / CALLS)
        outcome.error, outcome.log = tail(self._errors), error_lines(self._logs)

    def _seconds(self) -> float:
        return time.monotonic() - self._since

    def _deadline(self) -> float:
        if not self._begun:
            return _STARTING
        deadlines, patience = self._task.deadlines, self._task.patience
        if self.outcome.running is None:
            return max(deadlines.values(), default=patience)
        return deadlines.get(self.outcome.running, patience)

    def _receive(self, timeout: float) -> bool:
        """Wait for the child to write, and process each line that is complete."""
        if not self._is_open:
            time.sleep(min(timeout, _POLL))
            return False
        if not self._readable.poll(timeout * 1000):
            return False
        data = os.read(self._pipe, _CHUNK)
        self._is_open = bool(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):  # a library wrote into a file that is not its own
                self._process_message(json.loads(line))
        return self._is_open

    def _receive_all(self) -> None:
        while self._receive(0.0):
            pass

    def _process_message(self, message: dict[str, Any]) -> None:
        outcome = self.outcome
        outcome.facts.update(message.get("facts", {}))
        self._done = self._done or "done" in message
        if "result" in message:
            outcome.results.append(message["result"])
            self._on_result(message["result"])
        if "step" in message:
            outcome.running, self._begun, self._since = message["step"], True, time.monotonic()
            self._descendants.notice(dict(message["descendants"]))
            if outcome.running is not None:
                self._on_step(outcome.running, 0.0, self._deadline())

    def _has_ended(self) -> bool:
        # Not collected, so that its number, which is its group's, is not reused.
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._process.pid, flags) is not None
        except ChildProcessError:
            return True

    def _end_group(self, grace: float, *, patient: bool) -> bool:
        """End the child and its process group; return whether the child is gone."""
        if patient and not self._has_ended():
            _signal(self._process, signal.SIGTERM)
            self._wait(grace)
        # Also if the child has ended: its group may have other members.
        _signal(self._process, signal.SIGKILL)
        if not self._wait(grace):
            return False
        self._process.wait()
        return True

    def _wait(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not self._has_ended():
            if time.monotonic() > end:
                return False
            self._receive(_POLL)
        return True


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
