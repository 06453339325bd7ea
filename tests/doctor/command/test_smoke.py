# SPDX-License-Identifier: Apache-2.0
"""The smoke test on libraries that end, crash or hang: never a success, always a sentence."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.doctor.breakages import fault
from tests.doctor.installations import healthy

if TYPE_CHECKING:
    from tests.doctor.parts import Parts

IMPATIENT = """
import sys
from argparse import Namespace
from pyaclnn.health.command import smoke as smoke_command
options = Namespace(backend=sys.argv[1], device=0, json=False, operator=["rms_norm"], dtype=None)
options.iterations = int(sys.argv[3])
options.table = True
sys.exit(smoke_command.run(options, float(sys.argv[2])))
"""
WATCHED = """
from pyaclnn.health.command import smoke as smoke_command
run_child = smoke_command.run_child
def watched(*arguments, on_step, **options):
    def on_step(step, *_):
        print(step, flush=True)
    return run_child(*arguments, on_step=on_step, **options)
smoke_command.run_child = watched
"""


def smoke(
    folder: Path,
    parts: Parts,
    broken: str,
    patience: float = 60.0,
    backend: str | None = None,
    iterations: int = 1,
) -> subprocess.CompletedProcess[str]:
    made = healthy(folder / "machine", "8.1", parts)
    fault(broken)(made)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            IMPATIENT,
            backend or str(made.cann),
            str(patience),
            str(iterations),
        ],
        env=made.environment,
        cwd=made.root,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert list(made.root.glob("pyaclnn-smoke-*")) == []
    return done


@pytest.mark.exhaustive
def test_libraries_without_a_fault_pass(tmp_path: Path, parts: Parts) -> None:
    done = smoke(tmp_path, parts, "none")
    assert done.returncode == 0, done.stderr
    assert re.search(r"All \d+ outputs passed on CANN", done.stdout)


@pytest.mark.exhaustive
def test_a_relative_folder_is_meant_from_where_the_user_is(tmp_path: Path, parts: Parts) -> None:
    done = smoke(tmp_path, parts, "none", backend="usr/local/Ascend/ascend-toolkit/latest")
    assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("init-exit", "ended in the middle with status 0 while trying: device 0 opens"),
        ("init-exit-3", "ended in the middle with status 3 while trying: device 0 opens"),
        ("op-segv", "was ended by SIGSEGV while trying: rms_norm float32 4x64"),
        pytest.param(
            *("end-crash", "was ended by SIGSEGV while trying: the process ends"),
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_a_process_that_does_not_come_to_its_end_is_told_and_is_no_success(
    tmp_path: Path, parts: Parts, broken: str, words: str
) -> None:
    done = smoke(tmp_path, parts, broken)
    assert (done.returncode, done.stdout) == (3, "")
    assert words in done.stderr


@pytest.mark.exhaustive
def test_a_hang_is_given_up(tmp_path: Path, parts: Parts) -> None:
    done = smoke(tmp_path, parts, "op-hang", patience=10.0)
    assert (done.returncode, done.stdout) == (3, "")
    assert re.search(r"no answer for \d+ s while trying: rms_norm float32 4x64", done.stderr)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("iterations", "status", "words"),
    [
        (1, 0, r"All \d+ outputs passed"),
        (8, 1, "now and then: in 1 of 8 iterations, first in 7; one wrong element"),
    ],
)
def test_a_fault_that_shows_seldom_needs_iterations(
    tmp_path: Path, parts: Parts, iterations: int, status: int, words: str
) -> None:
    done = smoke(tmp_path, parts, "op-seldom", iterations=iterations)
    assert done.returncode == status, done.stderr
    assert re.search(words, done.stdout)


@pytest.mark.exhaustive
def test_a_signal_ends_the_child_too(tmp_path: Path, parts: Parts) -> None:
    made = healthy(tmp_path / "machine", "8.1", parts)
    fault("op-hang")(made)
    command = [sys.executable, "-c", WATCHED + IMPATIENT, str(made.cann), "60", "1"]
    with subprocess.Popen(
        command, env=made.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ours:
        assert ours.stdout is not None
        assert any(line.startswith("rms_norm ") for line in ours.stdout)
        ours.terminate()
        _, err = ours.communicate(timeout=900)
    assert (ours.returncode, err) == (143, "pyaclnn: ended by SIGTERM\n")
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(made.root) in told(p)]
    assert left == []


def told(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
