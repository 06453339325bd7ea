# SPDX-License-Identifier: Apache-2.0
"""Captures of programs that are hard to replay: the same answers, and wrong kernels found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pyaclnn.capture.trace import Call, read_trace

from . import hard_cases
from .captured import WRONG_KERNEL, capture_by_command, pyaclnn

RESULTS = {
    "asynchronous_copies": 2,
    "copies_in_two_dimensions": 2,
    "several_devices": 2,
    "streams_of_threads": 3,
    "graphs": 4,
    "graphs_of_parts": 2,
    "graphs_that_use_memory_again": 3,
}
"""The results of the cases that have more than one."""
NEWEST = {"PYACLNN_MOCK_CANN": "9.1", "PYACLNN_MOCK_ALLOW": "capture-unjoined"}
"""The release, and the rule that a case breaks on purpose."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = Path(hard_cases.__file__).read_text(encoding="utf-8")
    place = tmp_path_factory.mktemp("trace") / "run.trace"
    return capture_by_command(place, program, "--contents", "full", **NEWEST)


@pytest.fixture(scope="module")
def found(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return what a replay with a wrong kernel says, a line a result."""
    kernel = tmp_path_factory.mktemp("kernel") / "kernel.py"
    kernel.write_text(WRONG_KERNEL)
    done = pyaclnn("replay", trace, PYACLNN_MOCK_OPERATORS=str(kernel), **NEWEST)
    return [line for line in done.stdout.splitlines() if line.startswith("call ")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["deferred", "shuffled:3", "eager"])
def test_each_order_of_work_gives_the_same_answers(mode: str, trace: Path) -> None:
    done = pyaclnn("replay", trace, "--exact", PYACLNN_MOCK_MODE=mode, **NEWEST)
    assert (done.returncode, done.stderr) == (0, "")
    count = sum(RESULTS.get(name, 1) for name in hard_cases.CASES)
    assert f"{count} results compared" in done.stdout
    assert "not comparable" not in done.stdout


@pytest.mark.exhaustive
def test_a_part_begins_on_the_devices_of_the_program(tmp_path: Path) -> None:
    text = Path(hard_cases.__file__).read_text(encoding="utf-8")
    program = text.replace("main(sys.argv[1:])", "main(['several_devices'])")
    whole = capture_by_command(tmp_path / "whole.trace", program, **NEWEST)
    calls = [record for record in read_trace(whole) if isinstance(record, Call)]
    second = [call.number for call in calls if call.name == "aclrtSetDevice"][1]
    options = ("--contents", "full", "--calls", f"{second + 8}:")
    part = capture_by_command(tmp_path / "part.trace", program, *options, **NEWEST)
    done = pyaclnn("replay", part, "--exact", **NEWEST)
    assert done.returncode == 0, done.stdout
    assert "1 result compared" in done.stdout
    made = [call for call in read_trace(part) if isinstance(call, Call)]
    assert {c.handle("deviceId") for c in made if c.name == "aclrtSetDevice"} == {0, 1}


@pytest.mark.parametrize("case", hard_cases.CASES)
def test_a_wrong_kernel_is_found(case: str, found: list[str]) -> None:
    mine = [line for line in found if f" {hard_cases.SIZES[case]} elements" in line]
    assert len(mine) == RESULTS.get(case, 1), "\n".join(found)
    assert all(re.search(r"out\[3\]: result: recorded", line) for line in mine)
