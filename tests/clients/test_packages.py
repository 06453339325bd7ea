# SPDX-License-Identifier: Apache-2.0
"""Operator packages and bindings that others have built for CANN, as they are."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pyaclnn.mock import libdir
from pyaclnn.mock.control.home import build_home

from .conftest import HERE, PATIENCE, settings


def folder_of(module: str, package: str) -> Path:
    """The folder of an installed module, which is not imported."""
    found = find_spec(module)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    return Path(found.origin).parent


def answer(program: str, *words: object, **variables: str) -> Any:
    """Run a program of this folder on the simulated NPU, and return what it prints."""
    file = str(HERE / program)
    done = subprocess.run(
        [sys.executable, file, *map(str, words)],
        env=settings(PYACLNN_BACKEND="mock", PYACLNN_MOCK_OPERATORS=file, **variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_those_of_fbgemm_load_and_run_on_a_kernel_that_is_given() -> None:
    packages = folder_of("fbgemm_ascend", "fbgemm-ascend") / "opp" / "A5" / "vendors"
    chip = {"PYACLNN_MOCK_SOC": "Ascend950PR_9579", "PYACLNN_MOCK_CANN": "9.1"}
    count, dense = answer("fbgemm_packages.py", packages, **chip)
    assert count > 10
    assert dense == [[[0, 1], [2, 3], [-1, -1]], [[4, 5], [6, 7], [8, 9]]]


def test_that_of_mx_driving_loads_and_runs_on_a_kernel_that_is_given() -> None:
    package = folder_of("mx_driving", "mx-driving") / "packages" / "vendors" / "customize"
    libraries = str(libdir().parent / "9.1")
    chip = {"PYACLNN_MOCK_CANN": "9.1", "LD_LIBRARY_PATH": libraries}
    count, cells = answer("mx_driving_package.py", package, **chip)
    assert count > 90
    assert cells == [[2, 2, 1], [8, 5, 2]]


def test_that_of_ops_rec_loads_and_runs_on_a_kernel_that_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = folder_of("ops_rec", "ops-rec") / "opp" / "atlas_a2" / "vendors" / "ln_mul"
    monkeypatch.setenv("PYACLNN_MOCK_CANN", "9.1")
    home = build_home(tmp_path / "cann")
    chip = {"PYACLNN_MOCK_CANN": "9.1", "LD_LIBRARY_PATH": str(home / "lib64")}
    assert answer("ops_rec_package.py", package, **chip) == [["aclnnLnMul"], [[-1, 6], [-3, 12]]]


def test_pyhccl_adds_up_over_two_devices() -> None:
    folder_of("pyhccl", "pyhccl")
    found = answer("pyhccl_sum.py", PYACLNN_MOCK_DEVICES="2", LD_LIBRARY_PATH=str(libdir()))
    assert found == [[2, [11, 22, 33]]] * 2


@pytest.mark.parametrize(
    ("counts", "ended"),
    [
        ([], 9),  # HCCL_E_TIMEOUT: the other rank does not join
        ([4, 0], [507048, 0]),  # the other rank does not come
        ([4, 8], [507049, 507049]),
        ([8, 8], [0, 0]),
    ],
)
def test_no_wait_of_pyhccl_lasts_longer_than_the_limits_of_hccl(
    counts: list[int], ended: object
) -> None:
    folder_of("pyhccl", "pyhccl")
    limits = {"HCCL_CONNECT_TIMEOUT": "2", "HCCL_EXEC_TIMEOUT": "2", "PYACLNN_MOCK_DEVICES": "2"}
    program = ("pyhccl_waits.py", json.dumps(counts))
    assert answer(*program, LD_LIBRARY_PATH=str(libdir()), **limits) == ended


def test_ctrl_c_ends_a_wait_for_a_rank_that_does_not_come() -> None:
    folder_of("pyhccl", "pyhccl")
    program = [sys.executable, str(HERE / "pyhccl_waits.py"), "[4, 0]"]
    chosen = {"PYACLNN_BACKEND": "mock", "LD_LIBRARY_PATH": str(libdir())}
    with subprocess.Popen(
        program,
        env=settings(PYACLNN_MOCK_DEVICES="2", **chosen),
        stderr=subprocess.PIPE,
        text=True,
    ) as waits:
        assert waits.stderr is not None
        assert waits.stderr.readline() == "waits\n"
        waits.send_signal(signal.SIGINT)
        _, reported = waits.communicate(timeout=PATIENCE)  # HCCL's limit is half an hour
    assert "KeyboardInterrupt" in reported
