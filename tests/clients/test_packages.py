# SPDX-License-Identifier: Apache-2.0
"""Operator packages that others have built for CANN, as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pyaclnn.mock import libdir

from .conftest import HERE, PATIENCE, settings


def test_those_of_fbgemm_load_and_run_on_a_kernel_that_is_given() -> None:
    found = find_spec("fbgemm_ascend")
    if found is None or found.origin is None:
        pytest.skip("fbgemm-ascend is not installed")
    packages = Path(found.origin).parent / "opp" / "A5" / "vendors"
    program = HERE / "fbgemm_packages.py"
    done = subprocess.run(
        [sys.executable, str(program), str(packages)],
        env=settings(
            PYACLNN_BACKEND="mock",
            PYACLNN_MOCK_SOC="Ascend950PR_9579",
            PYACLNN_MOCK_CANN="9.1",
            PYACLNN_MOCK_OPERATORS=str(program),
        ),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, dense = json.loads(done.stdout)
    assert count > 10
    assert dense == [[[0, 1], [2, 3], [-1, -1]], [[4, 5], [6, 7], [8, 9]]]


def test_pyhccl_adds_up_over_two_devices() -> None:
    if find_spec("pyhccl") is None:
        pytest.skip("pyhccl is not installed")
    done = subprocess.run(
        [sys.executable, str(HERE / "pyhccl_sum.py")],
        env=settings(
            PYACLNN_BACKEND="mock", PYACLNN_MOCK_DEVICES="2", LD_LIBRARY_PATH=str(libdir())
        ),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[2, [11, 22, 33]]] * 2
