# SPDX-License-Identifier: Apache-2.0
"""Benchmarks that still run; the figures of one turn say nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.__main__ import BENCHMARKS

from .commands import run

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "reference": "takes PyTorch",
    "suite": "runs this suite",
    "torch": "takes torch-npu",
}


def tried(name: str, folder: Path) -> list[str]:
    """Run a benchmark once; return its cases."""
    figures = folder / "figures.json"
    command = (sys.executable, "-m", "tests.benchmarks", name, "--turns", "1")
    done = run(*command, "--json", str(figures), cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return [row["case"] for row in json.loads(figures.read_text())["benchmarks"][name]]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted(BENCHMARKS.keys() - ELSEWHERE))
def test_a_benchmark_runs(tmp_path: Path, name: str) -> None:
    assert tried(name, tmp_path)


@pytest.mark.torch
@pytest.mark.exhaustive
def test_the_benchmark_of_the_reference_runs(tmp_path: Path, torch: Any) -> None:
    assert torch
    assert "batch_norm_elemt float16 4096x4096" in tried("reference", tmp_path)
