# SPDX-License-Identifier: Apache-2.0
"""The process that examines is never in danger; what it says about itself is honest."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.operators import all_operators
from pyaclnn.health.checks.catalogue import THE_END, UnknownCheckError, checks, find, plan
from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.child.probe import step_of
from pyaclnn.health.child.run_state import Finished, Planned, Started
from pyaclnn.health.command.run import exit_status, run
from pyaclnn.health.report.codec import SCHEMA
from pyaclnn.health.report.record import CheckResult, Report, Status
from tests.doctor.breakages import nothing_at_all
from tests.doctor.installations import healthy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyaclnn.health.child.run_state import Event
    from tests.doctor.parts import Parts

MOCK = Options(backend="mock", only=("DEV", "NUM-rms_norm"), devices=(0,))


def results(*statuses: Status) -> Iterable[CheckResult]:
    return [CheckResult(f"X-{i}", "", "", status, 0.0, "") for i, status in enumerate(statuses)]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([Status.PASS, Status.SKIP], 0),
        ([Status.PASS, Status.WARN], 0),
        ([Status.PASS, Status.FAIL, Status.ERROR], 1),
        ([Status.TIMEOUT], 1),
        ([Status.CRASH, Status.NOT_RUN], 1),
        ([Status.PASS, Status.ERROR], 3),
        ([Status.SKIP, Status.NOT_RUN], 3),
        ([], 3),
    ],
)
def test_the_exit_status_follows_from_the_results(statuses: list[Status], expected: int) -> None:
    assert exit_status(results(*statuses)) == expected


def test_absence_and_warnings_have_their_own_rules() -> None:
    assert exit_status(results(Status.FAIL), absent=True) == 4
    assert exit_status(results(Status.PASS, Status.WARN), fail_on_warn=True) == 1


# ---- the catalogue ------------------------------------------------------------------------------


def test_checks_have_unique_names_explanations_and_needs_that_come_before() -> None:
    seen: set[str] = set()
    for check in checks():
        assert check.id not in seen
        assert set(check.needs) <= seen, check.id
        assert len(check.explanation) > 40
        static = check.group in {None, "compared"}
        assert check.id == THE_END or callable(check.function if static else step_of(check.id))
        assert check.level <= Level.QUICK or check.group or check.id.startswith("PKG")
        seen.add(check.id)


def test_quick_checks_touch_no_device() -> None:
    chosen, _ = plan(Level.QUICK)
    assert chosen
    assert all(check.group is None for check in chosen)


def test_naming_a_check_brings_what_it_builds_on() -> None:
    chosen, _ = plan(Level.QUICK, only=("num-rms_norm",))
    names = {check.id for check in chosen}
    assert {"NUM-rms_norm", "DEV-104", "DEV-101", "LIB-001", "CANN-001"} <= names
    assert "NUM-layer_norm" not in names
    assert find("DEV-104@3").id == "DEV-104"


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownCheckError, match=r"no check 'NUM-999'.*CANN-001"):
        plan(Level.QUICK, only=("NUM-999",))


def test_every_operator_of_the_smoke_test_has_its_check() -> None:
    numbers = {check.id for check in checks() if check.id.startswith("NUM-")}
    assert {f"NUM-{name}" for name in all_operators()} <= numbers


# ---- a run --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mock_run() -> tuple[Report, list[Event]]:
    events: list[Event] = []
    return run(MOCK, events.append), events


def test_the_simulated_npu_is_called_what_it_is(mock_run: tuple[Report, list[Event]]) -> None:
    report, _ = mock_run
    assert (report.backend, report.simulated, report.exit_status) == ("mock", True, 0)
    (marker,) = (result for result in report.results if result.id == "MOCK-001")
    assert "SIMULATED" in marker.summary
    assert report.cann_version is None
    assert {r.status for r in report.results if r.id.startswith(("HW", "DRV"))} == {Status.SKIP}


def test_the_parent_loads_no_vendor_library() -> None:
    code = (
        "from pyaclnn.health.command.run import run;"
        "from pyaclnn.health.checks.context import Options;"
        "report = run(Options(backend='mock', only=('DEV-104',)));"
        "maps = open('/proc/self/maps').read();"
        "print(report.exit_status, 'libascendcl' in maps, 'libnnopbase' in maps)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=900
    )
    assert done.stdout.split() == ["0", "False", "False"]


def test_every_check_is_planned_started_and_finished_once(
    mock_run: tuple[Report, list[Event]],
) -> None:
    report, events = mock_run
    assert isinstance(events[0], Planned)
    finished = [event.result.id for event in events if isinstance(event, Finished)]
    assert sorted(finished) == sorted(result.id for result in report.results)
    assert len(set(finished)) == len(finished)
    started = [event for event in events if isinstance(event, Started)]
    ran = {r.id.partition("@")[0] for r in report.results if r.status is not Status.SKIP}
    assert {event.check.id for event in started} >= ran - {"DEV-111"}


def test_numbers_come_with_their_figures(mock_run: tuple[Report, list[Event]]) -> None:
    report, _ = mock_run
    (check,) = (result for result in report.results if result.id == "NUM-rms_norm@0")
    assert {(n.dtype, n.output) for n in check.numbers} == {
        (dtype, output) for dtype in ("float32", "float16", "bfloat16") for output in ("y", "rstd")
    }
    for number in check.numbers:
        assert number.passed
        assert number.seconds is not None
        assert number.seconds > 0
        assert sum(count for _, count in number.error_histogram) >= number.shape[0]


def test_a_report_comes_back_from_json_unchanged(mock_run: tuple[Report, list[Event]]) -> None:
    report, _ = mock_run
    assert Report.from_text(report.to_text()) == report
    with pytest.raises(ValueError, match="unknown field `colour`"):
        Report.from_json({**report.to_json(), "colour": "red"})
    with pytest.raises(ValueError, match="missing required field `level`"):
        Report.from_json({k: v for k, v in report.to_json().items() if k != "level"})
    with pytest.raises(ValueError, match=f"schema is {SCHEMA + 1}"):
        Report.from_json({**report.to_json(), "schema": SCHEMA + 1})


def test_skipped_checks_are_reported_and_are_no_obstacle() -> None:
    options = dataclasses.replace(MOCK, only=("DEV-103",), skip=("DEV-102",))
    states = {result.id: result.status for result in run(options).results}
    assert (states["DEV-102"], states["DEV-103"]) == (Status.SKIP, Status.PASS)


def test_a_machine_without_cann_is_told_so_at_once(tmp_path: Path, parts: Parts) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    nothing_at_all(made)
    begun = time.monotonic()
    report = run(Options(), machine=made.machine())
    assert time.monotonic() - begun < 30
    assert (report.exit_status, report.backend) == (4, "none")
    (problem,) = (result for result in report.results if result.status.broken)
    assert problem.id == "CANN-001"
    assert "ordinary computer" in problem.causes[0]
    assert "pyaclnn doctor --backend mock" in str(problem.next_step)


@pytest.mark.exhaustive
def test_a_check_with_a_mistake_is_an_error_and_the_others_go_on(
    tmp_path: Path, parts: Parts
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    machine = dataclasses.replace(made.machine(), package_version=lambda _: 1 / 0)  # type: ignore[arg-type, return-value]
    report = run(Options(level=Level.QUICK), machine=machine)
    states = {result.id: result.status for result in report.results}
    assert states["PY-001"] is Status.ERROR
    assert states["ENV-001"] is Status.PASS
    assert report.exit_status == 3


def test_only_listed_variables_are_reported(tmp_path: Path, parts: Parts) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    made.environment["SECRET_TOKEN"] = "hidden"  # noqa: S105  # that is the point
    report = run(Options(level=Level.QUICK), machine=made.machine())
    assert "hidden" not in report.to_text()
    assert report.environment["ASCEND_HOME_PATH"] == str(made.cann)


# ---- children -----------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_progress_is_told_from_one_thread_at_a_time() -> None:
    inside = threading.Lock()
    collisions = []

    def listen(_: Event) -> None:
        if not inside.acquire(blocking=False):
            collisions.append(1)
            return
        time.sleep(0.001)
        inside.release()

    environment = {**os.environ, "PYACLNN_MOCK_DEVICES": "3"}
    run(Options(backend="mock", only=("DEV-105",)), listen, Machine(environment=environment))
    assert not collisions
