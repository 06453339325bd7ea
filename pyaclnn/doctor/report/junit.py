# SPDX-License-Identifier: Apache-2.0
"""Reports as JUnit XML, which every continuous-integration server shows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from pyaclnn.doctor.report.clean import cleaned
from pyaclnn.doctor.report.record import Status
from pyaclnn.doctor.report.verdict import about, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.doctor.report.record import CheckResult, Report

__all__ = ["as_junit"]


def as_junit(reports: Sequence[Report]) -> str:
    """Return the reports as JUnit XML: one suite for each machine, one case for each check.

    FAIL, TIMEOUT and CRASH are failures, ERROR is an error, SKIP and NOT_RUN are skipped; a warning
    passes and tells itself in the case's output.

    Args:
        reports: The reports of one or more machines.
    """
    root = ET.Element("testsuites", name="pyaclnn doctor")
    for report in reports:
        root.append(_suite(cleaned(report)))
    _count(root, [result for report in reports for result in report.results])
    root.set("time", f"{sum(report.seconds for report in reports):.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(report: Report) -> ET.Element:
    title = "pyaclnn doctor (SIMULATED NPU)" if report.simulated else "pyaclnn doctor"
    suite = ET.Element(
        "testsuite",
        name=title,
        hostname=str(report.host.get("name", "")),
        timestamp=report.started,
        time=f"{report.seconds:.3f}",
    )
    _count(suite, report.results)
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("verdict", verdict(report).headline),
        ("examined", about(report)),
        ("simulated", str(report.simulated).lower()),
        ("level", report.level),
        ("version", report.version),
        *report.environment.items(),
    ):
        ET.SubElement(properties, "property", name=name, value=value)
    for result in report.results:
        suite.append(_case(result))
    return suite


def _count(element: ET.Element, results: Sequence[CheckResult]) -> None:
    statuses = [result.status for result in results]
    element.set("tests", str(len(statuses)))
    element.set("failures", str(sum(status.broken for status in statuses)))
    element.set("errors", str(statuses.count(Status.ERROR)))
    skipped = statuses.count(Status.SKIP) + statuses.count(Status.NOT_RUN)
    element.set("skipped", str(skipped))


def _case(result: CheckResult) -> ET.Element:
    case = ET.Element(
        "testcase",
        classname=f"pyaclnn.doctor.{result.category}",
        name=f"{result.id} {result.title}",
        time=f"{result.seconds:.3f}",
    )
    summary = result.summary
    if result.status.broken or result.status is Status.ERROR:
        kind = "error" if result.status is Status.ERROR else "failure"
        failure = ET.SubElement(case, kind, type=result.status.value, message=summary)
        failure.text = _story(result)
    elif result.status in {Status.SKIP, Status.NOT_RUN}:
        ET.SubElement(case, "skipped", message=f"{result.status.value}: {summary}")
    else:
        ET.SubElement(case, "system-out").text = _story(result)
    return case


def _story(result: CheckResult) -> str:
    lines = [f"{result.status.value}: {result.summary}"]
    if result.code is not None:
        lines.append(f"code: {result.code} {result.code_name or ''}".rstrip())
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
