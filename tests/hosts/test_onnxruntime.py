# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime with its CANN provider on the simulated NPU, against its own CPU provider."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import in_home

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM = Path(__file__).with_name("onnx_networks.py")
PATIENCE = 300


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("onnxruntime") / "cann"
    made = (sys.executable, "-m", "pyaclnn", "mock", "home", "--cann", "9.1", str(folder))
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    done = in_home(folder, sys.executable, PROGRAM, seconds=PATIENCE, **os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_network_has_the_numbers_of_the_cpu(answers: Mapping[str, str]) -> None:
    assert answers["network"] == "right"


def test_every_node_that_the_provider_takes_is_right(answers: Mapping[str, str]) -> None:
    nodes = {key: value for key, value in answers.items() if key not in {"network", "graph"}}
    assert len(nodes) > 25
    assert set(nodes.values()) == {"right"}, nodes


def test_a_graph_for_the_compiler_is_refused_by_name(answers: Mapping[str, str]) -> None:
    assert "aclgrphParseONNXFromMem" in answers["graph"]
