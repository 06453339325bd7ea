# SPDX-License-Identifier: Apache-2.0
"""Two traces of the same program agree, however long its waits and in which order its threads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pyaclnn.capture import compare
from pyaclnn.capture.trace import Call, read_trace

from .captured import capture, pyaclnn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyaclnn.capture.trace import Record

WAIT = """
import numpy as np, pyaclnn
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    x = pyaclnn.to_device(np.ones(4, np.float32), device)
    pyaclnn.aclnn.muls(x, np.float32(2), stream=stream)
    stream.synchronize()
"""
SLOW_KERNEL = """
import time
from pyaclnn import mock

@mock.operator("aclnnMuls")
def muls(self, other):
    time.sleep(0.4)
    return self * other
"""
TIMED_OUT = 507046
"""The status of a wait that has reached its limit (facts: ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)."""
MASKED = """
import os
import numpy as np, pyaclnn
device = pyaclnn.Device(0)
x = np.ones((2, 3, 4, 4), np.float32)
kernel, bias = np.ones((3, 3, 1, 1), np.float32), np.ones(3, np.float32)
values = (x, np.full_like(x, int(os.environ["GARBAGE"])), kernel, kernel, bias)
x, left, weight, kernel, bias = (pyaclnn.to_device(each.copy(), device) for each in values)
pyaclnn.op("aclnnConvolutionBackward")(
    x, x, weight, [3], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [False, True, True], 0,
    gradInput=left, gradWeight=kernel, gradBias=bias)
device.synchronize()
"""
THREADS = """
import threading
import numpy as np, pyaclnn
from pyaclnn import aclnn
one = np.ones(4, np.float32)
def scale():
    for factor in (2, 3):
        aclnn.muls(one, np.float32(factor))
def add():
    aclnn.add(one, one, alpha=1.0)
scale()
add()
for work in {"ab": (scale, add), "ba": (add, scale), "bb": (add, add)}[sys.argv[1]]:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


@pytest.mark.exhaustive
def test_waits_that_reach_their_limit_are_left_out(tmp_path: Path) -> None:
    kernels = tmp_path / "slow.py"
    kernels.write_text(SLOW_KERNEL)
    quick = capture(tmp_path / "quick.trace", WAIT)
    slow = capture(tmp_path / "slow.trace", WAIT, PYACLNN_MOCK_OPERATORS=str(kernels))
    statuses = [record.result for record in read_trace(slow) if isinstance(record, Call)]
    assert TIMED_OUT in statuses
    done = pyaclnn("trace", "compare", quick, slow)
    assert (done.returncode, done.stdout.count("no divergence")) == (0, 1), done.stdout


def test_results_that_a_mask_turns_off_are_not_compared(tmp_path: Path) -> None:
    one, other = (
        capture(tmp_path / f"{garbage}.trace", MASKED, GARBAGE=garbage) for garbage in "12"
    )
    done = pyaclnn("trace", "compare", one, other)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "2 results compared, 1 not comparable" in done.stdout


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("threads")
    return {
        order: capture(folder / f"{order}.trace", THREADS.replace("sys.argv[1]", repr(order)))
        for order in ("ab", "ba", "bb")
    }


def test_threads_belong_together_by_what_they_call(orders: dict[str, Path]) -> None:
    done = pyaclnn("trace", "compare", orders["ab"], orders["ba"])
    assert (done.returncode, done.stdout.count(" 6 results compared: no divergence")) == (0, 1)


def test_a_thread_without_an_equal_parts_at_its_first_other_call(orders: dict[str, Path]) -> None:
    done = pyaclnn("trace", "compare", orders["ab"], orders["bb"])
    assert done.returncode == 1
    line = next(line for line in done.stdout.splitlines() if line.startswith("call "))
    assert "recorded aclCreateScalar, here aclCreateTensor; " in line
    assert line.endswith(" here")


INPUTS = """
import threading
import numpy as np, pyaclnn
from pyaclnn import aclnn
def scale(value):
    aclnn.muls(np.full(4, value, np.float32), np.float32(2))
scale(0)
for value in sys.argv[1]:
    thread = threading.Thread(target=scale, args=(float(value),))
    thread.start()
    thread.join()
"""


def test_threads_of_the_same_functions_belong_together_by_their_inputs(tmp_path: Path) -> None:
    one, other = (
        capture(tmp_path / f"{order}.trace", INPUTS.replace("sys.argv[1]", repr(order)))
        for order in ("123", "312")
    )
    done = pyaclnn("trace", "compare", one, other)
    assert (done.returncode, done.stdout.count(" 4 results compared: no divergence")) == (0, 1)


CHANGED = """
import os
import numpy as np, pyaclnn
from pyaclnn import aclnn
x = np.ones(4, np.float32)
for factor in range(5):
    aclnn.muls(x, np.float32(factor))
    if str(factor) == os.environ["MORE"]:
        aclnn.neg(x)
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("changed")
    return {n: capture(folder / n, CHANGED, MORE=n) for n in ("none", "1", "3")}


@pytest.mark.parametrize(
    ("one", "other", "has_more"),
    [("none", "1", [(0, 1)]), ("3", "none", [(1, 0)]), ("1", "3", [(1, 0), (0, 1)])],
)
def test_calls_behind_those_that_only_one_trace_has_are_compared(
    one: str, other: str, has_more: list[tuple[int, int]], changed: dict[str, Path]
) -> None:
    found = compare.compare(changed[one], changed[other])
    assert found.judged["aclnnMuls"] == 5
    assert {each.kind for each in found.divergences} == {"calls"}
    counts = [map(int, re.findall("[0-9]+", each.text)) for each in found.divergences]
    assert [tuple(map(bool, pair)) for pair in counts] == has_more
    assert all(each.text.startswith("without these calls: ") for each in found.divergences)


def test_threads_without_a_call_in_common_are_left_out_as_a_whole(
    changed: dict[str, Path], tmp_path: Path
) -> None:
    ends = "import os, time, pyaclnn; device = pyaclnn.Device(0); time.sleep(1); os._exit(0)"
    only = capture(tmp_path / "only.trace", ends)
    found = compare.compare(changed["none"], only)
    (part,) = found.divergences
    assert part.text.startswith("without the rest of the thread: ")
    assert found.judged.total() == 0


def test_each_trace_is_read_once(orders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def reader(path: Path) -> Iterator[Record]:
        read.append(path)
        return read_trace(path)

    monkeypatch.setattr(compare, "read_trace", reader)
    found = compare.compare(orders["ab"], orders["ba"])
    assert (found.judged.total(), found.divergences) == (6, [])
    assert read == [orders["ab"], orders["ba"]]
