# SPDX-License-Identifier: Apache-2.0
"""However a run ends, it ends its children, what these have started, and what it has written."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyaclnn.health.checks.catalogue import find
from pyaclnn.health.checks.context import CheckContext, Options
from pyaclnn.health.child import isolation
from pyaclnn.health.child.failures import cut_short
from pyaclnn.health.child.journal import ChildTask
from pyaclnn.health.child.processes import Descendants
from pyaclnn.health.child.run_state import Progress
from pyaclnn.health.command.run import run
from pyaclnn.health.report.record import Report, Status
from tests.doctor.breakages import fault, setting
from tests.doctor.installations import healthy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.health.child.run_state import Event
    from tests.doctor.installations import Fabricated
    from tests.doctor.parts import Parts


def processes(root: Path) -> list[str]:
    """The children that examine a machine: their tasks lie in a folder of that machine."""
    found = []
    for path in Path("/proc").iterdir():
        try:
            command = (path / "cmdline").read_bytes() if path.name.isdigit() else b""
        except OSError:
            continue
        if b"pyaclnn.health.child.probe" in command and bytes(root) in command:
            found.append(path.name)
    return found


def has_ended(pid: str) -> bool:
    """Return whether a process has ended; a zombie of another parent counts as ended."""
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True


FLOOD = """
import json, os, sys
os.write(int(sys.argv[2]), json.dumps({"step": "DEV-104", "descendants": {}}).encode() + b"\\n")
while True:
    sys.stdout.write("x" * 65536)
"""


def test_a_child_that_writes_without_end_is_ended_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: Parts
) -> None:
    most = 4 << 20
    monkeypatch.setattr(isolation, "MOST_OUTPUT", most)
    (tmp_path / "flood.py").write_text(FLOOD, encoding="utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    begun = time.monotonic()
    outcome = isolation.run_child(
        ChildTask(backend="mock", device=0, steps=("DEV-104",), deadlines={"DEV-104": 600.0}),
        {**os.environ, "PYTHONPATH": str(tmp_path)},
        scratch,
        module="flood",
        grace=1.0,
        stop=threading.Event(),
        on_step=lambda *_: None,
    )
    assert outcome.ended == "flood"
    assert time.monotonic() - begun < 300
    assert has_ended(str(outcome.pid))
    assert len(outcome.error) < most
    context = CheckContext(healthy(tmp_path / "machine", "8.1", parts).machine(), Options())
    finding = cut_short(find("DEV-104"), outcome, context)
    assert finding.status.broken
    assert finding.summary.startswith("a library writes without an end, ")


def test_an_interrupted_run_ends_its_children_and_says_so(tmp_path: Path, parts: Parts) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("open-hang-deaf")(made)

    def interrupt(event: Event) -> None:
        if isinstance(event, Progress) and event.check.id == "DEV-104" and event.seconds > 0.2:
            raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(Options(deadline=600.0, grace=1.0, only=("DEV-104",)), interrupt, made.machine())
    assert time.monotonic() - begun < 300
    assert processes(made.root) == []


COMMAND = """
import signal, sys
from pathlib import Path
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may have been started to survive it
signal.signal(signal.SIGINT, signal.default_int_handler)
from pyaclnn.health.command import doctor as command_run
from pyaclnn.health.command import run as engine
from pyaclnn.health.checks import machine
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
        end = time.monotonic() + 300
        while not any(b"aclrtSetDevice" in p.read_bytes() for p in made.root.glob("*/call")):
            assert doctor.poll() is None, doctor.communicate()[1]
            assert time.monotonic() < end
            time.sleep(0.05)
        yield doctor
        doctor.kill()


@pytest.mark.exhaustive
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
        _, err = doctor.communicate(timeout=900)
    assert doctor.returncode == status
    assert words in err
    found = Report.from_text((made.root / "report.json").read_text())
    states = {result.id: result.status for result in found.results}
    assert found.exit_status == status
    assert states["DEV-103"] is Status.PASS
    (untold,) = (result.summary for result in found.results if result.id == "DEV-104@0")
    assert untold == "not tried: the run was interrupted"
    assert processes(made.root) == []
    assert list(made.root.glob("pyaclnn-doctor-*")) == []


