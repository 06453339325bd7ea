# SPDX-License-Identifier: Apache-2.0
"""Parts of a trace begin with the calls that made what they use: graphs and executors as well."""

from __future__ import annotations

import functools
import json
import re
import struct
import zlib
from typing import TYPE_CHECKING

import msgspec
import pytest

from pyaclnn.capture.trace import Call, Contents, read_trace

from .captured import capture, pyaclnn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Whole = Callable[[str], Path]

GRAPH = """
import numpy as np, pyaclnn
from pyaclnn import aclnn
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.runtime.array import DeviceArray
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    x, y, z, w = (DeviceArray.empty((13,), np.float32, device) for _ in range(4))
    with pyaclnn.Stream(device) as beside:
        fork, join = (fetch("aclrtCreateEventExWithFlag", OUT, 1) for _ in range(2))
        call("aclmdlRICaptureBegin", stream.pointer, 2)
        aclnn.muls(x, np.float32(2), stream=stream, out=y)
        call("aclrtRecordEvent", fork, stream.pointer)
        call("aclrtStreamWaitEvent", beside.pointer, fork)
        aclnn.muls(y, np.float32(3), stream=beside, out=z)
        call("aclrtRecordEvent", join, beside.pointer)
        aclnn.muls(y, np.float32(5), stream=stream, out=w)
        call("aclrtStreamWaitEvent", stream.pointer, join)
        model = fetch("aclmdlRICaptureEnd", stream.pointer, OUT)
        call("aclrtDestroyEvent", fork)
        call("aclrtDestroyEvent", join)
    for turn in (1, 2):
        x.copy_from(np.full(13, turn, np.float32))
        call("aclmdlRIExecuteAsync", model, stream.pointer)
        stream.synchronize()
        assert [each.numpy()[0] for each in (z, w)] == [6 * turn, 10 * turn]
    call("aclmdlRIDestroy", model)
"""
PLAN = """
import numpy as np, pyaclnn
x = np.arange(24, dtype=np.float32).reshape(4, 6)
plan = pyaclnn.plan(pyaclnn.ops.rms_norm, *map(pyaclnn.to_device, (x, np.ones(6, np.float32))))
assert plan.repeatable
for step in range(3):
    plan.run(x=pyaclnn.to_device(x + step))
"""
VIRTUAL = """
import numpy as np, pyaclnn
from pyaclnn import aclnn
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    prop = raw.ffi.new("aclrtPhysicalMemProp *")
    prop.memAttr = raw.ACL_HBM_MEM_HUGE
    prop.location.type = 1
    room = 2 << 20
    base = fetch("aclrtReserveMemAddress", OUT, 2 * room, 0, raw.NULL, 1)
    begin = raw.address_of(base)
    handles = [fetch("aclrtMallocPhysical", OUT, room, prop, 0) for _ in range(2)]
    for part, handle in enumerate(handles):
        call("aclrtMapMem", raw.pointer_to(begin + part * room), room, 0, handle, 0)
    host = np.arange(1, 14, dtype=np.float32)
    x = DeviceArray(Buffer.borrow(begin + room - 8, 52, device), (13,), np.float32)
    y = DeviceArray.empty((13,), np.float32, device)
    for turn in (1, 2):
        x.copy_from(turn * host)
        aclnn.muls(x, np.float32(2), stream=stream, out=y)
        stream.synchronize()
        assert y.numpy()[0] == 2 * turn
    for part, handle in enumerate(handles):
        call("aclrtUnmapMem", raw.pointer_to(begin + part * room))
        call("aclrtFreePhysical", handle)
    call("aclrtReleaseMemAddress", base)
"""
CAT = """
import numpy as np, pyaclnn
x, y = np.ones((2, 4), np.float32), np.zeros((3, 4), np.float32)
for _ in range(2):
    pyaclnn.aclnn.cat([x, y], 0, out=pyaclnn.Empty((5, 4), x.dtype))
"""
WRONG = """
from pyaclnn import mock

@mock.operator("aclnnMuls")
def muls(self, other):
    return self * other + 1
"""
EVENT = """
import pyaclnn
from pyaclnn.cann.gate import OUT, call, fetch
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    event = fetch("aclrtCreateEventExWithFlag", OUT, 1)
    call("aclrtRecordEvent", event, stream.pointer)
    call("aclrtSynchronizeEvent", event)
    call("aclrtDestroyEvent", event)
"""
TWO_DEVICES = """
import numpy as np, pyaclnn
from pyaclnn import aclnn
for _ in range(2):
    for device in map(pyaclnn.Device, (0, 1)):
        with pyaclnn.Stream(device) as stream:
            x = pyaclnn.to_device(np.ones((4, 4), np.float32), device=device)
            aclnn.muls(x, np.float32(2), stream=stream)
            stream.synchronize()
"""
NEWEST = {"PYACLNN_MOCK_CANN": "9.1"}
FULL = ("--contents", "full")


