# SPDX-License-Identifier: Apache-2.0
"""Two traces of the same program agree, however long its waits and in which order its threads."""

from __future__ import annotations

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
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("call "))
    assert "recorded aclCreateScalar, here aclCreateTensor; the rest of their threads is" in line


def test_each_trace_is_read_once(orders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def reader(path: Path) -> Iterator[Record]:
        read.append(path)
        return read_trace(path)

    monkeypatch.setattr(compare, "read_trace", reader)
    found = compare.compare(orders["ab"], orders["ba"])
    assert (found.judged.total(), found.divergences) == (6, [])
    assert read == [orders["ab"], orders["ba"]]
