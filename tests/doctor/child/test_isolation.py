# SPDX-License-Identifier: Apache-2.0
"""The process that examines is never in danger; what it says about itself is honest."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.doctor.checks.catalogue import UnknownCheckError, checks, find, plan
from pyaclnn.doctor.checks.machine import Machine
from pyaclnn.doctor.checks.numbers import OPERATOR_CHECKS
from pyaclnn.doctor.checks.options import Level, Options
from pyaclnn.doctor.child import isolation
from pyaclnn.doctor.child.events import Finished, Planned, Progress, Started
from pyaclnn.doctor.command.run import exit_status, run
from pyaclnn.doctor.report.record import CheckResult, Report, Status
from pyaclnn.operators import all_operators
from tests.doctor.breakages import fault, nothing_at_all
from tests.doctor.installations import healthy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyaclnn.doctor.child.events import Event
    from tests.doctor.installations import Fabricated
    from tests.doctor.parts import Parts

MOCK = Options(backend="mock", only=("DEV", "NUM-rms_norm"), devices=(0,))


def processes(root: Path) -> list[str]:
    """The children that examine a machine: their requests lie in a folder of that machine."""
    found = []
    for path in Path("/proc").iterdir():
        try:
            command = (path / "cmdline").read_bytes() if path.name.isdigit() else b""
        except OSError:
            continue
        if b"pyaclnn.doctor.child.probe" in command and bytes(root) in command:
            found.append(path.name)
    return found


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
        assert (check.look is None) == (check.group is not None)
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
    assert sorted(OPERATOR_CHECKS.values()) == sorted(all_operators())


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
        "from pyaclnn.doctor.command.run import run;"
        "from pyaclnn.doctor.checks.options import Options;"
        "report = run(Options(backend='mock', only=('DEV-104',)));"
        "maps = open('/proc/self/maps').read();"
        "print(report.exit_status, 'libascendcl' in maps, 'libnnopbase' in maps)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
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
        assert number.seconds > 0
        assert sum(count for _, count in number.error_histogram) >= number.shape[0]


def test_a_report_comes_back_from_json_unchanged(mock_run: tuple[Report, list[Event]]) -> None:
    report, _ = mock_run
    assert Report.from_text(report.to_text()) == report
    with pytest.raises(ValueError, match="unknown keys: colour"):
        Report.from_json({**report.to_json(), "colour": "red"})
    with pytest.raises(ValueError, match="lacks the keys: level"):
        Report.from_json({k: v for k, v in report.to_json().items() if k != "level"})
    with pytest.raises(ValueError, match="schema is 3"):
        Report.from_json({**report.to_json(), "schema": 3})


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


def test_an_interrupted_run_ends_its_children_and_says_so(tmp_path: Path, parts: Parts) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("open-hang-deaf")(made)

    def interrupt(event: Event) -> None:
        if isinstance(event, Progress) and event.check.id == "DEV-104" and event.seconds > 0.2:
            raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(Options(grace=1.0, only=("DEV-104",)), interrupt, made.machine())
    assert time.monotonic() - begun < 50
    assert processes(made.root) == []


COMMAND = """
import signal, sys
from pathlib import Path
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may have been started to survive it
signal.signal(signal.SIGINT, signal.default_int_handler)
from pyaclnn.doctor.command import doctor as command_run
from pyaclnn.doctor.command import run as engine
from pyaclnn.doctor.checks import machine
from pyaclnn.cli import main
root = Path(sys.argv[1])
made = machine.Machine(root, home=root, prefix=root)
command_run.run = lambda options, listener: engine.run(options, listener, made)
sys.exit(main(["doctor", "--only", "DEV-104", "--json", str(root / "report.json")]))
"""


@contextlib.contextmanager
def hanging(made: Fabricated) -> Iterator[subprocess.Popen[str]]:
    """The command as a process, once its child hangs."""
    for path in (made.root / "dev").iterdir():
        path.chmod(0o666)
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(made.root)],
        env=made.environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as doctor:
        end = time.monotonic() + 30
        while not any("DEV-104" in p.read_text() for p in made.root.glob("*/result.json")):
            assert doctor.poll() is None, doctor.communicate()[1]
            assert time.monotonic() < end
            time.sleep(0.05)
        yield doctor
        doctor.kill()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("number", "status", "words"),
    [
        (signal.SIGTERM, 143, "ended by SIGTERM"),
        (signal.SIGHUP, 129, "ended by SIGHUP"),
        (signal.SIGINT, 130, "interrupted; nothing is left running; this is what was found"),
    ],
)
def test_a_signal_ends_the_command_with_its_children_and_its_files(
    tmp_path: Path, parts: Parts, number: signal.Signals, status: int, words: str
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("open-hang-deaf")(made)
    with hanging(made) as doctor:
        doctor.send_signal(number)
        _, err = doctor.communicate(timeout=300)
    assert doctor.returncode == status
    assert words in err
    found = Report.from_text((made.root / "report.json").read_text())
    states = {result.id: result.status for result in found.results}
    assert found.exit_status == status
    assert (states["DEV-103"], "DEV-104@0" in states) == (Status.PASS, True)
    assert processes(made.root) == []
    assert list(made.root.glob("pyaclnn-doctor-*")) == []


@pytest.mark.exhaustive
def test_a_child_does_not_outlive_a_command_that_was_killed(tmp_path: Path, parts: Parts) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("open-hang-deaf")(made)
    with hanging(made) as doctor:
        doctor.kill()
        doctor.communicate(timeout=300)
    end = time.monotonic() + 60
    while processes(made.root) and time.monotonic() < end:
        time.sleep(0.05)
    assert processes(made.root) == []


def test_what_a_child_started_does_not_outlive_it(tmp_path: Path, parts: Parts) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("open-hang-with-child")(made)
    run(Options(deadline=2.0, grace=0.5, only=("DEV-104",)), machine=made.machine())
    assert processes(made.root) == []


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("name", "check", "status"),
    [("daemon", "DEV-111@0", Status.WARN), ("daemon-and-crash", "DEV-104@0", Status.CRASH)],
)
def test_a_process_that_got_away_is_named_and_ended(
    name: str, check: str, status: Status, tmp_path: Path, parts: Parts
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault(name)(made)
    options = Options(deadline=20.0, grace=0.5, only=("DEV-104", "DEV-111"))
    (found,) = (r for r in run(options, machine=made.machine()).results if r.id == check)
    assert found.status is status
    (left,) = (item.text for item in found.evidence if "left behind" in item.label)
    pid, command, seconds = left.split()
    assert (command, seconds) == ("kit-daemon", "60")
    assert (
        not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()
    )


@pytest.mark.parametrize("name", ["daemon-at-the-end", "helper-at-the-end"])
def test_what_is_started_while_a_child_ends_well_is_named_and_ended(
    name: str, tmp_path: Path, parts: Parts
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault(name)(made)
    for path in (made.root / "dev").iterdir():
        path.chmod(0o666)
    done = subprocess.run(
        [sys.executable, "-c", COMMAND.replace("DEV-104", "DEV-103"), str(made.root)],
        env=made.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = Report.from_text((made.root / "report.json").read_text())
    last = found.results[-1]
    assert (done.returncode, last.id, last.status) == (0, "DEV-103", Status.WARN), done.stderr
    (left,) = (item.text for item in last.evidence if "left behind" in item.label)
    assert left.split()[1:] == [f"kit-{name.partition('-')[0]}", "60"]
    assert "left a process behind" in last.summary
    assert not Path(f"/proc/{left.split()[0]}").exists()


def test_a_child_that_no_signal_ends_is_left_behind_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, parts: Parts
) -> None:
    # Uninterruptible sleep cannot be made to order; signals that do not arrive are the same to us.
    monkeypatch.setattr(isolation, "_signal", lambda *_: None)
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("open-hang")(made)
    options = Options(deadline=1.5, grace=0.2, only=("DEV-105",))
    begun = time.monotonic()
    report = run(options, machine=made.machine())
    assert time.monotonic() - begun < 60
    states = {result.id: result for result in report.results}
    hung = states["DEV-104@0"]
    assert hung.status is Status.TIMEOUT
    assert "cannot be ended and was left behind" in hung.summary
    assert states["DEV-105@0"].status is Status.NOT_RUN
    left = int(hung.evidence[0].text)  # still there, though perhaps no longer alive
    os.kill(left, signal.SIGKILL)
    os.waitpid(left, 0)


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
