# SPDX-License-Identifier: Apache-2.0
"""Machines whose report is missing or cannot be read are machines of the fleet, with the reason."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.health.report import fleet as fleet_module
from pyaclnn.health.report.fleet import fleet_verdict, gather
from pyaclnn.health.report.hosts import expected_hosts, is_same_host, listed
from pyaclnn.health.report.record import Exit, host_name
from tests.doctor import report_samples as samples
from tests.product.commands import run

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = json.dumps(samples.HEALTHY.to_json())
BAD = {
    "truncated": (WHOLE[: len(WHOLE) // 2], "is not a report"),
    "empty": ("", "is not a report"),
    "banner": (f"Welcome to node 7!\n{WHOLE}", "is not a report"),
    "older": (json.dumps({**samples.HEALTHY.to_json(), "schema": 3}), "schema"),
    "unknown-key": (json.dumps({**samples.HEALTHY.to_json(), "more": 1}), "unknown field `more`"),
    "binary": ("\x00\x01\x02", "is not a report"),
}


def test_each_bad_file_is_a_machine_with_the_reason_and_the_others_count(tmp_path: Path) -> None:
    paths = []
    for name, (text, _) in {"good": (WHOLE, ""), **BAD}.items():
        path = tmp_path / f"{name}.json"
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    fleet = gather([*paths, str(tmp_path / "gone.json")])
    assert fleet.names[0] == host_name(samples.HEALTHY)
    assert fleet.names[1:] == (*BAD, "gone")
    assert fleet.exit_status == Exit.INCONCLUSIVE
    for report, (_, words) in zip(fleet.reports[1:], BAD.values(), strict=False):
        [result] = report.results
        assert result.id == "REP-001"
        assert words in result.summary
    assert "No such file" in fleet.reports[-1].results[0].summary


NAMED = {
    "files of one folder": (["a.json", "b.json"], ["a", "b"]),
    "folders of one file name": (["n1/doctor.json", "n2/doctor.json"], ["n1", "n2"]),
    "folders below folders": (["n1/out/d.json", "n2/out/d.json"], ["n1", "n2"]),
    "racks": (["r1/n1/d.json", "r1/n2/d.json", "r2/n1/d.json"], ["r1/n1", "n2", "r2/n1"]),
    "one of a name of its own": (["n1/d.json", "n2/d.json", "n3/head.json"], ["n1", "n2", "head"]),
    "one file twice": (["n1/d.json", "n1/d.json"], ["d", "d"]),
}


@pytest.mark.parametrize(("paths", "names"), NAMED.values(), ids=NAMED)
def test_a_bad_file_is_called_like_what_tells_its_path_from_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], names: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(WHOLE[:100], encoding="utf-8")
    fleet = gather(paths)
    assert list(map(host_name, fleet.reports)) == names
    for name, path, report in zip(names, paths, fleet.reports, strict=True):
        shown = path[path.index(f"{name}/") :] if f"{name}/" in path else path.rpartition("/")[2]
        assert f"'{shown}' is not a report" in report.results[0].summary


def test_equal_bad_files_of_many_folders_are_one_finding_of_many_machines(tmp_path: Path) -> None:
    paths = [tmp_path / f"node{number}/doctor.json" for number in range(3)]
    for path in paths:
        path.parent.mkdir()
        path.write_text("", encoding="utf-8")
    [group] = gather(map(str, paths)).groups
    assert group.hosts == ("node0", "node1", "node2")


def test_a_machine_that_is_expected_is_found_by_the_folder_of_its_bad_report(
    tmp_path: Path,
) -> None:
    paths = [tmp_path / f"node{number}/doctor.json" for number in range(2)]
    for path in paths:
        path.parent.mkdir()
        path.write_text("", encoding="utf-8")
    fleet = gather(map(str, paths), ["node0", "node1", "node2"])
    found = {host_name(report): report.results[0].id for report in fleet.reports}
    assert found == {"node0": "REP-001", "node1": "REP-001", "node2": "REP-002"}


@pytest.mark.parametrize("path", [".", "/"])
def test_a_folder_in_the_place_of_a_report_has_a_name(path: str) -> None:
    [report] = gather([path]).reports
    assert host_name(report) == path
    assert f"'{path}' cannot be read: Is a directory" in report.results[0].summary


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_without_a_writer_does_not_hold_a_merge(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(WHOLE, encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    fleet = gather([str(tmp_path / "good.json"), str(tmp_path / "pipe")])
    assert fleet.reports[1].results[0].id == "REP-001"


def test_a_machine_that_is_expected_and_absent_is_named(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(WHOLE, encoding="utf-8")
    here = host_name(samples.HEALTHY)
    fleet = gather([str(path)], [here, "node07"])
    assert fleet.names == (here, "node07")
    assert fleet.reports[1].results[0].id == "REP-002"
    assert fleet.exit_status == Exit.INCONCLUSIVE
    assert "node07" in fleet.to_text()
    assert fleet_verdict(fleet).tone == "unclear"


def test_expected_machines_are_compared_with_few_of_those_that_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, paths = samples.HEALTHY.to_json(), []
    for number in range(40):
        host = {**data["host"], "name": f"n{number}.example", "id": f"{number}"}
        paths.append(str(tmp_path / f"{number}.json"))
        (tmp_path / f"{number}.json").write_text(json.dumps({**data, "host": host}))
    compared: list[str] = []

    def counted(one: str, other: str) -> bool:
        compared.append(other)
        return is_same_host(one, other)

    monkeypatch.setattr(fleet_module, "is_same_host", counted)
    fleet = gather(paths, [f"n{number}" for number in range(41)])
    assert fleet.names[40:] == ("n40",)
    assert len(compared) == 40


def test_a_report_in_a_fleet_s_file_is_the_one_that_was_read(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    text = samples.HEALTHY.to_text().replace("\n", "\r\n\t")
    path.write_text(text, encoding="utf-8", newline="")
    (line,) = gather([str(path)]).reports.texts()
    assert "\n" not in line
    assert json.loads(line) == samples.HEALTHY.to_json()


MANY = [f"node{n:03}" for n in (*range(1, 15), 17)]


def test_many_names_are_listed_as_the_ranges_that_expect_takes() -> None:
    assert listed(MANY) == "node[001-014,017]"
    assert expected_hosts(listed([*MANY, "head"]).replace(", ", ",")) == ["head", *MANY]
    assert listed(["b", "a2", "a1"]) == "b, a2, a1"


LISTS = [
    ("a,b a", ["a", "b"]),
    ("node[1-3]", ["node1", "node2", "node3"]),
    ("n[08-10,20]-ib", ["n08-ib", "n09-ib", "n10-ib", "n20-ib"]),
    ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
]


@pytest.mark.parametrize(("text", "names"), LISTS)
def test_a_list_of_hosts_has_ranges(text: str, names: list[str]) -> None:
    assert expected_hosts(text) == names


def test_a_list_of_hosts_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# rack 1\nnode[1-2]  # two\n\nhead\n")
    assert expected_hosts(str(path)) == ["node1", "node2", "head"]


@pytest.mark.parametrize(
    ("text", "words"), [("n[1-x]", "no range"), ("n[3-1]", "less than"), (",", "names no host")]
)
def test_a_wrong_list_of_hosts_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        expected_hosts(text)


SAME = [("a", "a", True), ("a", "a.example", True), ("a.x", "a.y", False), ("a", "b", False)]


@pytest.mark.parametrize(("one", "other", "same"), SAME)
def test_a_domain_counts_where_both_names_have_one(one: str, other: str, same: bool) -> None:
    assert is_same_host(one, other) is same


def test_the_command_names_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(WHOLE, encoding="utf-8")
    (tmp_path / "two.json").write_text(WHOLE[:100], encoding="utf-8")
    files = [str(tmp_path / "one.json"), str(tmp_path / "two.json")]
    done = run(sys.executable, "-m", "pyaclnn", "doctor", "merge", *files, "--expect", "node[1-2]")
    assert done.returncode == Exit.INCONCLUSIVE
    for text in ("two", "node1", "node2", "there is no report of this machine"):
        assert text in done.stdout
