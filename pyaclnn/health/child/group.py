# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of a group in children: a new one after each crash, none after a timeout."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.cann.signatures import signatures
from pyaclnn.health.checks.catalogue import find
from pyaclnn.health.checks.device import THE_END
from pyaclnn.health.checks.finding import Finding
from pyaclnn.health.checks.numbers import SOAK
from pyaclnn.health.checks.options import Extent
from pyaclnn.health.child.events import Finished, Progress, Started
from pyaclnn.health.child.isolation import Outcome, Request, run_child
from pyaclnn.health.child.termination import signal_name
from pyaclnn.health.report.record import CheckResult, Evidence, Status, check_of

if TYPE_CHECKING:
    import threading

    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.checks.check_context import Site
    from pyaclnn.health.checks.options import Options
    from pyaclnn.health.child.events import Listener

__all__ = ["UNTOUCHABLE", "GroupRun"]

UNTOUCHABLE: Final = "the device did not answer in time and is not touched again"
_NO_CHILD: Final = "no child process can be started"
_PROGRESS_EVERY: Final = 0.25
_EXTRA_FOR_SOAK: Final = 60.0


class GroupRun:
    """The checks of one group on one device.

    Attributes:
        over: Why nothing more is tried, e.g. because a step has timed out; None as long as all is
            well.
        facts: What the children learned.
        peers: The devices that are examined, as far as they can be used.
        meeting: A folder where children of several devices wait for each other, if they do.
    """

    def __init__(
        self,
        site: Site,
        device: int | None,
        tell: Listener,
        stop: threading.Event,
    ) -> None:
        self.over: str | None = None
        self.facts: dict[str, object] = {}
        self.peers: tuple[int, ...] = ()
        self.meeting: str | None = None
        self._site = site
        self._device = device
        self._tell = tell
        self._stop = stop
        self._results: list[CheckResult] = []
        self._told: set[str] = set()
        self._progress = 0.0
        self._last = ""

    def run(self, checks: list[Check], expected: int | None = None) -> list[CheckResult]:
        """Run checks, in as many children as it takes.

        Args:
            checks: The checks, in order; what they build on outside of this list has passed.
            expected: How many devices should be visible, for the check that counts them.

        Returns:
            A result for each check, in their order.
        """
        self._results = []
        pending = list(checks)
        while pending and self.over is None and not self._stop.is_set():
            outcome = self._child(pending, expected)
            if outcome is None:
                break
            self.facts.update(outcome.facts)
            self._results += [self._with_what_was_left(r, outcome) for r in outcome.results]
            if self._results and self._results[-1].id == self._last:
                self._tell_result(self._results[-1])
            self._conclude(pending, outcome)
            known = {result.id for result in self._results}
            pending = [check for check in pending if self._identity(check) not in known]
            pending = [check for check in pending if not self._refuse(check)]
        known = {result.id for result in self._results}
        for check in checks:
            if self._identity(check) not in known:
                reason = self.over or "the run was interrupted"
                self._add(check, Finding(Status.NOT_RUN, f"not tried: {reason}"))
        order = {self._identity(check): index for index, check in enumerate(checks)}
        return sorted(self._results, key=lambda result: order[result.id])

    def _identity(self, check: Check) -> str:
        return check.id if self._device is None else f"{check.id}@{self._device}"

    def _refuse(self, check: Check) -> bool:
        """Whether something that a check builds on did not pass in an earlier child."""
        states = {result.id: result.status for result in self._results}
        for need in check.needs:
            status = states.get(self._identity(find(need)))
            if status is not None and not status.passed:
                self._add(check, Finding(Status.NOT_RUN, f"not tried, because {need} did not pass"))
                return True
        return False

    def _child(self, pending: list[Check], expected: int | None) -> Outcome | None:
        options, machine = self._site.options, self._site.machine
        self._last = self._identity(pending[-1])
        request = Request(
            backend=self._backend(),
            device=self._device,
            steps=tuple(check.id for check in pending),
            deadlines={check.id: self._deadline(check, options) for check in pending},
            simulated=self._site.simulated,
            peers=self.peers,
            meeting=self.meeting,
            expected_devices=expected,
            **{field.name: getattr(options, field.name) for field in dataclasses.fields(Extent)},
        )
        scratch = None
        try:
            scratch = Path(tempfile.mkdtemp(prefix="pyaclnn-doctor-", dir=self._temporary()))
            return run_child(
                request,
                machine.environment,
                scratch,
                module="pyaclnn.health.child.probe",
                grace=options.grace,
                stop=self._stop,
                on_step=self._watch,
                on_result=self._pass_on,
            )
        except OSError as error:
            finding = Finding(
                Status.ERROR,
                f"no child process could be started: {error.strerror or error}",
                (Evidence("path", str(error.filename or tempfile.gettempdir()), str(error)),),
                ("the disk for temporary files is full, or too many processes run",),
                "free some space, or set TMPDIR to a folder with space",
            )
            self.over = _NO_CHILD
            self._add(pending[0], finding)
            return None
        finally:
            if scratch is not None:
                shutil.rmtree(scratch, ignore_errors=True)

    def _temporary(self) -> str | None:
        return self._site.machine.environment.get("TMPDIR")

    def _backend(self) -> str:
        site = self._site
        return "mock" if site.choice == "mock" else str(site.installation.root)

    def _deadline(self, check: Check, options: Options) -> float:
        if check.id == SOAK:
            return options.soak + _EXTRA_FOR_SOAK
        own = check.seconds
        return own if options.deadline is None else min(own, options.deadline)

    def _watch(self, running: str | None, seconds: float, deadline: float) -> None:
        if running is None:
            return
        check = find(running)
        if running not in self._told:
            self._told.add(running)
            self._tell(Started(check, self._device))
        now = time.monotonic()
        if now - self._progress > _PROGRESS_EVERY:
            self._progress = now
            self._tell(Progress(check, self._device, seconds, deadline))

    def _pass_on(self, result: CheckResult) -> None:
        """Tell a result; the last one of a child only when it is known how the child ended."""
        if result.id == self._last:
            return
        self._tell_result(result)

    def _tell_result(self, result: CheckResult) -> None:
        identity = check_of(result)
        if identity not in self._told:
            self._told.add(identity)
            self._tell(Started(find(identity), self._device))
        self._tell(Finished(result))

    def _add(self, check: Check, finding: Finding, seconds: float = 0.0) -> None:
        result = check.result(finding, seconds, self._device)
        self._results.append(result)
        self._tell(Finished(result))

    def _with_what_was_left(self, result: CheckResult, outcome: Outcome) -> CheckResult:
        """The last result of a child that ended well, and yet left processes behind."""
        if result.id != self._last or not outcome.left or outcome.ended != "done":
            return result
        found = _ended(outcome)
        passed = result.status is Status.PASS
        return replace(
            result,
            status=Status.WARN if passed else result.status,
            summary=f"{result.summary}; {found.summary}",
            evidence=result.evidence + found.evidence,
            causes=result.causes + found.causes,
            next_step=result.next_step or found.next_step,
        )

    def _conclude(self, pending: list[Check], outcome: Outcome) -> None:
        """Work out what the end of a child says about the step that was under way."""
        if outcome.ended == "done":
            if outcome.running == THE_END:
                found = _ended(outcome)
                self._add(find(THE_END), found, outcome.seconds)
            return
        done = {result.id for result in self._results}
        left = [check for check in pending if self._identity(check) not in done]
        if outcome.ended in {"timeout", "abandoned"}:
            self.over = UNTOUCHABLE
        if self._stop.is_set() or not left:
            return
        if outcome.ended == "unborn":
            self.over = _NO_CHILD
            self._add(left[0], _unborn(outcome))
            return
        check = find(outcome.running) if outcome.running else left[0]
        say = _crashed if outcome.ended == "crash" else _hung
        self._add(check, say(check, outcome, self._function(outcome)), outcome.seconds)

    def _function(self, outcome: Outcome) -> str:
        """Where a child ended, to go on a sentence: C function, library, and place in the code."""
        place = f", at {Path(outcome.place).name}" if outcome.place else ""
        known = signatures().get(outcome.call or "")
        if known is None:
            return place
        libraries = self._site.installation.libraries
        paths = {
            "runtime": [path for path in libraries.runtime if path.exists()],
            "base": [libraries.base],
            "operators": list(libraries.operators),
        }[known.library]
        return f", in {known.name}{f' of {paths[0].name}' if paths else ''}{place}"


