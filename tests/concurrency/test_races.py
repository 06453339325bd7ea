# SPDX-License-Identifier: Apache-2.0
"""The stress once more under ThreadSanitizer: binding and libraries have no data race."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.mock_libs.programs import HERE
from tests.mock_libs.sanitized import OPTIONS, build_binding, preload, start

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.kept import Keep

    Run = Callable[[int, int], subprocess.CompletedProcess[str]]

PROGRAM = f"""
import pathlib, sys
sys.path.append({str(HERE.parents[1])!r})
from tests.concurrency.sanitized_stress import main
main(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:]))
"""

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def run(keep: Keep) -> Run:
    """Run the stress in a Python that the sanitizer watches; the device process is none."""
    folder = build_binding(keep, "thread")
    python = folder / "python"
    lines = ["#!/bin/sh", "unset LD_PRELOAD", f'exec {sys.executable} "$@"', ""]
    python.write_text("\n".join(lines), encoding="utf-8")
    python.chmod(0o755)
    watched = {"LD_PRELOAD": preload("thread"), "PYACLNN_MOCK_PYTHON": str(python)}

    def run(threads: int, calls: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*start(), sys.executable, "-c", PROGRAM, folder, str(threads), str(calls)],
            cwd=folder,
            env={**os.environ, **OPTIONS, **watched},
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )

    return run


def test_many_threads_race_for_nothing(run: Run, request: pytest.FixtureRequest) -> None:
    result = run(8, request.config.getoption("--stress-calls"))
    assert (result.returncode, result.stderr) == (0, ""), result.stderr


def test_a_race_would_be_seen(run: Run) -> None:
    result = run(2, 0)
    assert result.returncode == 66
    assert "data race" in result.stderr
    assert "impl_aclrtGetRunMode" in result.stderr
