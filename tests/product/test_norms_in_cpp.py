# SPDX-License-Identifier: Apache-2.0
"""A C++ program calls norms through their headers; numbers worked out by hand come out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .commands import compile_program, run

NORMAL = [-1.21268, -0.727606, -1.30622, -0.467597, 0.727606, 1.21268, 2.04828, 3.72554]
EXPECTED: dict[str, list[float]] = {
    "output": NORMAL,
    "runningMean": [0.8, 1.025],
    "runningVar": [1.4666667, 2.5583334],
    "saveMean": [3.5, 5.75],
    "saveInvstd": [4.25, 5.6875],  # the variance, as everywhere but on the 950
    "out": [-0.278042, -0.174423, 1.11735, 3.05658, 1.13763, 0, -0.277892, -0.18877],
    "mean": [2.5, 0],
    "rstd": [0.89442366, 0.70710498],
    "y1": [42, 85, 21, 127],
    "scale1": [0.013638195],
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    program = tmp_path_factory.mktemp("norms") / "norms"
    compile_program(Path(__file__).with_name("norms.cpp"), program)
    done = run(program)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    lines = (line.split(":") for line in done.stdout.splitlines())
    return {name: [float(number) for number in numbers.split()] for name, numbers in lines}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", EXPECTED)
def test_a_result_is_what_was_worked_out(name: str, printed: dict[str, list[float]]) -> None:
    np.testing.assert_allclose(printed[name], EXPECTED[name], rtol=1e-5, atol=1e-6)
