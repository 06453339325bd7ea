# SPDX-License-Identifier: Apache-2.0
"""Default results follow the chip, where chips differ."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import pyaclnn

half, wide = np.ones((2, 4, 8), np.float16), np.ones(4, np.float32)
found = pyaclnn.group_norm_silu(half, 2, wide, wide)
print(*(part.dtype for part in found), *found.mean[0])
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("chip", "statistics"), [("Ascend910B3", "float16"), ("Ascend950PR_9579", "float32")]
)
def test_statistics_of_mixed_types_are_those_of_the_chip(chip: str, statistics: str) -> None:
    chosen = {"PYACLNN_BACKEND": "mock", "PYACLNN_MOCK_SOC": chip, "PYACLNN_MOCK_CANN": "9.1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **chosen},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["float16", statistics, statistics, "1.0", "1.0"]


def test_a_release_opens_no_device_of_a_chip_it_does_not_know() -> None:
    chosen = {"PYACLNN_BACKEND": "mock", "PYACLNN_MOCK_SOC": "Ascend950PR_9579"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **chosen, "PYACLNN_MOCK_CANN": "8.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "CANN 8.1 does not know the chip Ascend950PR_9579" in done.stderr
    assert "PYACLNN_MOCK_CANN=9.1" in done.stderr
