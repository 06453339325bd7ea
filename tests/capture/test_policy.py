# SPDX-License-Identifier: Apache-2.0
"""Contents are recorded as asked for: by size, by operator, and in full where a stream fails."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.capture.trace import Absent, Call, Contents, read_trace

from .captured import capture, run_captured

if TYPE_CHECKING:
    from pathlib import Path

FAILS = """
import os
import numpy as np, pyaclnn
from pyaclnn import aclnn
SIZE = int(os.environ.get("SIZE", 6))
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    for factor in (2, 3):
        x = pyaclnn.to_device(np.arange(SIZE, dtype=np.float32), device)
        try:
            aclnn.muls(x, np.float32(factor), stream=stream)
            while not stream.is_done() if os.environ.get("POLLS") else stream.synchronize():
                pass
        except pyaclnn.AclError:
            print("failed", factor)
"""


def full(trace: Path) -> list[tuple[int, str, bool]]:
    """Return of each operand of aclnnMuls the turn, the name, and whether it is there in full."""
    records = list(read_trace(trace))
    turns = [r.number for r in records if isinstance(r, Call) and r.name == "aclnnMuls"]
    contents = [r for r in records if isinstance(r, Contents) and r.call in turns]
    return [(turns.index(c.call), c.name, c.data is not None) for c in contents]


@pytest.mark.parametrize(("largest", "in_full"), [("23", False), ("24", True)])
def test_contents_above_the_largest_size_are_hashed(
    largest: str, in_full: bool, tmp_path: Path
) -> None:
    options = ("--contents", "full", "--largest", largest)
    found = full(capture(tmp_path / "run.trace", FAILS, *options))
    assert found == [(turn, name, in_full) for turn in (0, 1) for name in ("self", "out")]


@pytest.mark.parametrize(("limit", "in_full"), [("5998", False), ("6000", True)])
def test_contents_above_half_the_limit_are_hashed(
    limit: str, in_full: bool, tmp_path: Path
) -> None:
    options = ("--contents", "full", "--limit", limit)
    trace = capture(tmp_path / "run.trace", FAILS, *options, SIZE="750")
    parts = [part for part in (trace.with_name("run.trace.old"), trace) if part.exists()]
    found = [contents for part in parts for contents in full(part)]
    assert {there for _, _, there in found} == {in_full}


SMALL, LARGE = 6, 3 << 20
"""Elements; the copies of the larger are waited for."""


# Every second row: each pair of two values is in one of them.
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fault", "size", "polls"),
    [
        ("async:507015", SMALL, ""),
        ("async:507015", SMALL, "1"),
        ("async:507015", LARGE, "1"),
        ("async:507015", LARGE, ""),
        ("561000", SMALL, "1"),
        ("561000", SMALL, ""),
        ("561000", LARGE, ""),
        ("561000", LARGE, "1"),
    ],
)
def test_what_fails_has_its_inputs_in_full(
    fault: str, size: int, polls: str, tmp_path: Path
) -> None:
    reason = ["its stream failed"] if fault.startswith("async") else []
    given = {"PYACLNN_MOCK_FAULTS": f"aclnnMuls:2={fault}", "SIZE": str(size), "POLLS": polls}
    trace = tmp_path / "run.trace"
    done = run_captured(trace, FAILS, **given)
    assert done.stdout == "failed 3\n"  # though a wait of the recorder may have the failure first
    failed = [
        r for r in read_trace(trace) if isinstance(r, Call) and r.failed and r.status > 107002
    ]
    assert [(call.status, bool(call.message)) for call in failed] == [(int(fault[-6:]), True)]
    assert full(trace) == [(0, "self", False), (0, "out", False), (1, "self", True)]
    absent = [(r.name, r.reason) for r in read_trace(trace) if isinstance(r, Absent)]
    assert absent == [("out", why) for why in reason]


NEGATED = """
import os
import numpy as np, pyaclnn
from pyaclnn import aclnn
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    for dtype, shape, layout in eval(os.environ["LAYOUTS"]):
        x = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
        x = pyaclnn.to_device(x, device)
        aclnn.neg(eval(layout), stream=stream)
    stream.synchronize()
"""
TILES = (3, 40, 1100)
"""More rows and more columns than the recorder copies in one piece."""
LAYOUTS = [
    *((dtype, (2, 3, 5), "x.transpose(2, 0, 1)") for dtype in ("b", "e", "f", "q", "D")),
    *(("f", TILES, f"x.transpose{axes}") for axes in itertools.permutations(range(3))),
    ("b", (1100, 70), "x.transpose(1, 0)"),
    ("f", (2100, 1), "x.transpose(1, 0)"),
    ("f", (4, 6, 10), "x[1:, ::2, 1:8:3]"),
    ("f", (4, 6, 10), "x[:, ::5, ::2].transpose(1, 2, 0)"),
    ("f", (2, 3, 1, 5, 4), "x.transpose(3, 0, 2, 4, 1)[1:]"),
    ("f", (60,), "x[3::7]"),
]


def test_elements_that_lie_anyhow_are_recorded_in_row_major_order(tmp_path: Path) -> None:
    options = ("--contents", "full", "--largest", str(1 << 20))
    trace = capture(tmp_path / "run.trace", NEGATED, *options, LAYOUTS=repr(LAYOUTS))
    records = [r for r in read_trace(trace) if isinstance(r, Contents) and r.name == "self"]
    # Threads of the recorder write them, in any order.
    found = [record.data for record in sorted(records, key=lambda record: record.call)]
    assert len(found) == len(LAYOUTS)
    for data, (dtype, shape, layout) in zip(found, LAYOUTS, strict=True):
        x = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
        expected = eval(layout, {"x": x})  # noqa: S307  # of the table above
        assert data == expected.tobytes(), (dtype, shape, layout)
