# SPDX-License-Identifier: Apache-2.0
"""While pytest runs, device processes are forks, of the programs that tests start as well."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .commands import FORKS, run, silent_environment
from .test_pytest_plugin import ALONE, suite

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
from pathlib import Path
import pyaclnn
with pyaclnn.Device(0):
    print([*Path("/proc/self/task").glob("*/children")][0].read_text())
"""


@pytest.fixture(autouse=True)
def outside_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORKS)


def test_programs_that_tests_start_have_forks_as_device_processes(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    body = """\
import os, subprocess, sys

def test_it():
    name = "PYACLNN_MOCK_FORK_SERVER"
    assert os.environ[name] == str(os.getpid())
    for fork, children in (os.environ[name], 0), ("", 1):
        variables = {**os.environ, "PYACLNN_BACKEND": "mock", name: fork}
        done = subprocess.run([sys.executable, "program.py"], env=variables, capture_output=True)
        assert (done.returncode, len(done.stdout.split())) == (0, children), done.stderr
"""
    status, output = suite(tmp_path, body)
    assert status == 0, output


@pytest.mark.parametrize("given", [None, "", "7"])
def test_a_run_leaves_the_variable_of_the_fork_server_as_it_was(
    tmp_path: Path, given: str | None
) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n", encoding="utf-8")
    code = f"import os, pytest; pytest.main(['-q']); print(os.environ.get({FORKS!r}))"
    variables = {**silent_environment(), **ALONE}
    if given is not None:
        variables[FORKS] = given
    done = run(sys.executable, "-c", code, cwd=tmp_path, environment=variables)
    assert done.stdout.splitlines()[-1] == str(given), done.stderr
