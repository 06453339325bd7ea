# SPDX-License-Identifier: Apache-2.0
"""Findings about failed calls, and about the end of a child: crash, hang, processes left behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace as replace_fields

from pyaclnn.base.errors import (
    AclError,
    BackendNotFoundError,
    ContextError,
    DeviceLostError,
    InvalidArgumentError,
    KernelError,
    MissingSymbolError,
    OutOfMemoryError,
)
from pyaclnn.base.paths import ExaminedPath
from pyaclnn.cann.signatures import signatures
from pyaclnn.cann.status import explanation, meaning
from pyaclnn.health.checks.finding import Finding, found, ok, value
from pyaclnn.health.checks.installation import gap_in_kernels, operator_root
from pyaclnn.health.child.isolation import MOST_OUTPUT
from pyaclnn.health.child.processes import signal_name
from pyaclnn.health.child.traces import call_before, error_lines, tail
from pyaclnn.health.explain.log import look_up
from pyaclnn.health.report.record import CheckResult, Evidence, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.health.checks.catalogue import Check
    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.checks.installation import Installation
    from pyaclnn.health.child.isolation import ChildOutcome

__all__ = [
    "advice_for",
    "at_end",
    "cut_short",
    "explained",
    "from_error",
    "lost_after",
    "with_left",
]


def advice_for(code: int) -> tuple[tuple[str, ...], str]:
    """Return likely causes and the next step for a status code."""
    known = explanation(code)
    # The doctor's own calls are right: a program's mistakes are no cause.
    name = meaning(code).name
    outcome = _OUTCOMES.get(name, _OUTCOMES_OF_CLASSES.get(known.exception))
    if outcome is not None:
        advice = found(outcome, code=code)
        return advice.causes, advice.next_step or ""
    # The doctor cannot send people to the doctor.
    step = "npu-smi info" if "pyaclnn doctor" in known.next_step else known.next_step
    gap = _gap() if any(part in name for part in _OF_KERNELS) else ""
    return ((gap,) if gap else ()) + (known.causes or (known.meaning,)), step


_OF_KERNELS: Final = ("_OPP_", "_FIND_KERNEL_")
"""Parts of the names of codes that report missing files of the operator packages."""


def _gap() -> str:
    """Return the first folder of the kernels that is not as it must be; empty if all are."""
    root = os.environ.get("ASCEND_HOME_PATH")
    named = os.environ.get("ASCEND_OPP_PATH")
    return gap_in_kernels(operator_root(ExaminedPath(root), named)) if root else ""


_OUTCOMES_OF_CLASSES: Final[dict[type[AclError], str]] = {
    ContextError: "DEV-111.denied",
    InvalidArgumentError: "DEV-111.refused",
    KernelError: "DEV-111.kernel",
    OutOfMemoryError: "DEV-111.exhausted",
}
"""Outcomes with advice for whoever runs the machine, where a code's own is for programmers."""
_OUTCOMES: Final = {
    "ACLNN_ERR_INNER_NULLPTR": "DEV-111.refused",
    "ACL_ERROR_RT_MEMORY_FREE": "DEV-111.denied",
    "ACL_ERROR_INVALID_DEVICE": None,
    "ACL_ERROR_RT_INVALID_DEVICEID": None,
}
"""Codes that differ from their class."""


def from_error(error: AclError) -> Finding:
    """Build the finding of a call that failed.

    Args:
        error: The error that it raised.
    """
    first = str(error).splitlines()[0]
    if isinstance(error, MissingSymbolError):
        seen = [Evidence("path", path, text) for path, text in error.files]
        symbol, since = error.symbol, error.since
        return found("DEV-101.missing_symbol", *seen, symbol=symbol, since=since)
    if isinstance(error, BackendNotFoundError):
        seen = [Evidence("path", path, text) for path, text in error.attempts]
        reasons = [text for _, text in error.attempts] or [first]
        # The loader's reason for a file that is there; of others it has only that they are not.
        reason = next((text for text in reasons if _ABSENT not in text), reasons[-1])
        return explained(found("DEV-101.not_loaded", *seen, reason=reason), reason)
    routine, code = error.routine or "pyaclnn", error.code
    if code is None:
        seen = [Evidence("log", routine, str(error))]
        return found("DEV-101.no_status", *seen, reason=first)
    seen = [Evidence("function", routine, f"returned {code} ({error.name})")]
    if error.cause:
        inner = f"returned {error.cause} ({meaning(error.cause).name})"
        seen.append(Evidence("function", "a call of the runtime inside it", inner))
    seen.append(Evidence("log", "CANN says", error.detail or "nothing more"))
    words = tail(_OWN_ERRORS)
    if words:
        seen.append(Evidence("log", "the libraries wrote", words))
    log = error_lines(Path(os.environ.get("ASCEND_PROCESS_LOG_PATH", "/nowhere")))
    if log:
        seen.append(Evidence("log", "CANN's log", log))
    summary = f"{routine} returned {code} ({error.name})"
    causes, step = advice_for(error.cause or code)
    inner = next((line for line in words.splitlines() if _ERROR in line), "")
    causes = (inner.partition(_ERROR)[2].strip(), *causes) if inner else causes
    before = call_before(routine) if isinstance(error, DeviceLostError) else None
    if before is not None:
        causes = (lost_after(before), *causes)
    finding = Finding(Status.FAIL, summary, tuple(seen), causes, step, code, error.name)
    return explained(finding, f"{words}\n{log}\n{error.detail or ''}")


