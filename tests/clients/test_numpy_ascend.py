# SPDX-License-Identifier: Apache-2.0
"""numpy-ascend, a CuPy that is linked against CANN 8.5 or newer, as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distributions
from typing import TYPE_CHECKING

import pytest

from tests.releases import NEWEST

from .conftest import HERE, PATIENCE, settings

if TYPE_CHECKING:
    from pathlib import Path


def ran(report: Path, mode: str) -> tuple[dict[str, float], set[str]]:
    """The errors, and the rules that were broken."""
    if not any(distributions(name="numpy-ascend")):  # the one that is for GPUs is a cupy too
        pytest.skip("numpy-ascend is not installed")
    done = subprocess.run(
        [sys.executable, str(HERE / "numpy_ascend_cases.py")],
        env=settings(
            PYACLNN_MOCK_CANN=NEWEST, PYACLNN_MOCK_MODE=mode, PYACLNN_MOCK_REPORT=str(report)
        ),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    errors: dict[str, float] = json.loads(done.stdout)
    assert len(errors) == 9
    records = map(json.loads, report.read_text(encoding="utf-8").splitlines())
    # It gives nothing back when it ends.
    return errors, {record["rule"] for record in records} - {"alive-at-exit"}


def test_expressions_are_those_of_numpy(tmp_path: Path) -> None:
    errors, rules = ran(tmp_path / "records", "eager")
    assert {name: error for name, error in errors.items() if not error <= 1e-6} == {}
    assert rules == set()


def test_it_is_told_where_it_forgets_to_wait(tmp_path: Path) -> None:
    errors, rules = ran(tmp_path / "records", "deferred")
    # It reads by aclrtMemcpy what an operator has not written yet.
    wrong = {name for name, error in errors.items() if not error <= 1e-6}
    assert wrong <= {"broadcast"}
    assert rules == {"memory-used-before-synchronize"}
