# SPDX-License-Identifier: Apache-2.0
"""Runs the steps that touch vendor code in a process that may hang, crash or vanish.

The child is a fresh interpreter, never a fork, in a session of its own. Its output goes to a file,
its results to another that is only ever replaced as a whole. When a step exceeds its deadline the
child's group gets TERM, then KILL; a child that survives both is left behind and reported, for a
process in uninterruptible sleep cannot be waited for.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.health.checks.numbers import SOAK
from pyaclnn.health.checks.options import Extent
from pyaclnn.health.child.descendants import Descendants
from pyaclnn.health.child.last_call import last_call
from pyaclnn.health.child.logs import error_lines, tail
from pyaclnn.health.child.place import ask, crashed_at
from pyaclnn.health.report.record import CheckResult

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["CALLS", "FAULTS", "MARGIN", "Outcome", "Request", "run_child"]

_POLL: Final = 0.01
_LONGEST_POLL: Final = 0.1
_STARTING: Final = 60.0
"""How long a child may take until its first step begins."""
_PATIENCE: Final = 5.0
"""In what time that which a child started may end by itself: the simulated device does."""
_TO_TELL: Final = 20.0
"""In what time a soak that is asked to end tells what it found."""
_MOST_OUTPUT: Final = 64 << 20
CALLS: Final = "call"
"""The file, beside the results, in which the child notes the C function that it calls."""
FAULTS: Final = "faults"
"""The file, beside the results, in which it notes where it is when a signal ends it."""
MARGIN: Final = 0.75
"""The share of a deadline after which the child writes down where it is."""


@dataclass(frozen=True)
class Request(Extent):
    """What a child is to do, to the extent that is asked for.

    Attributes:
        backend: The backend, as ``select_backend`` takes it; None for what the environment names.
        device: The device; None for steps that open none.
        steps: The ids of the checks, in order; of the smoke test, the operators, all if none.
        deadlines: Seconds for each of them.
        patience: Seconds for a step that only the child knows.
        folder: The folder that relative paths start from; None for the child's own.
        simulated: Whether the NPU is simulated.
        peers: The devices that are examined.
        meeting: A folder where the children of all devices wait for each other.
        expected_devices: How many devices the parent expects to be visible, or None.
        dtypes: Of the smoke test, the dtypes of inputs, all if none.
    """

    backend: str | None
    device: int | None
    steps: tuple[str, ...]
    deadlines: Mapping[str, float]
    simulated: bool = False
    peers: tuple[int, ...] = ()
    meeting: str | None = None
    expected_devices: int | None = None
    dtypes: tuple[str, ...] = ()
    patience: float = 60.0
    folder: str | None = None


@dataclass
class Outcome:
    """What became of a child.

    Attributes:
        results: The steps that came to an end.
        facts: What the child learned for others: the chip's name, the number of devices.
        running: The step that was under way when the child ended, or None.
        ended: ``done``, ``crash`` or ``timeout``; ``stopped`` if it was asked to end;
            ``abandoned`` if not even KILL ended it; ``unborn`` if it ended before its first step
            began, which is not the vendor's doing.
        returncode: The exit status, negative for a signal; None for an abandoned child.
        seconds: How long the interrupted step had been running.
        error: The end of what the child printed.
        log: Lines of CANN's own log that report errors.
        pid: The process.
        left: The processes that it left behind, which were ended then.
        call: The C function that it had called and that did not return, if there is one.
        place: Library and offset at which it crashed, or was when it had to be ended.
    """

    results: list[CheckResult] = field(default_factory=list)
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


class _Watch:
    """What the parent sees of a child: its result file, and the clock of the step under way."""

    def __init__(self, path: Path, request: Request) -> None:
        self.path = path
        self.request = request
        self.outcome = Outcome()
        self.done = False
        self.begun = False
        self.descendants: dict[int, str] = {}
        self._since = time.monotonic()
        self._stamp = 0

    def look(self) -> list[CheckResult]:
        """Read the file if it was replaced; return the results that are new."""
        try:
            stamp = self.path.stat().st_mtime_ns
            if stamp == self._stamp:
                return []
            content = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        self._stamp = stamp
        self.begun = True
        seen, known = self.outcome, len(self.outcome.results)
        if content["running"] != seen.running or len(content["results"]) != known:
            self._since = time.monotonic()
        seen.results = [CheckResult.from_json(result) for result in content["results"]]
        seen.running, seen.facts, self.done = content["running"], content["facts"], content["done"]
        self.descendants = dict(content["descendants"])
        return seen.results[known:]

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._since

    @property
    def deadline(self) -> float:
        if not self.begun:
            return _STARTING
        deadlines, patience = self.request.deadlines, self.request.patience
        if self.outcome.running is None:
            return max(deadlines.values(), default=patience)
        return deadlines.get(self.outcome.running, patience)


def run_child(
    request: Request,
    environment: Mapping[str, str],
    scratch: Path,
    *,
    module: str,
    grace: float,
    stop: threading.Event,
    on_step: Callable[[str | None, float, float], None],
    on_result: Callable[[CheckResult], None] = lambda _: None,
) -> Outcome:
    """Run a child to its end, whatever that is.

    Args:
        request: What it is to do.
        environment: Its environment variables.
        scratch: An empty folder of its own.
        module: The program of the child, which reads the request and keeps a `Journal`.
        grace: How long it may take to end after each signal.
        stop: Set to end it at once.
        on_step: Called while waiting, with the step under way, its time so far and its deadline.
        on_result: Called with each result as it comes.

    Returns:
        What became of it.

    Raises:
        OSError: The child could not be started, e.g. because the disk is full.
    """
    orders, result, errors = scratch / "request.json", scratch / "result.json", scratch / "stderr"
    logs = scratch / "log"
    logs.mkdir()
    told = {**vars(request), "result": str(result), "parent": os.getpid()}
    orders.write_text(json.dumps(told), encoding="utf-8")
    variables = {
        **environment,
        "ASCEND_PROCESS_LOG_PATH": str(logs),
        "ASCEND_SLOG_PRINT_TO_STDOUT": "0",
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", module, str(orders)]
    with errors.open("wb") as file:
        kin = Descendants(
            lambda: subprocess.Popen(  # noqa: S603  # our own module, by our own interpreter
                command,
                stdin=subprocess.DEVNULL,
                # A pipe held open by a grandchild could block us; a file cannot.
                stdout=file,
                stderr=subprocess.STDOUT,
                env=variables,
                cwd=scratch,
                start_new_session=True,
            )
        )
    child, watch = kin.root, _Watch(result, request)
    outcome = watch.outcome
    outcome.pid = child.pid
    routine: str | None = None

    def step(running: str | None, seconds: float, deadline: float) -> None:
        kin.look()
        on_step(running, seconds, deadline)

    try:
        outcome.ended = _wait(child, watch, errors, stop, step, on_result)
    finally:
        kin.notice(watch.descendants)
        outcome.seconds = watch.seconds
        if outcome.ended == "stopped" and outcome.running == SOAK:
            # Alone: what it needs to tell what it found may be in its group.
            os.kill(child.pid, signal.SIGTERM)
            _until_ended(child, _TO_TELL)
        if outcome.ended == "timeout":
            routine, outcome.place = ask(child.pid, scratch / FAULTS)
        elif _has_ended(child):  # what it left in its group is named before the group is ended
            outcome.left = kin.end(_PATIENCE)
        gone = _end_group(child, grace, patient=outcome.ended in {"timeout", "stopped"})
        outcome.left += kin.end(_PATIENCE)
        for fresh in watch.look():
            on_result(fresh)
    outcome.returncode = child.returncode if gone else None
    if not gone:
        outcome.ended = "abandoned"
        # Nobody will collect it: this keeps subprocess from complaining of that.
        child.returncode = -signal.SIGKILL
    elif outcome.ended == "ended":
        outcome.ended = "done" if watch.done and child.returncode == 0 else "crash"
        if not watch.begun:
            outcome.ended = "unborn"
    if outcome.ended == "crash":
        routine, outcome.place = crashed_at(scratch / FAULTS)
    outcome.call = routine or last_call(scratch / CALLS)
    outcome.error, outcome.log = tail(errors), error_lines(logs)
    return outcome


def _wait(
    child: subprocess.Popen[bytes],
    watch: _Watch,
    errors: Path,
    stop: threading.Event,
    on_step: Callable[[str | None, float, float], None],
    on_result: Callable[[CheckResult], None],
) -> str:
    """Wait until the child ended or has to be ended; its exit status is not collected yet."""
    pause = _POLL
    while True:
        ended = _has_ended(child)
        for fresh in watch.look():
            on_result(fresh)
        if ended:
            return "ended"
        if stop.is_set():
            return "stopped"
        if watch.seconds > watch.deadline or _size(errors) > _MOST_OUTPUT:
            return "timeout"
        on_step(watch.outcome.running, watch.seconds, watch.deadline)
        time.sleep(pause)
        pause = min(pause * 1.2, _LONGEST_POLL)


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    # Not collected, so that its number, which is its group's, is not given to somebody else.
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_PID, child.pid, flags) is not None
    except ChildProcessError:
        return True


def _end_group(child: subprocess.Popen[bytes], grace: float, *, patient: bool) -> bool:
    """End the child and all it started; tell whether it is gone."""
    if not _has_ended(child) and patient:
        _signal(child, signal.SIGTERM)
        _until_ended(child, grace)
    # The group is told even if the child itself has ended: it may have left others behind.
    _signal(child, signal.SIGKILL)
    if not _until_ended(child, grace):
        return False
    child.wait()
    return True


def _until_ended(child: subprocess.Popen[bytes], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not _has_ended(child):
        if time.monotonic() > end:
            return False
        time.sleep(_POLL)
    return True


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