def lost_after(call: str) -> str:
    """Return the cause of a lost device, for a call that itself succeeded may have lost it.

    Args:
        call: The call before the one that failed.
    """
    return f"the device was lost in this call, or in the one before it, {call}"


def explained(finding: Finding, words: str) -> Finding:
    """Put in front the cause that the system's own words name, and take its next step.

    Args:
        finding: The finding.
        words: The words of the loader, the driver, the libraries and CANN's logs; the finding
            stays as it is if they name no cause more exact than a general code.
    """
    entry = next((entry for entry in look_up(words) if entry.names_a_cause), None)
    if entry is None:
        return finding
    causes = (f"{entry.heading}: {entry.meaning}", *entry.causes)
    others = (cause for cause in finding.causes if cause not in causes)
    return replace(
        finding, causes=(*causes, *others), next_step=entry.next_step or finding.next_step
    )


_OWN_ERRORS: Final = Path("/proc/self/fd/2")
"""The file to which this child's libraries write their errors."""
_ERROR: Final = "[ERROR]"
_ABSENT: Final = "No such file or directory"


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
    return replace_fields(
        result,
        status=Status.WARN if result.status is Status.PASS else result.status,
        summary=f"{result.summary}; {finding.summary}",
        evidence=result.evidence + finding.evidence,
        causes=result.causes + finding.causes,
        next_step=result.next_step or finding.next_step,
    )


def cut_short(check: Check, outcome: ChildOutcome, context: CheckContext) -> Finding:
    """Build the finding of a child that ended before its steps did.

    Args:
        check: The check that was under way.
        outcome: The outcome of the child.
        context: The machine under examination, with the CANN in use.
    """
    traces, code = _traces(outcome), outcome.returncode
    name = _obstructing(context.machine.environment) if outcome.running is None else ""
    if name:
        text = repr(context.machine.environment[name])
        return found("DEV-111.obstructed", *traces, name=name, text=text)
    if outcome.ended == "unborn":
        return explained(found("DEV-111.unborn", *traces, code=code), outcome.error)
    step = f"while trying: {check.title}{_location(outcome, context.installation)}"
    if outcome.ended == "crash":
        end, cause = _end(code or 0)
        crash = found("DEV-111.crash", *traces, end=end, cause=cause, step=step)
        return explained(crash, f"{outcome.error}\n{outcome.log}")
    if outcome.ended == "flood":
        return found("DEV-111.flood", *traces, size=MOST_OUTPUT >> 20, step=step)
    if outcome.ended == "abandoned":
        seconds, pid = outcome.seconds, outcome.pid
        return found("DEV-111.abandoned", *traces, seconds=seconds, step=step, pid=pid)
    return found("DEV-111.hang", *traces, seconds=outcome.seconds, step=step)


def _obstructing(environment: Mapping[str, str]) -> str:
    """Return the variable that keeps this Python from starting and importing what the child needs.

    The result is empty if it starts as it is, or if leaving out one variable does not help.
    """
    names = sorted(name for name in environment if name.startswith(_OF_LOADERS))
    if _starts(environment):
        return ""
    without = {name: {k: v for k, v in environment.items() if k != name} for name in names}
    name = next((name for name in names if _starts(without[name])), "")
    # What failed for a moment only, as while a package is installed, is no variable's fault.
    return "" if name and _starts(environment) else name


def _starts(environment: Mapping[str, str]) -> bool:
    """Return True if this Python starts in an environment and imports what the child needs."""
    command = [sys.executable, "-c", f"import {_NEEDED}, os; os._exit({_STARTED})"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(  # noqa: S603  # our own interpreter
            command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=_TO_START, check=False,
        )  # fmt: skip
        return done.returncode == _STARTED
    return False


_OF_LOADERS: Final = ("LD_", "PYTHON", "GLIBC_", "MALLOC_")
"""Beginnings of the variables that change how a program or an interpreter starts."""
_NEEDED: Final = "pyaclnn.health.child.session"
_STARTED: Final = 41
_TO_START: Final = 10.0


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