def records(trace: Path) -> tuple[list[Call], list[Contents]]:
    found = list(read_trace(trace))
    return [r for r in found if isinstance(r, Call)], [r for r in found if isinstance(r, Contents)]


def check(program: str, first: int, count: int, tmp_path: Path) -> None:
    part = capture(tmp_path / f"{first}.trace", program, *FULL, "--calls", f"{first}:", **NEWEST)
    done = pyaclnn("replay", "--exact", part, **NEWEST)
    assert (done.returncode, done.stderr) == (0, ""), (first, done)
    assert re.search(rf" {count} results? compared", done.stdout), (first, done.stdout)
    for words in ("no replayed call has made", "judged by the status only"):
        assert words not in done.stdout, (first, done.stdout)


PROGRAMS = {"graph": GRAPH, "plan": PLAN, "list": CAT, "virtual": VIRTUAL, "devices": TWO_DEVICES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Return a function that captures the whole of a program once."""
    folder = tmp_path_factory.mktemp("whole")
    return functools.cache(lambda name: capture(folder / name, PROGRAMS[name], *FULL, **NEWEST))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("program", "name"),
    [
        # Those of the exhaustive stage need what another call of their program needs.
        pytest.param("graph", "aclmdlRIDestroy", marks=pytest.mark.exhaustive),
        ("graph", "aclmdlRIExecuteAsync"),
        ("graph", "aclrtRecordEvent"),
        pytest.param("graph", "aclnnMuls", marks=pytest.mark.exhaustive),
        pytest.param("plan", "aclSetTensorAddr", marks=pytest.mark.exhaustive),
        ("plan", "aclnnRmsNorm"),
        ("list", "aclnnCat"),
        ("virtual", "aclnnMuls"),
    ],
)
def test_a_part_that_begins_at_a_call_has_what_that_uses(
    program: str, name: str, whole: Whole, tmp_path: Path
) -> None:
    calls, contents = records(whole(program))
    first = [call.number for call in calls if call.name == name][-1]
    count = sum(c.phase == 1 and c.call >= first for c in contents)
    check(PROGRAMS[program], first, count, tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("program", sorted(PROGRAMS.keys() - {"devices"}))  # which polls by time
def test_a_part_that_begins_anywhere_replays_by_itself(
    program: str, whole: Whole, tmp_path: Path
) -> None:
    calls, contents = records(whole(program))
    for first in range(1, len(calls) - 1, 9):
        count = sum(c.phase == 1 and c.call >= first for c in contents)
        check(PROGRAMS[program], first, count, tmp_path)


def test_a_wrong_kernel_is_found_in_a_graph_from_before_the_part(tmp_path: Path) -> None:
    part = capture(tmp_path / "part.trace", GRAPH, *FULL, "--calls", "60:", **NEWEST)
    kernel = tmp_path / "kernel.py"
    kernel.write_text(WRONG)
    done = pyaclnn("replay", part, PYACLNN_MOCK_OPERATORS=str(kernel), **NEWEST)
    assert done.stdout.count("aclmdlRIExecuteAsync aclnnMuls.out[0]: result: recorded") == 6


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("program", "begin", "end"),
    [
        ("graph", "aclmdlRICaptureBegin", "aclmdlRICaptureEnd"),  # ends while a graph is captured
        ("graph", "aclmdlRICaptureEnd", "aclmdlRIDestroy"),
        ("plan", "aclSetTensorAddr", "aclrtResetDevice"),
        ("list", "aclnnCatGetWorkspaceSize", "aclnnCat"),  # ends between the phases
        ("virtual", "aclrtMapMem", "aclrtUnmapMem"),
        ("devices", "aclrtCreateStream", "aclrtDestroyStream"),
    ],
)
def test_a_part_that_ends_early_leaves_nothing_alive_when_it_is_replayed(
    program: str, begin: str, end: str, whole: Whole, tmp_path: Path
) -> None:
    calls, _ = records(whole(program))
    first, last = (next(c.number for c in calls if c.name == name) for name in (begin, end))
    options = (*FULL, "--calls", f"{first}:{last}")
    part = capture(tmp_path / "part", PROGRAMS[program], *options, **NEWEST)
    done = pyaclnn("replay", part, **NEWEST)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert re.match(r"\d+ calls replayed", done.stdout), done.stdout


def without(trace: Path, name: str) -> Path:
    """Write a trace again, without the calls of a function."""
    magic, rest = trace.read_bytes().split(b"\n", 1)
    fresh, numbers = magic + b"\n", set()
    while rest:
        kind, _, stored, _ = struct.unpack_from("<4sQII", rest)
        body, rest = rest[20 : 20 + stored], rest[20 + stored :]
        found = msgspec.msgpack.decode(zlib.decompress(body) if kind == b"BLKz" else body)
        numbers |= {record[1] for record in found if record[0] == 2 and record[2] == name}
        kept = [r for r in found if r[0] != 1 or r[1] not in numbers]
        packed = msgspec.msgpack.encode(kept)
        fresh += struct.pack("<4sQII", b"BLK-", len(packed), len(packed), zlib.crc32(packed))
        fresh += packed
    trace.write_bytes(fresh)
    return trace


def test_calls_on_what_no_call_has_made_are_skipped_and_counted(tmp_path: Path) -> None:
    trace = capture(tmp_path / "run.trace", EVENT)
    complete = pyaclnn("replay", trace)
    assert "no replayed call has made" not in complete.stdout
    report = tmp_path / "report.json"
    done = pyaclnn("replay", without(trace, "aclrtCreateEventExWithFlag"), "--json", report)
    names = ("aclrtDestroyEvent", "aclrtRecordEvent", "aclrtSynchronizeEvent")
    words = f"3 calls skipped whose handles no replayed call has made ({', '.join(names)})"
    assert (done.returncode, words in done.stdout) == (0, True), done
    assert json.loads(report.read_text())["unmade"] == dict.fromkeys(names, 1)


def test_a_machine_with_fewer_devices_takes_the_calls_of_all(tmp_path: Path) -> None:
    two, one = {"PYACLNN_MOCK_DEVICES": "2"}, {"PYACLNN_MOCK_DEVICES": "1"}
    trace = capture(tmp_path / "two.trace", TWO_DEVICES, *FULL, **two)
    done = pyaclnn("replay", trace, **one)
    assert (done.returncode, done.stderr) == (0, "")
    assert ", device 1 replayed on device 0: no divergence" in done.stdout
    assert "device 1" not in pyaclnn("replay", trace, **two).stdout


def test_the_first_call_of_a_trace_may_be_for_a_device_that_the_machine_lacks(
    tmp_path: Path,
) -> None:
    program = """
from pyaclnn.cann import raw
assert raw.aclInit(raw.NULL) == raw.aclrtSetDevice(1) == raw.aclrtResetDevice(1) == 0
"""
    trace = capture(tmp_path / "two.trace", program, PYACLNN_MOCK_DEVICES="2")
    done = pyaclnn("replay", without(trace, "aclInit"), PYACLNN_MOCK_DEVICES="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert ", device 1 replayed on device 0: no divergence" in done.stdout
