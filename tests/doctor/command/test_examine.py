# SPDX-License-Identifier: Apache-2.0
"""The doctor from Python: the same records as the command writes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pyaclnn.health import doctor


@pytest.mark.exhaustive
def test_it_finds_what_the_command_finds() -> None:
    command = [
        sys.executable,
        "-m",
        "pyaclnn",
        "doctor",
        "--backend",
        "mock",
        "--only",
        "LIB,DEV-101",
    ]
    done = subprocess.run([*command, "--json", "-"], capture_output=True, text=True, check=True)
    told = doctor.Report.from_text(done.stdout)
    found = doctor.examine(backend="mock", only=["LIB", "DEV-101"])
    assert [(r.id, r.status) for r in found.results] == [(r.id, r.status) for r in told.results]
    assert (found.simulated, found.exit_status, found.host) == (True, 0, told.host)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"level": "slow"}, "level is 'slow'; it must be one of quick, medium, long"),
        ({"only": ["ENV-999"]}, "there is no check 'ENV-999'"),
        ({"only": ["ENV"], "skip": ["ENV"]}, "nothing is left to check"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        doctor.examine(**arguments)  # type: ignore[arg-type]  # that is the point
