# SPDX-License-Identifier: Apache-2.0
"""Reports as JUnit XML, which every continuous-integration server shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.health.report.clean import cleaned
from pyaclnn.health.report.fleet import fleet_of, only
from pyaclnn.health.report.record import Status
from pyaclnn.health.report.template import environment
from pyaclnn.health.report.verdict import about, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.report.fleet import Fleet
    from pyaclnn.health.report.record import CheckResult, Report

__all__ = ["as_junit"]

_ELEMENTS: Final = {
    status: "failure" if status.broken else "system-out" if status.passed else "skipped"
    for status in Status
} | {Status.ERROR: "error"}
"""The element of a case by its status."""


def as_junit(given: Sequence[Report] | Fleet) -> str:
    """Return the reports as JUnit XML: one suite for each machine, one case for each check.

    FAIL, TIMEOUT and CRASH are failures, ERROR is an error, SKIP and NOT_RUN are skipped; a warning
    passes and is in the case's output.

    Args:
        given: The reports of one or more machines.
    """
    one = only(given)
    reports = fleet_of(given).reports if one is None else (cleaned(one),)
    names = {"about": about, "counts": _counts, "elements": _ELEMENTS, "verdict": verdict}
    template = environment().get_template("junit.xml", globals=names)
    every = [result for report in reports for result in report.results]
    return template.render(reports=reports, every=every)


def _counts(results: Iterable[CheckResult]) -> dict[str, int]:
    elements = [_ELEMENTS[result.status] for result in results]
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": len(elements)} | {name: elements.count(one) for name, one in kinds.items()}