def _ended(outcome: Outcome) -> Finding:
    if not outcome.left:
        return Finding(Status.PASS, "everything is given back, and the process ends")
    several = f"{len(outcome.left)} processes" if len(outcome.left) > 1 else "a process"
    return Finding(
        Status.WARN,
        f"the process ends, but left {several} behind: {outcome.left[0]}",
        tuple(Evidence("value", "left behind, and ended then", text) for text in outcome.left),
        ("a library starts a process of its own and does not end it",),
        "look for processes of this kind: ps -ef; they may keep the device in use",
    )


def _traces(outcome: Outcome) -> tuple[Evidence, ...]:
    traces = [Evidence("value", "process", str(outcome.pid))]
    if outcome.place:
        traces.append(Evidence("value", "it was at", outcome.place))
    traces += [Evidence("value", "left behind, and ended then", text) for text in outcome.left]
    if outcome.log:
        traces.append(Evidence("log", "CANN's log", outcome.log))
    if outcome.error:
        traces.append(Evidence("traceback", "what the process wrote", outcome.error))
    return tuple(traces)


def _unborn(outcome: Outcome) -> Finding:
    return Finding(
        Status.ERROR,
        f"the child process ended with status {outcome.returncode} before it could try anything",
        _traces(outcome),
        ("this installation of pyaclnn is incomplete", "the machine ran out of memory"),
        "pip install --force-reinstall pyaclnn",
    )


