# SPDX-License-Identifier: Apache-2.0
"""A trace parts from another chip and another release exactly where these do not have something."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.capture.trace import Call, Chip, read_trace
from tests.fork_server import run_program

from .captured import capture, capture_by_command, pyaclnn

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import ml_dtypes
import numpy as np
import pyaclnn
from pyaclnn import aclnn
x = np.arange(24, dtype=np.float32).reshape(4, 6)
for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
    aclnn.add(x.astype(dtype), np.ones((4, 6), dtype), alpha=1.0)
    aclnn.mish(x.astype(dtype))
    pyaclnn.ops.rms_norm(x.astype(dtype), np.ones(6, dtype))
aclnn.square(x)
"""
INIT = """
import ctypes
assert ctypes.CDLL("libascendcl.so").aclInit(None) == 0
"""
PARTS = """
import pyaclnn
for path in ({}):
    with pyaclnn.capture(path):
        pyaclnn.Device(0).synchronize()
"""
BFLOAT16 = 27
"""An aclDataType, which Atlas inference products do not compute in."""
SINCE_9 = "aclnnSquare"
"""An operator that CANN 8.1 has no header of."""
MOCK = {"PYACLNN_BACKEND": "mock"}
HERE = {"PYACLNN_MOCK_SOC": "Ascend910B3", "PYACLNN_MOCK_CANN": "9.1"}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("machines") / "run.trace"
    return capture(path, PROGRAM, "--contents", "full", **HERE)


def calls(trace: Path) -> list[Call]:
    return [record for record in read_trace(trace) if isinstance(record, Call)]


def parted(trace: Path, **machine: str) -> dict[int, str]:
    """Return the number of each call that diverges, and how."""
    lines = pyaclnn("replay", trace, **{**HERE, **machine}).stdout.splitlines()
    found = (re.match(r"call (\d+) \S+: (.*)", line) for line in lines)
    return {int(match[1]): match[2] for match in found if match}


def test_the_machine_itself_agrees(trace: Path) -> None:
    assert parted(trace) == {}


def test_a_chip_without_bfloat16_parts_at_its_operators(trace: Path) -> None:
    expected, types = set(), {}
    for call in calls(trace):
        if call.name == "aclCreateTensor":
            types[call.result] = call.handle("dataType")
        used = {types.get(v) for v in call.arguments.values() if not isinstance(v, (bytes, tuple))}
        if call.name.endswith("GetWorkspaceSize") and BFLOAT16 in used:
            expected.add(call.number)
    assert len(expected) == 3
    refused = "status: recorded 0, here 161002 ACLNN_ERR_PARAM_INVALID"
    assert parted(trace, PYACLNN_MOCK_SOC="Ascend310P3") == dict.fromkeys(expected, refused)


def test_a_divergence_has_the_arguments_and_the_message_and_a_report_the_chips(
    trace: Path, tmp_path: Path
) -> None:
    report = tmp_path / "report.md"
    done = pyaclnn(
        "replay", trace, "--report", report, **{**HERE, "PYACLNN_MOCK_SOC": "Ascend310P3"}
    )
    head, arguments, message = done.stdout.splitlines()[:3]
    assert head.endswith(" here 161002 ACLNN_ERR_PARAM_INVALID")
    tensors = "self=bfloat16[4, 6], other=bfloat16[4, 6], alpha=1.0, out=bfloat16[4, 6]"
    assert arguments.startswith(f"        with {tensors}, ")
    assert "self has data type bfloat16; it must be" in message
    assert ", recorded on Ascend910B3, here Ascend310P3: 3 divergences." in done.stdout
    assert report.read_text().startswith("run.trace (Ascend910B3) on mock (Ascend310P3)\n")


def test_a_comparison_names_both_chips(trace: Path, tmp_path: Path) -> None:
    chip = {**HERE, "PYACLNN_MOCK_SOC": "Ascend310P3"}
    other = capture_by_command(tmp_path / "other", INIT, **chip)
    assert (
        ", recorded on Ascend910B3, here Ascend310P3: "
        in pyaclnn("trace", "compare", trace, other).stdout
    )
    assert " on Ascend310P3;" in pyaclnn("trace", "show", other).stdout


def test_each_part_of_a_program_names_the_chip(tmp_path: Path) -> None:
    """The second has no aclInit."""
    parts = [tmp_path / "first", tmp_path / "second"]
    paths = ", ".join(repr(str(path)) for path in parts)
    done = run_program([sys.executable, "-c", PARTS.format(paths)], {**os.environ, **HERE, **MOCK})
    assert done.returncode == 0, done.stderr
    for path in parts:
        names = [record.name for record in read_trace(path) if isinstance(record, Chip)]
        assert names == ["Ascend910B3"], path


def test_a_release_without_an_operator_parts_at_its_call(trace: Path) -> None:
    (first,) = (c.number for c in calls(trace) if c.name == f"{SINCE_9}GetWorkspaceSize")
    (second,) = (c.number for c in calls(trace) if c.name == SINCE_9)
    absent = "function: recorded 0, here not in the libraries"
    assert parted(trace, PYACLNN_MOCK_CANN="8.1") == {first: absent, second: absent}
