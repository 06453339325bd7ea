# SPDX-License-Identifier: Apache-2.0
"""The simulated NPU finds the same mistakes in a captured program as in the program alone."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pyaclnn.capture.trace import Call, Contents, read_trace
from pyaclnn.mock import cflags, ldflags

from .captured import PROGRAM, pyaclnn, run_captured

MISTAKES = Path(__file__).parent / "c" / "mistakes.c"
SHOWN = ("rule", "function", "at", "what", "created", "destroyed", "detail")


def findings(report: Path) -> list[dict[str, Any]]:
    """Return a report, without the numbers that differ from run to run."""
    found = [json.loads(line) for line in report.read_text().splitlines()]
    return [
        {key: re.sub("0x[0-9a-f]{9,}", "ADDRESS", str(one[key])) for key in SHOWN} for one in found
    ]


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("programs") / "mistakes"
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, "-O1", str(MISTAKES), "-o", str(program), *cflags(), *ldflags()]
    subprocess.run(command, check=True)
    return program


@pytest.mark.sampled(1)
@pytest.mark.parametrize("contents", ["none", "hash"])
def test_findings_of_a_captured_program_are_those_of_the_program(
    contents: str, mistakes: Path, tmp_path: Path
) -> None:
    report, trace = tmp_path / "alone", tmp_path / "run.trace"
    pyaclnn("mock", "run", mistakes, PYACLNN_MOCK_REPORT=str(report))
    alone = findings(report)
    rules = {one["rule"] for one in alone}
    assert {"memory-used-before-synchronize", "alive-at-finalize"} <= rules, rules
    assert {one["what"] for one in alone} >= {"pinned memory", "device memory"}
    assert all("called from mistakes+0x" in one["at"] for one in alone)

    report = tmp_path / "captured"
    options = ("--contents", contents, "--", mistakes)
    pyaclnn("capture", "-o", trace, *options, PYACLNN_MOCK_REPORT=str(report))
    assert findings(report) == alone
    copied = [record for record in read_trace(trace) if isinstance(record, Contents)]
    assert len([one for one in copied if one.phase != 2]) == (3 if contents == "hash" else 0)


ALIVE = """
from pyaclnn import mock
import pyaclnn.mock.control.report as report
print([str(one) for one in report.alive() if one.kind == "pinned_memory"])
print(report.calls()["aclrtMallocHost"], report.calls()["aclrtGetCurrentContext"] > 0)
"""


def test_the_memory_and_the_calls_of_the_recorder_are_not_the_programs(tmp_path: Path) -> None:
    trace = tmp_path / "run.trace"
    faults = "aclrtMallocHost:1=207001"
    done = run_captured(trace, PROGRAM + ALIVE, PYACLNN_MOCK_FAULTS=faults)
    assert done.returncode == 0, done.stderr
    pinned, made = done.stdout.splitlines()[-2:]
    assert pinned == "[]"
    assert made.startswith("0 ")
    records = list(read_trace(trace))
    assert any(isinstance(one, Contents) and one.phase == 1 for one in records)
    assert not any(isinstance(one, Call) and one.name == "aclrtMallocHost" for one in records)
