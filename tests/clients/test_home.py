# SPDX-License-Identifier: Apache-2.0
"""Programs and builds that want a folder with an installation of CANN."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock import build_home

from .conftest import HERE, PATIENCE, settings

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = HERE.parents[1] / "examples" / "cmake"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_home(tmp_path_factory.mktemp("home") / "cann")


def sourced(home: Path, *command: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell that has sourced the home's file."""
    told = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", **variables}
    outside = {k: v for k, v in settings(**told).items() if not k.startswith("PYACLNN_MOCK_P")}
    done = subprocess.run(
        ["sh", "-euc", '. "$0"; exec "$@"', str(home / "set_env.sh"), *map(str, command)],
        env={**outside, "LD_LIBRARY_PATH": "", "PYACLNN_BACKEND": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_l0n0lacl_runs_norms_and_is_told_of_its_workspace(home: Path, tmp_path: Path) -> None:
    if find_spec("l0n0lacl") is None:
        pytest.skip("l0n0lacl is not installed")
    report = tmp_path / "records"
    program = HERE / "l0n0lacl_norms.py"
    done = sourced(home, sys.executable, program, PYACLNN_MOCK_REPORT=str(report))
    errors = json.loads(done.stdout)
    assert len(errors) == 5
    assert {name: error for name, error in errors.items() if not error <= 1e-6} == {}
    records = map(json.loads, report.read_text(encoding="utf-8").splitlines())
    # It frees a workspace without having waited for what uses it.
    assert {record["rule"] for record in records} == {"workspace-freed-in-use"}


def test_cmake_builds_a_program_as_the_vendors_samples_do(home: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("CMake is not installed")
    sourced(home, "cmake", "-S", EXAMPLE, "-B", tmp_path)
    sourced(home, "cmake", "--build", tmp_path)
    assert "grad_bias: 6 8\n" in sourced(home, tmp_path / "host_application").stdout
