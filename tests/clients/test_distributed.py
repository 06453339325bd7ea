# SPDX-License-Identifier: Apache-2.0
"""Unmodified PyTorch with torch-npu trains on several simulated NPUs: a process each, over HCCL."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from .conftest import HERE, PATIENCE, settings

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = HERE.parents[1] / "examples" / "pytorch" / "distributed.py"
# By rank.
RECEIVED = {
    "all_reduce SUM": [[10, 12, 14, 16]] * 2,
    "all_reduce MAX": [[10, 11, 12, 13]] * 2,
    "all_reduce MIN": [[0, 1, 2, 3]] * 2,
    "all_reduce PRODUCT": [[0, 11, 24, 39]] * 2,
    "all_reduce bfloat16": [[10, 12, 14, 16]] * 2,
    "broadcast": [[10, 11, 12, 13]] * 2,
    "all_gather": [[0, 1, 2, 3, 10, 11, 12, 13]] * 2,
    "reduce_scatter": [[10, 12], [14, 16]],
    "all_to_all": [[0, 1, 10, 11], [2, 3, 12, 13]],
    "reduce": [[10, 12, 14, 16], [10, 11, 12, 13]],
    "captured": [[20, 24, 28, 32]] * 2,
    "message": [[0, 1, 2, 3]] * 2,
    "batch": [[10, 11, 12, 13], [0, 1, 2, 3]],
}


def read(file: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return told


@pytest.mark.usefixtures("torch_npu")
@pytest.mark.parametrize("release", ["8.1", "9.1"])
def test_ranks_receive_and_differentiate_as_one_device_does(release: str, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    done = subprocess.run(
        [sys.executable, str(HERE / "torch_ranks.py"), str(tmp_path)],
        env=settings(
            PYACLNN_MOCK_CANN=release, PYACLNN_MOCK_REPORT=str(report), HCCL_EXEC_TIMEOUT="60"
        ),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [read(tmp_path / f"{rank}.json") for rank in range(2)]
    for rank, answer in enumerate(answers):
        assert "failure" not in answer, answer["failure"]
        gradients = [answer.pop(name) for name in ("gradients", "gradients of pyaclnn")]
        assert answer == {name: values[rank] for name, values in RECEIVED.items()}
        for found, (name, whole) in itertools.product(
            gradients, read(tmp_path / "cpu.json").items()
        ):
            assert found[name] == pytest.approx(whole, rel=1e-5, abs=1e-6), name
    assert not report.exists()


def start(device: str, curve: Path, **variables: str) -> subprocess.Popen[str]:
    """Start the example as one rank, or alone."""
    return subprocess.Popen(
        [sys.executable, str(EXAMPLE), device, "--losses", str(curve)],
        env=settings(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port() -> int:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port: int = own.getsockname()[1]
        return port


@pytest.mark.usefixtures("torch_npu")
def test_the_example_learns_on_two_npus_as_on_one_cpu(tmp_path: Path) -> None:
    """Each rank sees one device, which is the first of its process."""
    curves = [tmp_path / "npu.json", tmp_path / "cpu.json"]
    world = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    ranks = [
        start("npu", curves[0], RANK=rank, LOCAL_RANK="0", ASCEND_RT_VISIBLE_DEVICES=rank, **world)
        for rank in ("0", "1")
    ]
    ended = [(process, *process.communicate(timeout=PATIENCE)) for process in ranks]
    process = start("cpu", curves[1], TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    ended.append((process, *process.communicate(timeout=PATIENCE)))
    for each, _, errors in ended:
        assert each.returncode == 0, errors
    two, one = (json.loads(curve.read_text(encoding="utf-8")) for curve in curves)
    assert len(one) == 5
    assert one[-1] < one[0]
    assert two == pytest.approx(one, rel=1e-4)
