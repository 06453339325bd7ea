# SPDX-License-Identifier: Apache-2.0
"""Processes of one machine share memory by handles and by keys, and their NPUs compute on it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.releases import RELEASES, VARIABLE
from pyaclnn.mock import cflags, ldflags

from .programs import HERE, Programs

if TYPE_CHECKING:
    from pathlib import Path

*OLDER, NEWEST = RELEASES


@pytest.mark.parametrize(
    "release",
    [
        *(pytest.param(release, marks=pytest.mark.exhaustive) for release in OLDER),
        NEWEST,
    ],
)
def test_what_a_process_computes_its_parent_finds(
    release: str, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, release)
    program, report = tmp_path / "shared", tmp_path / "report.jsonl"
    flags = [*cflags(), "-std=c++17", "-Wall", "-Wextra", "-Werror"]
    command = ["c++", *flags, str(HERE / "c" / "shared.cpp"), "-o", str(program)]
    subprocess.run([*command, *ldflags()], check=True, timeout=900)
    done = programs.run([program], {"PYACLNN_MOCK_REPORT": str(report)})
    by_key = release == NEWEST
    assert done.stdout == "refused\ncomputed\n" * (1 + by_key) + "done\n", done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    records = map(json.loads, report.read_text(encoding="utf-8").splitlines())
    assert [record["rule"] for record in records] == [
        "import-not-allowed",
        *(["import-not-allowed", "not-mapped"] if by_key else []),
    ]
