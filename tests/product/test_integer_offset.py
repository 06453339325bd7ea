# SPDX-License-Identifier: Apache-2.0
"""The offset of a quantized gradient is an integer, as CANN's only row of types has it."""

from __future__ import annotations

import os
import sys

from tests.fork_server import run_program

PROGRAM = """
import numpy as np, pyaclnn
pyaclnn.select_backend("mock")
x, gamma = np.array([[1, 2, 3, 4]], np.float32), np.array([1, 2, 0.5, 1], np.float32)
dy, rstd = np.array([[1, -1, 0.5, 2]], np.float32), np.array([[0.36514835]], np.float32)
for dtype in (np.float32, np.float16):
    scale = np.array([0.01], dtype)
    for offset in (None, np.ones(1, np.int32)):
        print(pyaclnn.rms_norm_grad_quant(dy, x, rstd, gamma, scale, offset)[0].tolist())
try:
    pyaclnn.rms_norm_grad_quant(dy, x, rstd, gamma, scale, np.ones(1, np.float32))
except pyaclnn.InvalidArgumentError as error:
    print("int32" in str(error))
"""


def test_an_integer_is_taken_and_a_float_is_refused() -> None:
    chip = {"PYACLNN_MOCK_CANN": "9.1", "PYACLNN_MOCK_SOC": "Ascend950PR_9579"}
    run = run_program([sys.executable, "-c", PROGRAM], {**os.environ, **chip})
    assert run.returncode == 0, run.stderr
    gradients = ["[[30, -87, -12, 45]]", "[[31, -86, -11, 46]]"]
    assert run.stdout.splitlines() == [*gradients, *gradients, "True"]
