# SPDX-License-Identifier: Apache-2.0
"""Findings about the end of a child: a crash, a hang, processes that it left behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.cann.signatures import signatures
from pyaclnn.health.checks.finding import Finding, found, ok, value
from pyaclnn.health.child.termination import signal_name
from pyaclnn.health.report.record import CheckResult, Evidence, Status

if TYPE_CHECKING:
    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.checks.installation import Installation
    from pyaclnn.health.child.isolation import ChildOutcome

__all__ = ["at_end", "cut_short", "with_left"]

_BY_SIGNAL: Final = {
    "SIGSEGV": "a library used an address that is not there",
    "SIGABRT": "a library gave up with abort(); what it printed may say why",
    "SIGKILL": "the machine ran out of memory, or somebody ended the process",
    "SIGILL": "a library is for a newer processor",
    "SIGBUS": "a file that is in use was cut short, or shared memory is full",
}


def at_end(outcome: ChildOutcome) -> Finding:
    """Build the finding of a child that ended well, but may have left processes behind."""
    left = outcome.left
    if not left:
        return ok("everything is given back, and the process ends")
    several = f"{len(left)} processes" if len(left) > 1 else "a process"
    return found("DEV-111.left", *_left(outcome), several=several, first=left[0])


def with_left(result: CheckResult, outcome: ChildOutcome) -> CheckResult:
    """Add to the last result of a child that ended well the processes that it left behind."""
    if not outcome.left or outcome.ended != "done":
        return result
    finding = at_end(outcome)
    return replace(
        result,
        status=Status.WARN if result.status is Status.PASS else result.status,
        summary=f"{result.summary}; {finding.summary}",
        evidence=result.evidence + finding.evidence,
        causes=result.causes + finding.causes,
        next_step=result.next_step or finding.next_step,
    )


def cut_short(check: Check, outcome: ChildOutcome, installation: Installation) -> Finding:
    """Build the finding of a child that ended before its steps did.

    Args:
        check: The check that was under way.
        outcome: The outcome of the child.
        installation: The libraries of CANN in use.
    """
    traces, code = _traces(outcome), outcome.returncode
    if outcome.ended == "unborn":
        return found("DEV-111.unborn", *traces, code=code)
    step = f"while trying: {check.title}{_location(outcome, installation)}"
    if outcome.ended == "crash":
        end, cause = _end(code or 0)
        return found("DEV-111.crash", *traces, end=end, cause=cause, step=step)
    if outcome.ended == "abandoned":
        seconds, pid = outcome.seconds, outcome.pid
        return found("DEV-111.abandoned", *traces, seconds=seconds, step=step, pid=pid)
    return found("DEV-111.hang", *traces, seconds=outcome.seconds, step=step)


def _end(code: int) -> tuple[str, str]:
    """Return how a process with an exit status ended, and the likely cause."""
    if code < 0:
        name = signal_name(-code)
        return f"was ended by {name}", _BY_SIGNAL.get(name, "a library crashed")
    if code:
        cause = "a library called exit(); what it printed may say why"
        return f"ended in the middle, with status {code}", cause
    cause = "a library called exit(): it found something that it needs missing"
    return "ended in the middle, with status 0, as if all were well", cause


def _left(outcome: ChildOutcome) -> list[Evidence]:
    return [value("left behind, and ended then", text) for text in outcome.left]


def _traces(outcome: ChildOutcome) -> list[Evidence]:
    traces = [
        value("process", outcome.pid),
        value("it was at", outcome.place or ""),
        *_left(outcome),
        Evidence("log", "CANN's log", outcome.log),
        Evidence("traceback", "what the process wrote", outcome.error),
    ]
    return [trace for trace in traces if trace.text]


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
