# SPDX-License-Identifier: Apache-2.0
"""Findings about failed calls: the code, likely causes in order, and the next step."""

from __future__ import annotations

import os
from pathlib import Path

from pyaclnn.base.errors import AclError, BackendNotFoundError, KernelError, MissingSymbolError
from pyaclnn.cann.status import explanation, meaning
from pyaclnn.health.checks.finding import Finding, found
from pyaclnn.health.child.logs import error_lines
from pyaclnn.health.report.record import Evidence, Status

__all__ = ["advice_for", "from_error"]


def advice_for(code: int) -> tuple[tuple[str, ...], str]:
    """Return likely causes and the next step for a status code."""
    known = explanation(code)
    if issubclass(known.exception, KernelError):
        # The doctor's inputs are right: the user's own program is no cause.
        return (
            "the operator package is of another version than toolkit or driver, or of another chip",
            "the hardware fails",
        ), "npu-smi info -t health -i 0; then install the operator package of this chip again"
    # The doctor cannot send people to the doctor.
    step = "npu-smi info" if "pyaclnn doctor" in known.next_step else known.next_step
    return known.causes or (known.meaning,), step


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
        reason = error.attempts[-1][1] if error.attempts else first
        return found("DEV-101.not_loaded", *seen, reason=reason)
    routine, code = error.routine or "pyaclnn", error.code
    if code is None:
        seen = [Evidence("log", routine, str(error))]
        return found("DEV-101.no_status", *seen, reason=first)
    seen = [Evidence("function", routine, f"returned {code} ({error.name})")]
    if error.cause:
        inner = f"returned {error.cause} ({meaning(error.cause).name})"
        seen.append(Evidence("function", "a call of the runtime inside it", inner))
    seen.append(Evidence("log", "CANN says", error.detail or "nothing more"))
    log = error_lines(Path(os.environ.get("ASCEND_PROCESS_LOG_PATH", "/nowhere")))
    if log:
        seen.append(Evidence("log", "CANN's log", log))
    summary = f"{routine} returned {code} ({error.name})"
    advice = advice_for(error.cause or code)
    return Finding(Status.FAIL, summary, tuple(seen), *advice, code, error.name)
