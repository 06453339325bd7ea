# SPDX-License-Identifier: Apache-2.0
"""Every example runs, as its own comment says it does."""

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
# A script says how to choose a backend if it needs one.
GUIDED = [path for path in SCRIPTS if "PYACLNN_BACKEND" in path.read_text(encoding="utf-8")]


def test_examples_are_numbered_without_a_gap() -> None:
    numbers = [path.name[:3] for path in sorted([*SCRIPTS, *PROGRAMS])]
    assert numbers == [f"{n:02}_" for n in range(1, len(numbers) + 1)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_runs_without_a_warning(script: Path) -> None:
    done = run(
        sys.executable,
        "-W",
        "error",
        "-X",
        "dev",
        script,
        environment=silent_environment(PYACLNN_BACKEND="mock"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert done.stderr == ""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("script", GUIDED, ids=lambda path: path.name)
def test_a_script_without_a_backend_ends_with_advice(script: Path) -> None:
    done = run(sys.executable, script)
    assert done.returncode == 1
    assert "no installed CANN was found" in done.stderr


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
