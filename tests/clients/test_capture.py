# SPDX-License-Identifier: Apache-2.0
"""Training of PyTorch is captured on the simulated NPU, and replays in every order of streams."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from .conftest import HERE, PATIENCE, settings

if TYPE_CHECKING:
    from pathlib import Path

TRAINING = """
import sys
import torch, torch_npu
sys.path.insert(0, sys.argv[1])
import network_cases
for case in (network_cases.gpt, network_cases.resnet):
    losses = case("npu")["losses"]
    assert losses[-1] < losses[0], losses
"""
"""Three steps of a GPT with AdamW, and of a network of convolutions with SGD."""
LEAST = {"aclnnFlashAttentionScoreGrad": 6, "aclnnConvolutionBackward": 12, "aclnnBatchNorm": 18}


def pyaclnn(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pyaclnn", *map(str, arguments)],
        env=settings(PYACLNN_BACKEND="mock", **variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture(scope="module")
def trace(torch_npu: None, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ARG001  # it must be there
    path = tmp_path_factory.mktemp("training") / "run.trace"
    program = (sys.executable, "-c", TRAINING, HERE)
    done = pyaclnn("capture", "-o", path, "--contents", "full", "--", *program)
    assert done.returncode == 0, done.stderr
    return path


@pytest.mark.parametrize("mode", ["deferred", "eager", "shuffled:3"])
def test_training_replays_in_every_order_of_streams(trace: Path, mode: str) -> None:
    done = pyaclnn("replay", trace, "--report", trace.with_suffix(".md"), PYACLNN_MOCK_MODE=mode)
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith(": no divergence.\n")
    rows = [
        line.strip("| ").split(" | ") for line in trace.with_suffix(".md").read_text().splitlines()
    ]
    operators = [row for row in rows[4:] if len(row) == len(rows[2])]
    compared = {row[0]: int(row[1]) for row in operators if row[2:4] == ["0", "0"]}
    assert len(compared) == len(operators)  # every result of every operator
    assert all(compared[name] >= least for name, least in LEAST.items()), compared