@pytest.mark.exhaustive
def test_a_child_does_not_outlive_a_command_that_was_killed(tmp_path: Path, parts: Parts) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("open-hang-deaf")(made)
    with hanging(made) as doctor:
        doctor.kill()
        doctor.communicate(timeout=900)
    end = time.monotonic() + 300
    while processes(made.root) and time.monotonic() < end:
        time.sleep(0.05)
    assert processes(made.root) == []


@pytest.mark.exhaustive
def test_what_a_child_started_does_not_outlive_it(tmp_path: Path, parts: Parts) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("open-hang-with-child")(made)
    run(Options(deadline=5.0, grace=0.5, only=("DEV-104",)), machine=made.machine())
    assert processes(made.root) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "check", "status"),
    [("daemon", "DEV-111@0", Status.WARN), ("daemon-and-crash", "DEV-104@0", Status.CRASH)],
)
def test_a_process_that_got_away_is_named_and_ended(
    name: str, check: str, status: Status, tmp_path: Path, parts: Parts
) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault(name)(made)
    pipe = tmp_path / "seen"
    os.mkfifo(pipe)
    setting(KIT_SEEN=str(pipe))(made)
    waiting: list[int] = []

    def tell(event: Event) -> None:
        if not isinstance(event, Progress):
            return
        with contextlib.suppress(OSError):  # nobody reads there yet, or no longer
            if waiting:  # it was there before the look that this event follows
                os.write(waiting[-1], b"!")
            else:
                waiting.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))

    options = Options(deadline=60.0, grace=0.5, only=("DEV-104", "DEV-111"))
    report = run(options, tell, made.machine())
    for end in waiting:
        os.close(end)
    (found,) = (r for r in report.results if r.id == check)
    assert found.status is status
    (left,) = (item.text for item in found.evidence if "left behind" in item.label)
    assert left.split()[1:] == ["kit-daemon", "60"]
    assert has_ended(left.split()[0])


@pytest.mark.exhaustive
def test_a_process_that_got_away_is_told_by_the_child_however_seldom_the_parent_looks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, parts: Parts
) -> None:
    monkeypatch.setattr(Descendants, "look", lambda _: None)
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("daemon")(made)
    options = Options(deadline=60.0, grace=0.5, only=("DEV-104", "DEV-111"))
    last = run(options, machine=made.machine()).results[-1]
    (left,) = (item.text for item in last.evidence if "left behind" in item.label)
    assert left.split()[1:] == ["kit-daemon", "60"]
    assert has_ended(left.split()[0])


@pytest.mark.exhaustive
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
        timeout=900,
    )
    found = Report.from_text((made.root / "report.json").read_text())
    last = found.results[-1]
    assert (done.returncode, last.id, last.status) == (0, "DEV-103", Status.WARN), done.stderr
    (left,) = (item.text for item in last.evidence if "left behind" in item.label)
    assert left.split()[1:] == [f"kit-{name.partition('-')[0]}", "60"]
    assert "left a process behind" in last.summary
    assert not Path(f"/proc/{left.split()[0]}").exists()


@pytest.mark.exhaustive
def test_a_child_that_no_signal_ends_is_left_behind_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, parts: Parts
) -> None:
    # Uninterruptible sleep cannot be made to order; signals that do not arrive are the same to us.
    monkeypatch.setattr(isolation, "_signal", lambda *_: None)
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("open-hang")(made)
    options = Options(deadline=6.0, grace=0.2, only=("DEV-105",))
    begun = time.monotonic()
    report = run(options, machine=made.machine())
    assert time.monotonic() - begun < 300
    states = {result.id: result for result in report.results}
    hung = states["DEV-104@0"]
    assert hung.status is Status.TIMEOUT
    assert "cannot be ended and was left behind" in hung.summary
    assert states["DEV-105@0"].status is Status.NOT_RUN
    left = int(hung.evidence[0].text)  # still there, though perhaps no longer alive
    os.kill(left, signal.SIGKILL)
    os.waitpid(left, 0)
