# SPDX-License-Identifier: Apache-2.0
"""Verdict of a report: one sentence, and the one thing to do next.

Every format has the same verdict. A report of the simulated NPU never sounds as if a machine were
fine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyaclnn.health.report.record import Exit, Status, check_of, device_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyaclnn.health.report.record import CheckResult, Report

__all__ = [
    "BROKEN",
    "CALM",
    "GOOD",
    "NOTHING",
    "SIMULATED",
    "UNCLEAR",
    "Verdict",
    "about",
    "by_category",
    "first_problem",
    "gravity",
    "in_order",
    "problems",
    "tally",
    "verdict",
    "wrong_outputs",
]

GOOD: Final = "good"
BROKEN: Final = "broken"
UNCLEAR: Final = "unclear"
NOTHING: Final = "nothing"
SIMULATED: Final = "simulated"

CALM: Final = 3
"""Gravity of a status without a problem."""
_GRAVITY: Final = {
    status: 0 if status.broken else {Status.ERROR: 1, Status.WARN: 2}.get(status, CALM)
    for status in Status
}
_TRY: Final = "pyaclnn doctor --backend mock"
_STOPPED: Final = "Stopped before the end; of what was examined until then nothing is broken."


@dataclass(frozen=True)
class Verdict:
    """The verdict.

    Attributes:
        tone: ``good``, ``broken``, ``unclear``, ``nothing`` (no CANN or no device here) or
            ``simulated`` (all passed, but on the simulated NPU).
        headline: One sentence.
        detail: More of it, or an empty text.
        next_step: The one thing to do next, or None.
        result: The result that decides, or None.
    """

    tone: str
    headline: str
    detail: str = ""
    next_step: str | None = None
    result: CheckResult | None = None


def tally(results: Iterable[CheckResult]) -> dict[Status, int]:
    """Count the results of each status, in the order in which statuses are declared."""
    counts = Counter(result.status for result in results)
    return {status: counts[status] for status in Status if counts[status]}


def by_category(results: Iterable[CheckResult]) -> dict[str, list[CheckResult]]:
    """Return results by category."""
    categories: dict[str, list[CheckResult]] = {}
    for result in results:
        categories.setdefault(result.category, []).append(result)
    return categories


def in_order(counts: dict[Status, int]) -> str:
    """Return a tally in words, e.g. ``12 passed, 1 failed, 3 not run``."""
    words = {
        Status.PASS: "passed",
        Status.WARN: "warned",
        Status.FAIL: "failed",
        Status.SKIP: "skipped",
        Status.TIMEOUT: "timed out",
        Status.CRASH: "crashed",
        Status.ERROR: "could not tell",
        Status.NOT_RUN: "not run",
    }
    return ", ".join(f"{count} {words[status]}" for status, count in counts.items()) or "no checks"


def problems(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Return the problems: failures first, then errors, then warnings."""
    wrong = [result for result in results if gravity(result.status) < CALM]
    return sorted(wrong, key=lambda result: gravity(result.status))


def gravity(status: Status) -> int:
    """Return 0 for failures, 1 for errors, 2 for warnings, 3 for no problem."""
    return _GRAVITY[status]


def wrong_outputs(result: CheckResult) -> list[str]:
    """Return a line with name and reason for each output that did not pass."""
    return [
        f"{n.operator} {n.output} {n.case}: {n.verdict}" for n in result.numbers if not n.passed
    ]


def first_problem(report: Report) -> CheckResult | None:
    """Return the first result that is broken; failing that, the first error or warning."""
    return next(iter(problems(report.results)), None)


def about(report: Report) -> str:
    """Return the examined installation in words, e.g. ``CANN 8.1.RC1 on Ascend910B3``."""
    if report.simulated:
        return f"the simulated NPU ({report.soc_name or 'no chip'})"
    if report.results and check_of(report.results[0]).startswith("REP-"):
        return "no report"
    if report.backend == "none":
        return "no usable CANN" if report.exit_status == Exit.BROKEN else "no CANN"
    name = f"CANN {report.cann_version}" if report.cann_version else "CANN"
    return f"{name} on {report.soc_name}" if report.soc_name else name


