# SPDX-License-Identifier: Apache-2.0
"""Processes of one machine share physical memory by handles, and their NPUs compute on it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock import cflags, ldflags
from pyaclnn.releases import RELEASES, VARIABLE

from .programs import HERE, Programs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "release",
    [
        release if index == 0 else pytest.param(release, marks=pytest.mark.exhaustive)
        for index, release in enumerate(RELEASES)
    ],
)
def test_what_a_process_computes_its_parent_finds(
    release: str, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, release)
    program, report = tmp_path / "shared", tmp_path / "report.jsonl"
    flags = [*cflags(), "-std=c++17", "-Wall", "-Wextra", "-Werror"]
    command = ["c++", *flags, str(HERE / "c" / "shared.cpp"), "-o", str(program)]
    subprocess.run([*command, *ldflags()], check=True, timeout=300)
    done = programs.run([program], {"PYACLNN_MOCK_REPORT": str(report)})
    assert done.stdout == "refused\ncomputed\ndone\n", done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, report.read_text(encoding="utf-8").splitlines())
    assert record["rule"] == "import-not-allowed"
