# SPDX-License-Identifier: Apache-2.0
"""The command, which connects itself to a cluster, or says why it cannot."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from .nodes import MARKS

pytestmark = MARKS


def command(*arguments: str, **variables: str) -> tuple[int, str, float]:
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pyaclnn", "fleet", "doctor", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
        env={**os.environ, **variables},
    )
    return done.returncode, done.stdout + done.stderr, time.monotonic() - begun


def test_a_cluster_without_npus_is_said_to_have_none() -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    code = "import ray; ray.init(address='local', num_cpus=1, include_dashboard=False)"
    code += "; from pyaclnn.cli import main; raise SystemExit(main(['fleet', 'doctor']))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 4, done.stderr
    assert "the cluster has no NPU" in done.stderr


@pytest.mark.parametrize("listening", [False, True])
def test_an_address_that_does_not_answer_is_given_up(listening: bool) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if listening:
            taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        status, said, seconds = command("--address", address)
    assert status == 3, said
    assert f"RAY-103 no Ray cluster answers at {address}" in said
    assert not listening or "takes connections, but no Ray has answered" in said
    assert "Traceback" not in said
    assert seconds < 600


@pytest.mark.parametrize("by", ["--address", "RAY_ADDRESS"])
def test_the_address_of_a_client_server_is_refused_with_what_to_give_instead(by: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    address = "ray://127.0.0.1:10001"
    given = ((by, address), {}) if by.startswith("-") else ((), {by: address})
    status, said, _ = command(*given[0], **given[1])
    assert status == 3, said
    assert "pyaclnn fleet doctor: RAY-103 ray:// is the address of Ray's client server" in said
    assert "--address HOST:PORT of the head itself" in said


def test_the_cluster_at_an_address_is_examined(cluster: Any) -> None:
    status, said, _ = command("--address", cluster.address, "--only", "DEV-104")
    assert status == 0, said
    assert "5 NPUs on 3 nodes, each in a process of its own" in said


def test_a_newcomer_understands_the_screen() -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    status, said, _ = command("--simulate", "3", "--only", "DEV-104")
    assert status == 0, said
    assert "3 NPUs on 1 node, each in a process of its own" in said
    assert "SIMULATED NPU - not a chip" in said
    for npu in range(3):
        assert f"NPU {npu} (" in said
    assert "Traceback" not in said
