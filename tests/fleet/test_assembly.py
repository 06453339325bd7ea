# SPDX-License-Identifier: Apache-2.0
"""Reports of NPUs as reports of nodes: nothing is lost, and each finding has its NPU's number."""

from __future__ import annotations

import dataclasses

import pytest
from msgspec.structs import replace

from pyaclnn.health.fleet.examination import reports_of, with_departures
from pyaclnn.health.fleet.survey import Ended, Node
from pyaclnn.health.report.fleet import merge
from pyaclnn.health.report.record import Report, Status
from tests.doctor import report_samples as samples

NODE = Node("abcdef0123456789", "node-1", 2, 2)
OTHER = Node("fedcba9876543210", "node-2", 1, 1)
MACHINE = replace(samples.HEALTHY, host={"name": "x", "id": "m1"})


def ended(node: Node, npu: str | None, report: Report | None = MACHINE, **but: object) -> Ended:
    made = Ended(node, npu, Status.PASS, report=report, seconds=3.0)
    return dataclasses.replace(made, **but)  # type: ignore[arg-type]  # names and types are Ended's


def statuses(report: Report) -> dict[str, Status]:
    return {result.id: result.status for result in report.results}


def test_findings_of_an_npu_have_its_number_and_those_of_the_machine_stand_once() -> None:
    (report,) = reports_of([ended(NODE, "4"), ended(NODE, "6")], "medium")
    assert [result.id for result in report.results] == [
        "RAY-101", "ENV-001", "ENV-002", "LIB-001", "NUM-101@4", "NUM-101@6",
    ]  # fmt: skip
    assert (report.exit_status, report.host["name"]) == (0, "node-1")
    assert Report.from_json(report.to_json()) == report


def test_of_what_is_about_the_machine_the_gravest_counts() -> None:
    bad = replace(MACHINE.results[0], status=Status.FAIL, summary="bad")
    worse = replace(MACHINE, results=(bad, *MACHINE.results[1:]), exit_status=1)
    (report,) = reports_of([ended(NODE, "0"), ended(NODE, "1", worse)], "medium")
    assert statuses(report)["ENV-001"] is Status.FAIL
    assert report.exit_status == 1


@pytest.mark.parametrize(
    ("second", "check", "status", "exit_status"),
    [
        (
            {"npu": "1", "report": None, "status": Status.CRASH, "reason": "SIGKILL"},
            "RAY-102@1", Status.CRASH, 1,
        ),
        (
            {"npu": "1", "report": None, "status": Status.TIMEOUT, "reason": "no report"},
            "RAY-102@1", Status.TIMEOUT, 1,
        ),
        (
            {"npu": None, "report": None, "status": Status.ERROR, "reason": "others use it"},
            "RAY-101", Status.ERROR, 3,
        ),
        (
            {"npu": None, "report": None, "status": Status.TIMEOUT, "reason": "no process began"},
            "RAY-101", Status.TIMEOUT, 1,
        ),
    ],
)  # fmt: skip
def test_an_npu_without_a_report_is_a_finding(
    second: dict[str, object], check: str, status: Status, exit_status: int
) -> None:
    (report,) = reports_of([ended(NODE, "0"), ended(NODE, **second)], "medium")  # type: ignore[arg-type]  # as above
    assert statuses(report)[check] is status
    assert str(second["reason"]) in " ".join(result.summary for result in report.results)
    assert report.exit_status == exit_status
    assert Report.from_json(report.to_json()) == report


def test_a_node_of_which_nothing_reported_has_a_report_all_the_same() -> None:
    lost = ended(OTHER, None, None, status=Status.TIMEOUT, reason="no process began")
    reports = reports_of([ended(NODE, "0"), ended(NODE, "1"), lost], "quick")
    fleet = merge(reports)
    assert fleet.names == ("node-1", "node-2")
    assert [report.exit_status for report in reports] == [0, 1]
    assert fleet.exit_status == 1
    assert fleet.groups[0].hosts == ("node-2",)


def test_a_node_that_left_the_cluster_is_one_finding_and_the_first() -> None:
    lost = {"report": None, "status": Status.CRASH, "reason": "ActorDiedError: dead because"}
    bad = replace(MACHINE.results[0], status=Status.FAIL, summary="bad")
    worse = replace(MACHINE, results=(bad, *MACHINE.results[1:]), exit_status=1)
    found = [ended(NODE, "0", worse), ended(OTHER, "0", **lost), ended(OTHER, None, **lost)]  # type: ignore[arg-type]  # as above
    fleet = merge(reports_of(with_departures(found, [NODE]), "medium"))
    first, *others = [result for report in fleet.reports[1:] for result in report.results]
    assert fleet.groups[0].results == (first,)
    assert first.summary.startswith("the node left the cluster while it was examined")
    assert others == []


def test_a_process_that_was_killed_is_no_driver_that_hangs() -> None:
    killed = ended(NODE, "1", None, status=Status.CRASH, reason="SIGKILL")
    (report,) = reports_of(with_departures([ended(NODE, "0"), killed], [NODE]), "medium")
    result = next(result for result in report.results if result.id == "RAY-102@1")
    assert "killed" in result.causes[0]
    assert not any("hangs" in cause for cause in result.causes)


def test_nodes_on_one_machine_are_told_apart() -> None:
    first, second = reports_of([ended(NODE, "0"), ended(OTHER, "0")], "medium")
    assert first.host["id"] == "m1-abcdef01"
    assert second.host["id"] == "m1-fedcba98"
    (alone,) = reports_of([ended(NODE, "0")], "medium")
    assert alone.host["id"] == "m1"