def verdict(report: Report) -> Verdict:
    """Return the verdict on a report.

    Args:
        report: The report of one machine.
    """
    problem = first_problem(report)
    counts = in_order(tally(report.results))
    if report.exit_status == Exit.NOTHING_HERE:
        return _nothing_here(report, problem)
    if problem is not None and problem.status.broken:
        return Verdict(
            BROKEN,
            f"{_where(report)}{_titled(problem)}",
            f"The first thing that is broken is {problem.id}; {counts}.",
            problem.next_step,
            problem,
        )
    stopped = report.exit_status > Exit.SIGNALLED
    nothing = not any(result.status.passed for result in report.results)
    if stopped or nothing or report.exit_status == Exit.INCONCLUSIVE:
        text = f"Could not tell: {problem.summary if problem else 'no check came to a conclusion'}"
        text = _STOPPED if stopped else text
        step = problem.next_step if problem else None
        return Verdict(UNCLEAR, f"{_where(report)}{text}", counts, step, problem)
    if report.exit_status:  # --fail-on warn
        text = _titled(problem) if problem else "a warning counts as a failure"
        step = problem.next_step if problem else None
        return Verdict(BROKEN, f"{_where(report)}{text}", counts, step, problem)
    if report.simulated:
        return Verdict(
            SIMULATED,
            f"The simulated NPU does what it should ({counts})."
            if _computed(report)
            else _partly(report, counts),
            f"{_warned(report, problem)} {_OF_NO_CHIP}".lstrip(),
        )
    return _all_well(report, problem, counts)


def _titled(problem: CheckResult) -> str:
    """Return title and summary of a problem; the summary alone if it contains the title."""
    if f"while trying: {problem.title}" in problem.summary:
        return problem.summary
    return f"{problem.title}: {problem.summary}"


def _where(report: Report) -> str:
    return "On the simulated NPU: " if report.simulated else ""


def _computed(report: Report) -> bool:
    """Return whether numbers were computed, and were right, on every examined device."""
    of_devices = [result for result in report.results if "@" in result.id]
    examined = {device_of(result) for result in of_devices}
    computed = {
        device_of(result)
        for result in of_devices
        if result.id.startswith("NUM-") and result.status.passed
    }
    return bool(examined) and computed == examined


def _partly(report: Report, counts: str) -> str:
    touched = any("@" in result.id and result.status.passed for result in report.results)
    lacking = "no numbers were computed" if touched else "no device was touched"
    return f"What was examined of {about(report)} is in order, but {lacking} ({counts})."


def _all_well(report: Report, warning: CheckResult | None, counts: str) -> Verdict:
    if _computed(report):
        headline, detail, step = f"{about(report)} works ({counts}).", "", None
    else:
        headline, step = _partly(report, counts), "pyaclnn doctor"
        detail = "Only a whole run of the medium level tells whether the devices compute."
    if warning is not None:
        detail = f"{_warned(report, warning)} {detail}".rstrip()
        step = warning.next_step or step
    return Verdict(GOOD, headline, detail, step, warning)


_OF_NO_CHIP: Final = "That says nothing about this machine, its driver or any chip."


def _warned(report: Report, first: CheckResult | None) -> str:
    """Return the problem that decides in words, with the other checks that warn; empty without any.

    Args:
        report: The report.
        first: The problem whose next step the verdict gives.
    """
    if first is None:
        return ""
    is_warning = first.status is Status.WARN
    checks = [check_of(result) for result in report.results if result.status is Status.WARN]
    others = [check for check in dict.fromkeys(checks) if check != check_of(first)]
    also = f" {', '.join(others)} warn{'s' if len(others) == 1 else ''}"
    also = f"{also}{', too' if is_warning else ''}." if others else ""
    verb = "warns" if is_warning else "could not tell"
    return f"{first.id} {verb}: {first.summary.rstrip('.')}.{also}"


def _nothing_here(report: Report, problem: CheckResult | None) -> Verdict:
    step = (problem.next_step if problem else None) or _TRY
    if report.backend == "none":
        headline = "There is no CANN on this machine."
        detail = (
            "CANN is Huawei's software for its Ascend NPUs; without it nothing can run on an NPU. "
            "If it is installed after all, sourcing its set_env.sh makes it known."
        )
    else:
        text = problem.summary if problem else "none is visible"
        headline = f"{about(report)} is here, but no device can be used: {text}"
        detail = ""
    if _TRY not in step:
        detail += f" pyaclnn also runs without any NPU, on a simulated one: {_TRY}"
    return Verdict(NOTHING, headline, detail.strip(), step, problem)
