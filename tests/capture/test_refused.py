# SPDX-License-Identifier: Apache-2.0
"""Objects that CANN refuses, NULL that programs end, and traces that cannot be written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.capture.trace import Call, Contents, read_trace

from .captured import capture, pyaclnn

if TYPE_CHECKING:
    from pathlib import Path

REFUSED_TENSORS = """
import pyaclnn
from pyaclnn import aclnn, raw
device = pyaclnn.Device(0)
no, shape = raw.ffi.NULL, raw.ffi.new("int64_t[2]", [2, 3])
freed = pyaclnn.to_device(b := __import__("numpy").ones((2, 3), "f4"), device)
address = raw.ffi.cast("void *", freed.address)
assert not raw.aclCreateTensor(no, 2, raw.ACL_FLOAT, no, 0, raw.ACL_FORMAT_ND, no, 0, address)
assert not raw.aclCreateTensor(shape, 2, raw.ACL_FLOAT, no, 0, raw.ACL_FORMAT_ND, no, 2, address)
pyaclnn.layer_norm(b, 3)
"""


def test_an_object_that_was_refused_is_not_recorded_as_an_absent_tensor(tmp_path: Path) -> None:
    trace = capture(tmp_path / "run.trace", REFUSED_TENSORS, "--contents", "full")
    records = list(read_trace(trace))
    made = [r for r in records if isinstance(r, Call) and r.name == "aclCreateTensor"]
    assert len(made) > 2
    recorded = {r.name for r in records if isinstance(r, Contents)}
    assert {"weightOptional", "biasOptional"}.isdisjoint(recorded)
    assert "input" in recorded


NULL_ENDS = """
import numpy as np, pyaclnn
from pyaclnn import aclnn, raw
x = pyaclnn.to_device(np.ones(4, np.float32))
raw.aclDestroyTensor(raw.ffi.NULL)
for factor in range(50):
    aclnn.muls(x, np.float32(factor))
x.device.synchronize()
"""


def test_a_program_may_end_what_it_never_made(tmp_path: Path) -> None:
    records = read_trace(capture(tmp_path / "run.trace", NULL_ENDS))
    names = [record.name for record in records if isinstance(record, Call)]
    assert names.count("aclnnMuls") == 50


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("run.trace", "'run.trace' exists; name a file that does not"),
        ("", "'.' exists; name a file that does not"),
        ("run.trace/x", "/run.trace/x': Not a directory"),
        ("x" * 300, "': File name too long"),
        ("absent/x", "/absent' is no folder that this process can write to"),
    ],
)
def test_a_trace_that_cannot_be_written_is_refused_before_the_program_runs(
    name: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.trace").touch()
    done = pyaclnn("capture", "-o", name, "--", sys.executable, "-c", "print('runs')")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"{reason}\n")


UNWRITTEN = """
import numpy as np, pyaclnn
from pyaclnn import aclnn
device = pyaclnn.Device(0)
rows = np.random.default_rng(1).standard_normal((2, 3, 4, 4)).astype(np.float32)
left, x, weight, kernel, bias = (pyaclnn.to_device(each, device) for each in (
    rows, rows, *[np.ones((3, 3, 1, 1), np.float32)] * 2, np.ones(3, np.float32)))
pyaclnn.op("aclnnConvolutionBackward")(
    x, x, weight, [3], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [False, True, True], 0,
    gradInput=left, gradWeight=kernel, gradBias=bias)
pyaclnn.op("aclnnClamp")(rows, None, 1.0, out=pyaclnn.Empty(rows.shape, rows.dtype))
pyaclnn.op("aclnnLinalgVectorNorm")(
    rows, 2.0, [], False, "float32", out=pyaclnn.Empty((), np.float32))
device.synchronize()
"""


@pytest.mark.exhaustive
def test_results_that_a_mask_turns_off_are_not_judged_and_arguments_may_be_empty(
    tmp_path: Path,
) -> None:
    trace = capture(tmp_path / "run.trace", UNWRITTEN, "--contents", "full")
    numbers = {r.name: r.number for r in read_trace(trace) if isinstance(r, Call)}
    for name, words in {
        "aclnnConvolutionBackward": "found_gradInput, found_gradWeight, found_gradBias = ",
        "aclnnClamp": "clipValueMin = None",
        "aclnnLinalgVectorNorm": "dims = []",
    }.items():
        made = pyaclnn("trace", "test", trace, numbers[name])
        assert (made.returncode, made.stderr) == (0, "")
        assert words in made.stdout
        assert "It agreed where this was made" in made.stdout
        assert "judge(found_gradInput" not in made.stdout
    launch = numbers["aclnnConvolutionBackward"] - 1
    part = tmp_path / "part.trace"
    capture(part, UNWRITTEN, "--contents", "full", "--calls", f"{launch}:")
    done = pyaclnn("replay", part)
    assert done.returncode == 0, done.stdout
    assert ", 1 not comparable (contents were not recorded, or results not written" in done.stdout


DOUBLES = """
import numpy as np, pyaclnn
from pyaclnn import aclnn
x = pyaclnn.to_device(np.ones(4, np.float32))
aclnn.inplace_muls(x, np.float32(2))
x.device.synchronize()
"""
DOES_NOTHING = """
from pyaclnn import mock
@mock.operator("aclnnInplaceMuls")
def muls(selfRef, other):
    return selfRef
"""


def test_an_operator_that_writes_nothing_differs(tmp_path: Path) -> None:
    trace = capture(tmp_path / "run.trace", DOUBLES, "--contents", "full")
    kernel = tmp_path / "kernel.py"
    kernel.write_text(DOES_NOTHING)
    done = pyaclnn("replay", trace, PYACLNN_MOCK_OPERATORS=str(kernel))
    assert done.returncode == 1, done.stdout
    assert "aclnnInplaceMuls selfRef[0]: result: recorded 2.0, here 1.0" in done.stdout
