# SPDX-License-Identifier: Apache-2.0
"""Reports as JUnit XML, which every continuous-integration server shows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from pyaclnn.health.report.clean import cleaned
from pyaclnn.health.report.figure import Severity
from pyaclnn.health.report.fleet import fleet_of, only
from pyaclnn.health.report.record import Status
from pyaclnn.health.report.verdict import about, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyaclnn.health.report.fleet import Fleet
    from pyaclnn.health.report.record import CheckResult, Report

__all__ = ["as_junit"]


def as_junit(given: Sequence[Report] | Fleet) -> str:
    """Return the reports as JUnit XML: one suite for each machine, one case for each check.

    FAIL, TIMEOUT and CRASH are failures, ERROR is an error, SKIP and NOT_RUN are skipped; a warning
    passes and is in the case's output.

    Args:
        given: The reports of one or more machines.
    """
    one = only(given)
    reports = fleet_of(given).reports if one is None else (cleaned(one),)
    statuses = [result.status for report in reports for result in report.results]
    time = f"{sum(report.seconds for report in reports):.3f}"
    head = _attributes(name="pyaclnn doctor", **_counts(statuses), time=time)
    suites = "".join(line for report in reports for line in _suite(report))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {head}>\n{suites}</testsuites>\n'


def _suite(report: Report) -> Iterator[str]:
    yield (
        "  <testsuite "
        + _attributes(
            name="pyaclnn doctor (SIMULATED NPU)" if report.simulated else "pyaclnn doctor",
            hostname=str(report.host.get("name", "")),
            timestamp=report.started,
            time=f"{report.seconds:.3f}",
            **_counts([result.status for result in report.results]),
        )
        + ">\n    <properties>\n"
    )
    for name, value in (
        ("verdict", verdict(report).headline),
        ("examined", about(report)),
        ("simulated", str(report.simulated).lower()),
        ("level", report.level),
        ("version", report.version),
        *report.environment.items(),
    ):
        yield f"      <property {_attributes(name=name, value=value)} />\n"
    yield "    </properties>\n"
    yield from map(_case, report.results)
    yield "  </testsuite>\n"


def _counts(statuses: Iterable[Status]) -> dict[str, str]:
    statuses = list(statuses)
    skipped = statuses.count(Status.SKIP) + statuses.count(Status.NOT_RUN)
    counts = {
        "tests": len(statuses),
        "failures": sum(status.broken for status in statuses),
        "errors": statuses.count(Status.ERROR),
        "skipped": skipped,
    }
    return {name: str(count) for name, count in counts.items()}


def _case(result: CheckResult) -> str:
    head = _attributes(
        classname=f"pyaclnn.health.doctor.{result.category}",
        name=f"{result.id} {result.title}",
        time=f"{result.seconds:.3f}",
    )
    status, summary = result.status, result.summary
    if status in {Status.SKIP, Status.NOT_RUN}:
        told = f"<skipped {_attributes(message=f'{status.value}: {summary}')} />"
    elif status.broken or status is Status.ERROR:
        kind = "error" if status is Status.ERROR else "failure"
        what = _attributes(type=status.value, message=summary)
        told = f"<{kind} {what}>{escape(_story(result))}</{kind}>"
    else:
        told = f"<system-out>{escape(_story(result))}</system-out>"
    return f"    <testcase {head}>\n      {told}\n    </testcase>\n"


def _attributes(**given: str) -> str:
    return " ".join(f"{name}={quoteattr(value)}" for name, value in given.items())


def _story(result: CheckResult) -> str:
    lines = [f"{result.status.value}: {result.summary}"]
    if result.severity is not Severity.NONE:
        lines.append(f"severity: {result.severity.value}")
    if result.code is not None:
        lines.append(f"code: {result.code} {result.code_name or ''}".rstrip())
    lines += [f"figure {figure}" for figure in result.figures]
    lines += [f"{item.kind} {item.label}: {item.text}" for item in result.evidence]
    lines += [f"likely cause {n}: {cause}" for n, cause in enumerate(result.causes, 1)]
    if result.next_step:
        lines.append(f"next: {result.next_step}")
    lines += [
        f"{number.operator}.{number.output} {number.dtype} {number.shape}: {number.verdict}"
        for number in result.numbers
        if not number.passed
    ]
    return "\n".join(lines)
