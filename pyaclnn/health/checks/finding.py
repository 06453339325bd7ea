# SPDX-License-Identifier: Apache-2.0
"""Finding of a check, and the functions that build one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyaclnn.health.checks.rows import outcome_row
from pyaclnn.health.report.record import Evidence, Number, Status

if TYPE_CHECKING:
    from collections.abc import Sized
    from pathlib import Path

    from pyaclnn.health.report.record import Figure, Severity

__all__ = ["Finding", "at_path", "fail", "found", "more", "ok", "skip", "value", "warn"]


@dataclass(frozen=True)
class Finding:
    """The outcome of a check, without the check, its time and its duration.

    Attributes:
        status: The status of the check.
        summary: The finding in one line.
        evidence: The facts that it is based on.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next.
        code: CANN's status code, if one is behind it.
        code_name: The code's name.
        numbers: Comparisons of numeric checks.
        severity: The consequence for a scheduler; None to derive it from the status.
        figures: Measurements of checks that measure.
        absent: Whether there is nothing to examine: no CANN, or no device.
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


def found(
    outcome: str,
    *evidence: Evidence,
    status: Status | None = None,
    causes: tuple[str, ...] = (),
    **texts: object,
) -> Finding:
    """Build the finding of an outcome that the tables of checks describe.

    Args:
        outcome: The id of the check and the name of the outcome, e.g. ``ENV-001.gone``.
        evidence: The facts that it is based on.
        status: The status, instead of the one in the table.
        causes: The causes, of an outcome without any in the table.
        texts: Values of the names in braces in the texts of the outcome.
    """
    row = outcome_row(outcome, texts)
    return Finding(
        status or Status(row.get("status", "fail").upper()),
        row["summary"],
        evidence,
        row.get("causes", causes),
        row.get("next_step"),
        absent=row.get("absent", False),
    )


def ok(summary: str, *evidence: Evidence) -> Finding:
    """Build a finding without fault."""
    return Finding(Status.PASS, summary, evidence)


def skip(reason: str) -> Finding:
    """Build the finding of a check that does not apply here."""
    return Finding(Status.SKIP, reason)


def warn(summary: str, *evidence: Evidence, causes: tuple[str, ...], next_step: str) -> Finding:
    """Build the finding of something that may fail later."""
    return Finding(Status.WARN, summary, evidence, causes, next_step)


def fail(
    summary: str,
    *evidence: Evidence,
    causes: tuple[str, ...],
    next_step: str,
    absent: bool = False,
) -> Finding:
    """Build the finding of something broken, with its likely causes and the next step."""
    return Finding(Status.FAIL, summary, evidence, causes, next_step, absent=absent)


def more(items: Sized, text: str) -> str:
    """Return a text about the number of items after the first; an empty one if there are none.

    Args:
        items: The items.
        text: The text, with ``{}`` for the number.
    """
    return text.format(len(items) - 1) if len(items) > 1 else ""


def value(label: str, text: object) -> Evidence:
    """Build evidence of a value."""
    return Evidence("value", label, str(text))


def at_path(path: Path | str, text: str) -> Evidence:
    """Build evidence of something seen at a path."""
    return Evidence("path", str(path), text)