def _hung(check: Check, outcome: Outcome, function: str) -> Finding:
    left = outcome.ended == "abandoned"
    end = (
        f"process {outcome.pid} cannot be ended and was left behind"
        if left
        else "the process was ended"
    )
    return Finding(
        Status.TIMEOUT,
        f"no answer for {outcome.seconds:.0f} s while trying: {check.title}{function}; {end}",
        _traces(outcome),
        (
            "the device or its driver hangs: another process holds it, or the hardware has failed",
            "the process waits inside the driver and no signal reaches it"
            if left
            else "the step is only slow on this machine",
        ),
        "reboot, or reset the device, before anything else uses it"
        if left
        else "npu-smi info -t health -i 0; reset the device if it is not OK",
    )


def _crashed(check: Check, outcome: Outcome, function: str) -> Finding:
    code = outcome.returncode
    if code is not None and code < 0:
        how, causes = _by_signal(-code)
    elif code == 0 or code is None:
        how = "the process ended in the middle, with status 0, as if all were well"
        causes = ("a library called exit(): it found something that it needs missing",)
    else:
        how = f"the process ended in the middle, with status {code}"
        causes = ("a library called exit(); what it printed may say why",)
    return Finding(
        Status.CRASH,
        f"{how} while trying: {check.title}{function}",
        _traces(outcome),
        (*causes, "libraries of two versions of CANN, or of CANN and driver, are mixed"),
        "look at what the process wrote; start from a new shell with only one set_env.sh",
    )


def _by_signal(number: int) -> tuple[str, tuple[str, ...]]:
    name = signal_name(number)
    causes = {
        "SIGSEGV": ("a library used an address that is not there",),
        "SIGABRT": ("a library gave up with abort(); what it printed may say why",),
        "SIGKILL": ("the machine ran out of memory, or somebody ended the process",),
        "SIGILL": ("a library is for a newer processor",),
        "SIGBUS": ("a file that is in use was cut short, or shared memory is full",),
    }
    return f"the process was ended by {name}", causes.get(name, ("a library crashed",))
