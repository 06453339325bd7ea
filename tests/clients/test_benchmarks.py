# SPDX-License-Identifier: Apache-2.0
"""Benchmark of PyTorch on the simulated NPU: it still runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PATIENCE, settings

ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("torch_npu")
@pytest.mark.parametrize("name", ["torch", "capture"])
def test_the_benchmark_of_training_runs(name: str, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "tests.benchmarks", name, "--turns", "1"]
    subprocess.run(
        [*command, "--json", figures], cwd=ROOT, env=settings(), timeout=PATIENCE, check=True
    )
    rows = json.loads(figures.read_text(encoding="utf-8"))["benchmarks"][name]
    assert [row["case"] for row in rows if row["case"].startswith("training step")]
