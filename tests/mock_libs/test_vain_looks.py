# SPDX-License-Identifier: Apache-2.0
"""Processor time of waits for an operator that takes longer than a wait looks for its end."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .programs import Programs

KERNEL = """
import time, pyaclnn.mock

@pyaclnn.mock.operator("aclnnNeg")
def neg(self):
    time.sleep(250e-6)
    return -self
"""

PROGRAM = """
import statistics, time
import numpy as np, pyaclnn
pyaclnn.select_backend("mock")
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    x = pyaclnn.to_device(np.ones(4, np.float32), device)
    def wait():
        y = pyaclnn.aclnn.neg(x, stream=stream)
        begin = time.thread_time_ns(), time.perf_counter_ns()
        stream.synchronize()
        end = time.thread_time_ns(), time.perf_counter_ns()
        return (end[0] - begin[0]) / (end[1] - begin[1])
    print(statistics.median(wait() for _ in range(300)))
"""


def test_waits_whose_looks_are_vain_sleep(programs: Programs, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL, encoding="utf-8")
    environment = {"PYACLNN_MOCK_OPERATORS": str(tmp_path / "kernel.py")}
    done = programs.run([sys.executable, "-c", PROGRAM], environment)
    # Of some 400 µs, a look takes 150, and all other work of a wait less than 100.
    assert float(done.stdout) < 0.34, done.stdout + done.stderr
