# SPDX-License-Identifier: Apache-2.0
"""Many machines as one: what is the same failure, and which machine is worst."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from pyaclnn.health.report.fleet import fleet_verdict, gather, merge
from pyaclnn.health.report.pages import as_html
from pyaclnn.health.report.record import CheckResult, Figure, Report, Severity, Status, host_name
from pyaclnn.health.report.text import as_text
from tests.doctor import report_samples as samples
from tests.doctor.report_samples import result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def on(name: str, *results: CheckResult, status: int = 1) -> Report:
    return samples.report(*results, host={"name": name}, exit_status=status)


def failing(summary: str, check: str = "DEV-104@0", **but: object) -> CheckResult:
    return result(check, Status.FAIL, summary=summary, **but)


SAME = [
    (failing("busy", code=507033), failing("in other words", code=507033)),
    (failing("pid 812 holds 0x7fff"), failing("pid 9 holds 0x1234abcd")),
    (failing("m1: no /dev/davinci0"), failing("m2: no /dev/davinci3")),
    (failing("late", "DEV-104@0"), failing("late", "DEV-104@7")),
]
DIFFERENT = [
    (failing("busy", code=507033), failing("busy", code=507899)),
    (failing("busy"), failing("unhealthy")),
    (failing("busy", "DEV-104@0"), failing("busy", "DEV-105@0")),
    (failing("busy"), result("DEV-104@0", Status.TIMEOUT, summary="busy")),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_equal_failures_are_one_group(first: CheckResult, second: CheckResult) -> None:
    (group,) = merge([on("m1", first), on("m2", second)]).groups
    assert group.hosts == ("m1", "m2")
    assert group.results == (first, second)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_different_failures_are_two_groups(first: CheckResult, second: CheckResult) -> None:
    assert len(merge([on("m1", first), on("m2", second)]).groups) == 2


def test_failures_come_first_and_among_them_the_commonest() -> None:
    rare, common = failing("rare", "A-001"), failing("common", "B-001")
    warning = result("C-001", Status.WARN)
    fleet = merge(
        [on("m1", warning, rare, common), on("m2", warning, common), on("m3", warning, common)]
    )
    assert [group.results[0].id for group in fleet.groups] == ["B-001", "A-001", "C-001"]


def test_a_machine_with_the_failure_on_two_devices_counts_once() -> None:
    (group,) = merge([on("m1", failing("x", "A-001@0"), failing("x", "A-001@1"))]).groups
    assert group.hosts == ("m1",)
    assert len(group.results) == 2


def test_what_passed_or_did_not_run_is_in_no_group() -> None:
    calm = [result("A-001", s) for s in (Status.PASS, Status.SKIP, Status.NOT_RUN)]
    assert merge([on("m1", *calm, status=0)]).groups == ()


STATUSES = [
    ([samples.HEALTHY, samples.HEALTHY], 0, "good", "2 machines: 2 working."),
    ([samples.HEALTHY, samples.BROKEN, samples.NO_CANN], 1, "broken", "3 machines: 1 broken, 1 wi"),
    ([samples.HEALTHY, samples.NO_CANN], 4, "nothing", "2 machines: 1 without a usable device, 1"),
    ([samples.HEALTHY, samples.UNCLEAR], 3, "unclear", "2 machines: 1 unclear, 1 working."),
    ([samples.SIMULATED, samples.HEALTHY], 0, "simulated", "1 simulated only, 1 working."),
    ([samples.HEALTHY], 0, "good", "1 machine: 1 working."),
]


@pytest.mark.parametrize(("reports", "status", "tone", "words"), STATUSES)
def test_the_worst_machine_decides(
    reports: list[Report], status: int, tone: str, words: str
) -> None:
    fleet = merge(reports)
    assert fleet.exit_status == status
    assert fleet_verdict(fleet).tone == tone
    assert words in fleet_verdict(fleet).headline


def test_a_fleet_of_broken_machines_names_the_commonest_problem_and_its_next_step() -> None:
    said = fleet_verdict(merge([samples.BROKEN, samples.HEALTHY]))
    assert "DEV-103@0 on 1 of them" in said.detail
    assert said.next_step == "npu-smi info -t board -i 0"


# ---- reading ------------------------------------------------------------------------------------


def test_reports_and_fleets_can_be_read_back(tmp_path: Path) -> None:
    one, many = tmp_path / "one.json", tmp_path / "many.json"
    one.write_text(samples.BROKEN.to_text())
    fleet = merge([samples.BROKEN, samples.HEALTHY])
    many.write_text(fleet.to_text())
    assert gather([str(one)]).reports.whole(0) == samples.BROKEN
    assert gather([str(many)]).to_text() == fleet.to_text()


BAD = [
    ("", "is not a report"),
    ("[]", "is not a report"),
    ('{"schema": 9}', "schema is 9"),
    ('{"kind": "fleet"}', "is not a report"),
    (json.dumps({**samples.BROKEN.to_json(), "more": 1}), "unknown field `more`"),
    (json.dumps({**samples.BROKEN.to_json(), "results": [1]}), "is not a report"),
]


@pytest.mark.parametrize(("text", "words"), BAD)
def test_what_is_no_report_is_refused_by_the_file_s_name(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    reason = samples.reason_of(path)
    assert "some.json" in reason
    assert words in reason


def test_a_file_that_does_not_exist_is_refused_by_its_name(tmp_path: Path) -> None:
    reason = samples.reason_of(tmp_path / "gone.json")
    assert "gone.json' cannot be read: No such file" in reason


def test_files_of_which_none_is_a_report_are_a_row_each(tmp_path: Path) -> None:
    paths = [tmp_path / f"n{number}.json" for number in range(3)]
    for path, text in zip(paths, ["", "{", '{"schema": 9}'], strict=True):
        path.write_text(text)
    fleet = gather(map(str, paths))
    assert fleet.names == ("n0", "n1", "n2")
    assert fleet.exit_status == 3


def test_a_machine_without_a_name_has_one() -> None:
    assert host_name(replace(samples.HEALTHY, host={})) == "unnamed"


# ---- telling machines apart ---------------------------------------------------------------------


def test_machines_of_one_name_are_told_apart_by_their_ids() -> None:
    broken = [replace(samples.BROKEN, host={"name": "node", "id": name}) for name in "ab"]
    fleet = merge([*broken, on("other", failing("x"))])
    assert fleet.names == ("node (a)", "node (b)", "other")
    assert next(g for g in fleet.groups if g.results[0].id == "DEV-103@0").hosts == (
        "node (a)",
        "node (b)",
    )


def test_two_reports_of_one_machine_have_its_name(tmp_path: Path) -> None:
    first = replace(samples.BROKEN, host={"name": "node", "id": "a"})
    second = replace(first, started="2026-05-22T08:30:00+00:00")
    assert merge([first, second]).names == ("node", "node")
    paths = [tmp_path / name for name in "abc"]
    for path, given in zip(paths, [first, second, first], strict=True):
        path.write_text(given.to_text())
    fleet = gather(map(str, paths))
    assert [fleet.reports.whole(place) for place in range(len(fleet.reports))] == [first, second]


@pytest.mark.parametrize("tell", [as_html, as_text])
def test_a_simulated_machine_does_not_brand_the_rest(
    tell: Callable[[Sequence[Report]], str],
) -> None:
    words = "SIMULATED NPU"
    alone = tell([samples.SIMULATED, samples.SIMULATED])
    mixed = tell([samples.SIMULATED, samples.HEALTHY])
    assert words in alone.partition("Machines")[0]
    assert words not in mixed.partition("Machines")[0]
    assert "the simulated NPU" in mixed
    assert "of the simulation" not in mixed.partition('class="machine"')[0]


# ---- real and simulated -------------------------------------------------------------------------


def test_what_a_simulation_does_wrong_is_kept_apart_and_comes_last() -> None:
    broken, mock = on("real", failing("x")), on("mock", failing("x"), failing("worse", "A-001@0"))
    mock = replace(mock, backend="mock", simulated=True)
    groups = merge([mock, mock, broken]).groups
    assert [(group.simulated, group.hosts) for group in groups] == [
        (False, ("real",)),
        (True, ("mock",)),
        (True, ("mock",)),
    ]


def test_of_a_mixed_fleet_the_page_marks_the_rows_of_simulated_machines() -> None:
    page = as_html([samples.SIMULATED, samples.HEALTHY, samples.BROKEN])
    assert page.count('<tr class="mock" data-g') == 1
    assert as_html([samples.HEALTHY, samples.BROKEN]).count('<tr class="mock"') == 0


def test_of_many_machines_the_terminal_counts_those_on_which_all_is_well() -> None:
    fine = [replace(samples.HEALTHY, host={"name": f"n{k}"}) for k in range(50)]
    text = as_text([*fine, replace(samples.BROKEN, host={"name": "bad"})])
    assert "and 50 machines on which all is well" in text
    assert "bad" in text
    assert "n49 " not in text


# ---- figures ------------------------------------------------------------------------------------


def measured(name: str, *speeds: float, simulated: bool = False, chip: str = "910B3") -> Report:
    results = [
        result(f"FIG-101@{device}", figures=(Figure("copy", speed, "GB/s"),))
        for device, speed in enumerate(speeds)
    ]
    report = on(name, *results, status=0)
    backend = "mock" if simulated else "cann"
    return replace(report, soc_name=chip, simulated=simulated, backend=backend)


def test_a_device_that_is_slower_than_those_of_all_machines_is_told_in_every_format() -> None:
    given = [measured(f"m{k}", 20.0, 20.1) for k in range(5)] + [measured("slow", 20.0, 9.0)]
    fleet = merge(given)
    ((machine, device, simulated, outlier),) = fleet.outliers
    assert (machine, device, simulated, outlier.severity) == ("slow", "1", False, Severity.DRAIN)
    for told in (as_html(given), as_text(given)):
        assert "copy 9 GB/s, 55 % worse than 20" in told
    assert fleet.to_json()["outliers"][0]["host"] == "slow"


def test_devices_are_compared_with_those_of_their_chip_and_kind_only() -> None:
    other = [measured(f"o{k}", 9.0, chip="310P") for k in range(4)]
    mock = [measured(f"s{k}", 0.5, simulated=True) for k in range(4)]
    assert merge([*(measured(f"m{k}", 20.0) for k in range(4)), *other, *mock]).outliers == ()
    slow = measured("s9", 0.1, simulated=True)
    (found,) = merge([*mock, slow, measured("m", 20.0)]).outliers
    assert (found.machine, found.simulated) == ("s9", True)
