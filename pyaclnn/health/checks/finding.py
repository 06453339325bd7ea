# SPDX-License-Identifier: Apache-2.0
"""What a check returns, and how it says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyaclnn.health.report.record import Evidence, Number, Status

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.health.report.figure import Figure, Severity

__all__ = ["Finding", "at_path", "fail", "ok", "skip", "value", "warn"]


@dataclass(frozen=True)
class Finding:
    """The outcome of a check, before it is known which check, when, and how long it took.

    Attributes:
        status: What became of it.
        summary: What was found, in one line.
        evidence: What that rests on.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next.
        code: CANN's status code, if one is behind it.
        code_name: The code's name.
        numbers: Comparisons of numeric checks.
        severity: What it asks of who hands out work; None for what follows from the status.
        figures: Measurements of checks that measure.
        absent: Whether the finding is that there is nothing to examine: no CANN, or no device.
    """

    status: Status
    summary: str
    evidence: tuple[Evidence, ...] = ()
    causes: tuple[str, ...] = ()
    next_step: str | None = None
    code: int | None = None
    code_name: str | None = None
    numbers: tuple[Number, ...] = ()
    severity: Severity | None = None
    figures: tuple[Figure, ...] = ()
    absent: bool = False


def ok(summary: str, *evidence: Evidence) -> Finding:
    """Say that all is well."""
    return Finding(Status.PASS, summary, evidence)


def skip(reason: str) -> Finding:
    """Say that the check does not apply here."""
    return Finding(Status.SKIP, reason)


def warn(summary: str, *evidence: Evidence, causes: tuple[str, ...], next_step: str) -> Finding:
    """Say that something may go wrong later."""
    return Finding(Status.WARN, summary, evidence, causes, next_step)


def fail(
    summary: str,
    *evidence: Evidence,
    causes: tuple[str, ...],
    next_step: str,
    absent: bool = False,
) -> Finding:
    """Say that something is broken, why that may be, and what to do."""
    return Finding(Status.FAIL, summary, evidence, causes, next_step, absent=absent)


def value(label: str, text: object) -> Evidence:
    """Make evidence of a value."""
    return Evidence("value", label, str(text))


def at_path(path: Path | str, text: str) -> Evidence:
    """Make evidence of something seen at a path."""
    return Evidence("path", str(path), text)
