# SPDX-License-Identifier: Apache-2.0
"""Findings about the end of a child: a crash, a hang, processes that it left behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.cann.signatures import signatures
from pyaclnn.health.checks.finding import Finding, value
from pyaclnn.health.child.termination import signal_name
from pyaclnn.health.report.record import CheckResult, Evidence, Status

if TYPE_CHECKING:
    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.checks.installation import Installation
    from pyaclnn.health.child.isolation import ChildOutcome

__all__ = ["at_end", "cut_short", "no_child", "with_left"]

_BY_SIGNAL: Final = {
    "SIGSEGV": "a library used an address that is not there",
    "SIGABRT": "a library gave up with abort(); what it printed may say why",
    "SIGKILL": "the machine ran out of memory, or somebody ended the process",
    "SIGILL": "a library is for a newer processor",
    "SIGBUS": "a file that is in use was cut short, or shared memory is full",
}


def at_end(outcome: ChildOutcome) -> Finding:
    """Make the finding of a child that ended well, apart from processes that it left behind."""
    if not outcome.left:
        return Finding(Status.PASS, "everything is given back, and the process ends")
    several = f"{len(outcome.left)} processes" if len(outcome.left) > 1 else "a process"
    return Finding(
        Status.WARN,
        f"the process ends, but left {several} behind: {outcome.left[0]}",
        _left(outcome),
        ("a library starts a process of its own and does not end it",),
        "look for processes of this kind: ps -ef; they may keep the device in use",
    )


def with_left(result: CheckResult, outcome: ChildOutcome) -> CheckResult:
    """Add to the last result of a child that ended well the processes that it left behind."""
    if not outcome.left or outcome.ended != "done":
        return result
    found = at_end(outcome)
    return replace(
        result,
        status=Status.WARN if result.status is Status.PASS else result.status,
        summary=f"{result.summary}; {found.summary}",
        evidence=result.evidence + found.evidence,
        causes=result.causes + found.causes,
        next_step=result.next_step or found.next_step,
    )


def no_child(error: OSError, folder: str) -> Finding:
    """Make the finding of a child that could not be started.

    Args:
        error: The reason.
        folder: The folder for temporary files.
    """
    return Finding(
        Status.ERROR,
        f"no child process could be started: {error.strerror or error}",
        (Evidence("path", str(error.filename or folder), str(error)),),
        ("the disk for temporary files is full, or too many processes run",),
        "free some space, or set TMPDIR to a folder with space",
    )


def cut_short(check: Check, outcome: ChildOutcome, installation: Installation) -> Finding:
    """Make the finding of a child that ended before its steps did.

    Args:
        check: The check that was under way.
        outcome: The outcome of the child.
        installation: The libraries of CANN in use.
    """
    if outcome.ended == "unborn":
        return Finding(
            Status.ERROR,
            f"the child process ended with status {outcome.returncode} before it could try "
            "anything",
            _traces(outcome),
            ("this installation of pyaclnn is incomplete", "the machine ran out of memory"),
            "pip install --force-reinstall pyaclnn",
        )
    what = f"while trying: {check.title}{_location(outcome, installation)}"
    return _crash(outcome, what) if outcome.ended == "crash" else _hang(outcome, what)


def _hang(outcome: ChildOutcome, what: str) -> Finding:
    causes = "the device or its driver hangs: another process holds it, or the hardware has failed"
    if outcome.ended == "abandoned":
        end = f"process {outcome.pid} cannot be ended and was left behind"
        second = "the process waits inside the driver and no signal reaches it"
        step = "reboot, or reset the device, before anything else uses it"
    else:
        end, second = "the process was ended", "the step is only slow on this machine"
        step = "npu-smi info -t health -i 0; reset the device if it is not OK"
    summary = f"no answer for {outcome.seconds:.0f} s {what}; {end}"
    return Finding(Status.TIMEOUT, summary, _traces(outcome), (causes, second), step)


def _crash(outcome: ChildOutcome, what: str) -> Finding:
    code = outcome.returncode or 0
    if code < 0:
        name = signal_name(-code)
        how, cause = f"was ended by {name}", _BY_SIGNAL.get(name, "a library crashed")
    elif code == 0:
        how = "ended in the middle, with status 0, as if all were well"
        cause = "a library called exit(): it found something that it needs missing"
    else:
        how = f"ended in the middle, with status {code}"
        cause = "a library called exit(); what it printed may say why"
    return Finding(
        Status.CRASH,
        f"the process {how} {what}",
        _traces(outcome),
        (cause, "libraries of two versions of CANN, or of CANN and driver, are mixed"),
        "look at what the process wrote; start from a new shell with only one set_env.sh",
    )


def _left(outcome: ChildOutcome) -> tuple[Evidence, ...]:
    return tuple(value("left behind, and ended then", text) for text in outcome.left)


def _traces(outcome: ChildOutcome) -> tuple[Evidence, ...]:
    traces = (
        value("process", outcome.pid),
        *((value("it was at", outcome.place),) if outcome.place else ()),
        *_left(outcome),
        Evidence("log", "CANN's log", outcome.log),
        Evidence("traceback", "what the process wrote", outcome.error),
    )
    return tuple(trace for trace in traces if trace.text)


def _location(outcome: ChildOutcome, installation: Installation) -> str:
    """Return C function, library and place at which a child ended, to end a sentence."""
    place = f", at {Path(outcome.place).name}" if outcome.place else ""
    known = signatures().get(outcome.call or "")
    if known is None:
        return place
    libraries = installation.libraries
    paths = {
        "runtime": [path for path in libraries.runtime if path.exists()],
        "base": [libraries.base],
        "operators": list(libraries.operators),
    }[known.library]
    return f", in {known.name}{f' of {paths[0].name}' if paths else ''}{place}"
