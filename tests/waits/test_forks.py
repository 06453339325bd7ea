# SPDX-License-Identifier: Apache-2.0
"""Kernels that start processes: these end with the simulated device."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

KERNEL = """
import os, subprocess, sys, time
import pyaclnn.mock

def forked():
    child = os.fork()
    if child == 0:
        time.sleep(1000)
    return child

def started():
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"]).pid

@pyaclnn.mock.operator("aclnnAdd")
def add(self, other, alpha):
    if self.any():
        with open(os.environ["PID"], "w") as file:
            print({}(), file=file)
    return self + other
"""
PROGRAM = """
import os, signal
import numpy as np, pyaclnn
pyaclnn.select_backend("mock")
x = np.ones((2, 3), np.float32)
with pyaclnn.Device(0) as device:
    assert (pyaclnn.op("aclnnAdd")(x, x, 1.0) == 2).all()
    {}
"""
ENDS = {
    "the device is closed": "",
    "the host is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "the host exits": "os._exit(0)",
}


def has_ended(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", ["forked", "started"])
@pytest.mark.parametrize("end", ENDS)
def test_a_process_of_a_kernel_ends_with_its_device(end: str, way: str, tmp_path: Path) -> None:
    kernel, pid = tmp_path / "kernel.py", tmp_path / "pid"
    kernel.write_text(KERNEL.format(way), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-c", PROGRAM.format(ENDS[end])],
        env={**os.environ, "PYACLNN_MOCK_OPERATORS": str(kernel), "PID": str(pid)},
        timeout=900,
        check=False,
    )
    process = int(pid.read_text(encoding="utf-8"))
    deadline = time.monotonic() + 300
    while not has_ended(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        assert has_ended(process)
    finally:
        if not has_ended(process):
            os.kill(process, signal.SIGKILL)
