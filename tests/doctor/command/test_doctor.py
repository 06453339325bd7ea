# SPDX-License-Identifier: Apache-2.0
"""The command lines of the doctor: what goes where, and how they exit."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.health import arguments as command
from pyaclnn.health.checks.catalogue import checks
from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.child.run_state import Finished, Planned
from pyaclnn.health.command import doctor as command_run
from pyaclnn.health.report.figures import Baseline
from pyaclnn.health.report.fleet import schema
from pyaclnn.health.report.record import Report
from tests.doctor import report_samples as samples

if TYPE_CHECKING:
    from pyaclnn.health.child.run_state import Listener


class Engine:
    """Stands in for the run: remembers what it was asked and returns a report."""

    def __init__(self) -> None:
        self.report = samples.HEALTHY
        self.options: Options | None = None
        self.interrupted = False

    def __call__(self, options: Options, on_event: Listener) -> Report:
        self.options = options
        if self.interrupted:
            raise KeyboardInterrupt
        on_event(Planned(()))
        for result in self.report.results:
            on_event(Finished(result))
        return self.report


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    stand_in = Engine()
    monkeypatch.setattr(command_run, "run", stand_in)
    return stand_in


def pyaclnn(*arguments: str | Path) -> int:
    parser = argparse.ArgumentParser(prog="pyaclnn")
    commands = parser.add_subparsers(required=True)
    command.add_to(commands, "doctor", "explain")
    try:
        options = parser.parse_args([str(argument) for argument in arguments])
        return int(options.action(options))
    except SystemExit as end:
        return int(end.code or 0)


def test_the_report_goes_to_standard_output_and_progress_to_standard_error(
    engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    assert pyaclnn("doctor") == 0
    out, err = capfd.readouterr()
    assert out.startswith("CANN 8.1.RC1 on Ascend910B3 works")
    assert "1/1 PASS    ENV-001" in err
    assert engine.options == Options()


@pytest.mark.parametrize("name", ["healthy", "broken", "no_cann", "unclear", "simulated"])
def test_the_exit_status_is_the_report_s(engine: Engine, name: str) -> None:
    engine.report = samples.ALL[name]
    assert pyaclnn("doctor") == engine.report.exit_status


OPTIONS = [
    (["--level", "long"], Options(level=Level.LONG)),
    (["--backend", "mock"], Options(backend="mock")),
    (["--device", "1"], Options(devices=(1,))),
    (["--device", "0,3"], Options(devices=(0, 3))),
    (["--device", "all"], Options()),
    (["--only", "ENV-002,NUM"], Options(only=("ENV-002", "NUM"))),
    (["--skip", "NUM"], Options(skip=("NUM",))),
    (["--fail-on", "warn"], Options(fail_on_warn=True)),
    (["--fail-early"], Options(fail_early=True)),
    (["--expect-devices", "8"], Options(expected_devices=8)),
    (["--soak", "2.5"], Options(soak=2.5)),
    (["--soak", "90s"], Options(soak=90.0)),
    (["--soak", "1.5m"], Options(soak=90.0)),
    (["--soak", "2h"], Options(soak=7200.0)),
    (["--soak-threads", "8", "--soak-processes", "2"], Options(soak_threads=8, soak_processes=2)),
    (["--soak-faults", "f=1"], Options(soak_faults="f=1")),
    (["--figure-bytes", "4096", "--figure-seconds", "2m"],
     Options(figure_bytes=4096, figure_seconds=120.0)),
    (["--memory-share", "0.5", "--memory-seconds", "9"],
     Options(memory_share=0.5, memory_seconds=9.0)),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), OPTIONS)
def test_every_option_reaches_the_run(
    engine: Engine, arguments: list[str], expected: Options
) -> None:
    assert pyaclnn("doctor", *arguments) == 0
    assert engine.options == expected


WRONG = [
    (["--level", "huge"], "invalid choice"),
    (["--device", "one"], "'one' is neither 'all' nor ids"),
    (["--device", "-1"], "'-1' is neither"),
    (["--device", "0,0"], "'0,0' is neither"),
    (["--soak", "-1"], "not a number of seconds"),
    (["--soak", "inf"], "not a number of seconds"),
    (["--soak", "h"], "not a number of seconds"),
    (["--soak-threads", "0"], "not a number from 1 to 256"),
    (["--soak-processes", "257"], "not a number from 1 to 256"),
    (["--figure-bytes", "1"], "not a number of bytes from 64 to"),
    (["--memory-share", "1.1"], "not a share above 0 and up to 1"),
    (["--memory-share", "most"], "not a share above 0 and up to 1"),
    (["--expect", "/no/such.json"], "'/no/such.json' cannot be read: No such file"),
    (["--save-baseline", "/no/such/folder/e.json"], "there is no folder"),
    (["--only", "XYZ-999"], "there is no check 'XYZ-999'"),
    (["--skip", "XYZ"], "there is no check 'XYZ'"),
    (["--explain", "XYZ-1"], "there is no check"),
    (["--json", "/no/such/folder/r.json"], "there is no folder"),
    (["--html", "/"], "is a folder"),
    (["--json", "-", "--junit", "-"], "two reports cannot both go to '-'"),
    (["nonsense"], "invalid choice"),
    (["--only", "NUM-rms_norm", "--skip", "NUM-rms_norm"], "nothing is left to check"),
    (
        ["--backend", "mokc"],
        "'mokc' is neither 'cann' nor 'mock' nor a folder; did you mean 'mock'?",
    ),
    (["--backend", "/no/such"], "'/no/such' is neither 'cann' nor 'mock' nor a folder"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_a_wrong_command_line_exits_with_2_before_anything_runs(
    engine: Engine, capfd: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert pyaclnn("doctor", *arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert words in err
    assert engine.options is None


def test_every_format_is_written(engine: Engine, tmp_path: Path) -> None:
    engine.report = samples.BROKEN
    names = {"json": "r.json", "junit": "r.xml", "html": "r.html", "bundle": "r.tar.gz"}
    arguments = [part for f, n in names.items() for part in (f"--{f}", str(tmp_path / n))]
    assert pyaclnn("doctor", *arguments) == 1
    assert {path.name for path in tmp_path.iterdir()} == set(names.values())
    assert Report.from_text((tmp_path / "r.json").read_text()) == samples.BROKEN
    assert (tmp_path / "r.xml").read_text().startswith("<?xml")
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert tarfile.is_tarfile(tmp_path / "r.tar.gz")


def test_json_on_standard_output_is_nothing_but_json(
    engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    engine.report = samples.BROKEN
    assert pyaclnn("doctor", "--json", "-") == 1
    out, err = capfd.readouterr()
    assert json.loads(out)["exit_status"] == 1
    assert "✗ FAIL DEV-103@0" in err


@pytest.mark.parametrize(("name", "status"), [("healthy", 3), ("broken", 1), ("no_cann", 4)])
@pytest.mark.parametrize("form", ["json", "junit", "html", "bundle"])
def test_a_full_disk_is_a_message_and_never_a_success(
    engine: Engine, capfd: pytest.CaptureFixture[str], name: str, status: int, form: str
) -> None:
    engine.report = samples.ALL[name]
    assert pyaclnn("doctor", f"--{form}", "/dev/full") == status
    err = capfd.readouterr().err
    assert "pyaclnn doctor: '/dev/full' could not be written: No space left on device" in err


def test_one_report_that_cannot_be_written_does_not_keep_the_others_from_it(
    engine: Engine, tmp_path: Path
) -> None:
    assert engine.report is samples.HEALTHY
    assert pyaclnn("doctor", "--json", "/dev/full", "--html", tmp_path / "r.html") == 3
    assert (tmp_path / "r.html").is_file()


def test_an_interruption_is_told_and_writes_nothing(
    engine: Engine, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    engine.interrupted = True
    assert pyaclnn("doctor", "--json", tmp_path / "r.json") == 130
    out, err = capfd.readouterr()
    assert out == ""
    assert "interrupted" in err
    assert not list(tmp_path.iterdir())


# ---- telling about the checks -------------------------------------------------------------------


def test_list_checks_lists_them_all(capfd: pytest.CaptureFixture[str]) -> None:
    assert pyaclnn("doctor", "--list-checks") == 0
    out = capfd.readouterr().out
    for check in checks():
        assert check.id in out


@pytest.mark.sampled(40)
@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
def test_every_check_explains_itself(check: object, capfd: pytest.CaptureFixture[str]) -> None:
    name = str(getattr(check, "id", ""))
    assert pyaclnn("doctor", "--explain", name.lower()) == 0
    first, *rest = capfd.readouterr().out.splitlines()
    assert first == f"{name} {getattr(check, 'title', '')}"
    assert len(" ".join(rest)) > 60


def test_the_schema_can_be_printed(capfd: pytest.CaptureFixture[str]) -> None:
    assert pyaclnn("doctor", "--json-schema") == 0
    assert json.loads(capfd.readouterr().out) == schema()


# ---- merge --------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.json").write_text(samples.BROKEN.to_text())
    (tmp_path / "b.json").write_text(samples.NO_CANN.to_text())
    return tmp_path


def test_merge_exits_as_the_worst_machine_and_prints_the_fleet(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert pyaclnn("doctor", "merge", folder / "a.json", folder / "b.json") == 1
    assert capfd.readouterr().out.startswith("2 machines: 1 broken, 1 without a usable device.")


@pytest.mark.parametrize("before", [True, False])
def test_merge_writes_every_format_whichever_side_of_the_word_it_is_asked_on(
    folder: Path, before: bool
) -> None:
    formats = ["--json", str(folder / "f.json"), "--html", str(folder / "f.html")]
    given = [str(folder / "a.json"), str(folder / "b.json")]
    line = [*formats, "merge", *given] if before else ["merge", *given, *formats]
    assert pyaclnn("doctor", *line) == 1
    assert json.loads((folder / "f.json").read_text())["kind"] == "fleet"
    assert "2 machines" in (folder / "f.html").read_text()


def test_fleets_can_be_merged_again_and_a_report_given_twice_counts_once(folder: Path) -> None:
    pyaclnn("doctor", "merge", folder / "a.json", folder / "b.json", "--json", folder / "f.json")
    both = ("merge", folder / "f.json", folder / "a.json", "--json", folder / "g.json")
    assert pyaclnn("doctor", *both) == 1
    assert len(json.loads((folder / "g.json").read_text())["reports"]) == 2


def test_merge_names_what_is_no_report(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "c.json").write_text("{}")
    assert pyaclnn("doctor", "merge", folder / "c.json") == 3
    assert "c.json' is not a report of pyaclnn doctor" in capfd.readouterr().out


# ---- as a process -------------------------------------------------------------------------------

MERGE = """
import argparse, sys
from pyaclnn.health import arguments as command
parser = argparse.ArgumentParser()
command.add_to(parser.add_subparsers(), "doctor")
options = parser.parse_args(sys.argv[1:])
sys.exit(options.action(options))
"""


def process(
    *arguments: str | Path, folder: Path, out: str, encoding: str
) -> subprocess.CompletedProcess[bytes]:
    with Path(out).open("wb") as target:
        return subprocess.run(
            [sys.executable, "-c", MERGE, *map(str, arguments)],
            stdout=target,
            stderr=subprocess.PIPE,
            check=False,
            cwd=folder,
            env={"PYTHONIOENCODING": encoding},
            timeout=900,
        )


def test_a_full_standard_output_is_a_message_and_an_exit_status(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(samples.HEALTHY.to_text())
    merge = ("doctor", "merge", tmp_path / "a.json")
    done = process(*merge, folder=tmp_path, out="/dev/full", encoding="utf-8")
    assert done.returncode == 3
    assert b"the report could not be printed: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.exhaustive
def test_an_output_that_knows_only_ascii_gets_the_report_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(samples.BROKEN.to_text())
    out = tmp_path / "out"
    merge = ("doctor", "merge", tmp_path / "a.json")
    done = process(*merge, folder=tmp_path, out=str(out), encoding="ascii")
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"? FAIL DEV-103@0" in out.read_bytes()


@pytest.mark.parametrize(
    ("module", "slow"),
    [
        ("arguments", ("rich", "numpy", "pyaclnn._binding")),
        # The parent starts others for what needs arrays, and draws what they have counted.
        ("command.doctor", ("numpy",)),
    ],
)
def test_the_command_line_is_there_without_waiting_for_what_it_runs(
    module: str, slow: tuple[str, ...]
) -> None:
    code = f"import sys, pyaclnn.health.{module};print([m for m in {slow} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# ---- figures ------------------------------------------------------------------------------------


def test_what_was_measured_can_be_expected(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "expected.json"
    engine.report = samples.MEASURED
    assert pyaclnn("doctor", "--save-baseline", file) == 0
    assert pyaclnn("doctor", "--expect", file) == 0
    assert engine.options is not None
    assert engine.options.expected == Baseline.of(samples.MEASURED)


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        (samples.HEALTHY, 3, "nothing was measured: figures are of the level long"),
        (samples.BROKEN, 1, "the machine is not as it should be"),
    ],
)
def test_what_is_no_measure_is_not_written(
    engine: Engine,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    given: Report,
    status: int,
    words: str,
) -> None:
    engine.report = given
    file = tmp_path / "expected.json"
    assert pyaclnn("doctor", "--save-baseline", file) == status
    assert f"'{file}' is not written: {words}" in capfd.readouterr().err
    assert not file.exists()
