# SPDX-License-Identifier: Apache-2.0
"""Every example runs as written, without options or environment variables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .commands import ROOT, compile_program, pyaclnn, run, silent_environment

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
PROGRAMS = sorted(EXAMPLES.glob("*.cpp"))


def test_examples_are_numbered_without_a_gap() -> None:
    numbers = [path.name[:3] for path in sorted([*SCRIPTS, *PROGRAMS])]
    assert numbers == [f"{n:02}_" for n in range(1, len(numbers) + 1)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_runs_as_written_without_a_warning(script: Path) -> None:
    options = ("-W", "error", "-X", "dev")
    done = run(sys.executable, *options, script, environment=silent_environment())
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert done.stderr == ""


@pytest.mark.exhaustive
def test_an_error_that_is_shown_on_purpose_is_announced() -> None:
    said = run(sys.executable, EXAMPLES / "06_custom_operator.py").stdout.splitlines()
    errors = [line for line in said if "failed" in line]
    assert errors == said[-1:]
    assert errors[0].startswith("Expected error, without beta: ")


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.name)
def test_a_program_finds_the_simulated_npu_by_itself(source: Path, tmp_path: Path) -> None:
    compile_program(source, tmp_path / "host")
    direct = run(tmp_path / "host")
    assert direct.returncode == 0, direct.stderr
    # The official example of the operator, computed by hand: see tests/reference.
    assert "grad_input: -2 -94 -877.5 -1747.5\n" in direct.stdout
    assert "grad_weight: 20 62\n" in direct.stdout
    assert "grad_bias: 6 8\n" in direct.stdout
    assert pyaclnn("mock", "run", "--", tmp_path / "host").stdout == direct.stdout
