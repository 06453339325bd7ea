# SPDX-License-Identifier: Apache-2.0
"""What a failed call means for a machine: likely causes in order, and the one next step."""

from __future__ import annotations

import os
from pathlib import Path

from pyaclnn.base.errors import AclError, BackendNotFoundError, KernelError, MissingSymbolError
from pyaclnn.cann.status import explanation, meaning
from pyaclnn.health.checks.finding import Finding
from pyaclnn.health.child.logs import error_lines
from pyaclnn.health.report.record import Evidence, Status

__all__ = ["advice_for", "from_error"]


def advice_for(code: int | None) -> tuple[tuple[str, ...], str] | None:
    """Return likely causes and the next step for a status code; None without a code."""
    if code is None:
        return None
    known = explanation(code)
    if issubclass(known.exception, KernelError):
        # What was computed here is known to be right: the user's own work has no part in it.
        return (
            "the operator package is of another version than toolkit or driver, or of another chip",
            "the hardware fails",
        ), "npu-smi info -t health -i 0; then install the operator package of this chip again"
    # The doctor cannot send people to the doctor.
    step = "npu-smi info" if "pyaclnn doctor" in known.next_step else known.next_step
    return known.causes or (known.meaning,), step


def from_error(error: AclError) -> Finding:
    """Make a finding of a call that failed.

    Args:
        error: What it raised.
    """
    if isinstance(error, (BackendNotFoundError, MissingSymbolError)):
        return _not_loaded(error)
    code, name = error.code, error.name
    if code is None:
        return Finding(
            Status.FAIL,
            _first_line(error),
            (Evidence("log", error.routine or "pyaclnn", str(error)),),
            ("CANN answered something that it should not answer",),
            "look at the text above",
        )
    causes, next_step = advice_for(error.cause or code) or ((), "")
    evidence = [Evidence("function", error.routine or "?", f"returned {code} ({name})")]
    if error.cause:
        inner = f"{error.cause} ({meaning(error.cause).name})"
        evidence.append(
            Evidence("function", "a call of the runtime inside it", f"returned {inner}")
        )
    evidence.append(Evidence("log", "CANN says", error.detail or "nothing more"))
    log = error_lines(Path(os.environ.get("ASCEND_PROCESS_LOG_PATH", "/nowhere")))
    if log:
        evidence.append(Evidence("log", "CANN's log", log))
    return Finding(
        Status.FAIL,
        f"{error.routine} returned {code} ({name})",
        tuple(evidence),
        causes,
        next_step,
        code,
        name,
    )


def _not_loaded(error: BackendNotFoundError | MissingSymbolError) -> Finding:
    if isinstance(error, MissingSymbolError):
        evidence = tuple(Evidence("path", path, found) for path, found in error.files)
        return Finding(
            Status.FAIL,
            f"the libraries do not have {error.symbol}",
            evidence,
            ("this CANN is older, or its operator package is not complete",),
            f"install toolkit and operator package of one CANN, {error.since} or newer, again",
        )
    evidence = tuple(Evidence("path", path, found) for path, found in error.attempts)
    words = error.attempts[-1][1] if error.attempts else _first_line(error)
    return Finding(
        Status.FAIL,
        words,
        evidence,
        (
            "a library that it needs is missing, or lacks a function: versions are mixed",
            "LD_LIBRARY_PATH lacks a folder of CANN or of the driver",
        ),
        "source the set_env.sh of CANN in a new shell",
    )


def _first_line(error: AclError) -> str:
    return str(error).splitlines()[0]
