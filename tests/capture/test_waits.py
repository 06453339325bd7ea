# SPDX-License-Identifier: Apache-2.0
"""A capture waits for nothing that its program does not wait for, and reads nothing it may not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyaclnn.capture.contents import AFTER, OF_HOST
from pyaclnn.capture.trace import Absent, Call, Contents, Record, read_trace

from .captured import capture, pyaclnn

if TYPE_CHECKING:
    from pathlib import Path

NEWEST = {"PYACLNN_MOCK_CANN": "9.1"}
BEGIN = """
import threading, numpy as np, pyaclnn
from pyaclnn import aclnn
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.cann.library import function
from pyaclnn.runtime.array import DeviceArray
flag = threading.Event()
def array(value, size, device):
    made = DeviceArray.empty((size,), np.float32, device)
    made.copy_from(np.full(size, value, np.float32))
    return made
def double(x, stream):
    y = DeviceArray.empty(x.shape, np.float32, x.device)
    aclnn.muls(x, np.float32(2), stream=stream, out=y)
    return y
"""
BLOCKED = """
device = pyaclnn.Device(0)
with device, pyaclnn.Stream(device) as stream, pyaclnn.Stream(device) as other:
    x = array(3, {size}, device)
    stream.launch_host_func(flag.wait)
    y = double(x, stream)
    {meanwhile}
    flag.set()
    stream.synchronize()
    print(y.numpy()[0])
flag.clear()
"""
MEANWHILE = (
    'call("aclrtFree", fetch("aclrtMalloc", OUT, 64, 0))',
    'call("aclrtFreeHost", fetch("aclrtMallocHost", OUT, 64))',
    'call("aclrtDestroyStream", fetch("aclrtCreateStream", OUT))',
    "big = array(1, 3 << 20, device); [double(big, other) for _ in range(3)]",
)


def calls(trace: Path) -> list[Call]:
    return [record for record in read_trace(trace) if isinstance(record, Call)]


def contents(trace: Path) -> list[Contents]:
    return [record for record in read_trace(trace) if isinstance(record, Contents)]


@pytest.fixture(scope="module", params=["hash", "full"])
def blocked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[Contents]:
    """Return the contents of a program whose work waits for each of `MEANWHILE`."""
    parts = [BLOCKED.format(size=16 + n, meanwhile=each) for n, each in enumerate(MEANWHILE)]
    trace = tmp_path_factory.mktemp("blocked") / "run.trace"
    return contents(capture(trace, "".join([BEGIN, *parts]), "--contents", request.param, **NEWEST))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_work_that_waits_for_the_program_does_not_stop_it(
    meanwhile: str, blocked: list[Contents]
) -> None:
    size = 16 + MEANWHILE.index(meanwhile)
    (result,) = (c for c in blocked if c.phase == AFTER and c.shape == (size,))
    assert result.size == 4 * size


TWO_DEVICES = """
import time
default = [pyaclnn.Stream.default(pyaclnn.Device(number)) for number in (0, 1)]
x = [array(10 + number, 16 + number, stream.device) for number, stream in enumerate(default)]
slow = raw.ffi.callback("void(void *)", lambda _: time.sleep(1))
call("aclrtSetDevice", 0)
call("aclrtLaunchHostFunc", raw.NULL, slow, raw.NULL)
y = [double(*each) for each in zip(x, default)]
{wait}
default[0].synchronize()
print([each.numpy()[0] for each in y])
"""
ONE = "default[1].synchronize()"
DEVICE = 'call("aclrtSetDevice", 1); call("aclrtSynchronizeDevice")'
NONE = """
def fail():
    assert function("aclrtSynchronizeStream")(raw.NULL) == 107002
thread = threading.Thread(target=fail)
thread.start()
thread.join()
default[1].synchronize()
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("wait", [ONE, DEVICE, NONE])
def test_a_wait_takes_the_copies_of_its_own_context(wait: str, tmp_path: Path) -> None:
    program = BEGIN + TWO_DEVICES.replace("{wait}", wait)
    trace = capture(tmp_path / "run.trace", program, "--contents", "full", **NEWEST)
    found = {c.shape: c.data[:4] for c in contents(trace) if c.phase == AFTER and c.data}
    assert found == {(16,): b"\0\0\xa0\x41", (17,): b"\0\0\xb0\x41"}  # 20 and 22


COPIES = """
device = pyaclnn.Device(0)
x = array(3, 16, device)
place, host = raw.pointer_to(x.address), np.ones(16, np.float32)
at = raw.ffi.from_buffer(host)
copy = function("aclrtMemcpy")
print(copy(place, 64, at, 1 << 40, 1), copy(place, 64, place, 64, 1), copy(place, 64, at, 64, 1))
"""


@pytest.mark.parametrize("policy", ["hash", "full"])
def test_a_copy_that_cann_refuses_or_the_host_cannot_read_is_not_read(
    policy: str, tmp_path: Path
) -> None:
    trace = capture(tmp_path / "run.trace", BEGIN + COPIES, "--contents", policy)
    records = list(read_trace(trace))
    copies = [r for r in records if isinstance(r, Call) and r.name == "aclrtMemcpy"]
    refused, device, host = copies[-3:]
    assert (refused.status, device.status, host.status) == (107000, 0, 0)
    of_host = [r.call for r in records if isinstance(r, Contents) and r.phase == OF_HOST]
    assert of_host[-1] == host.number
    assert not {refused.number, device.number} & {*of_host}
    (absent,) = (r for r in records if isinstance(r, Absent))
    assert (absent.call, absent.reason) == (device.number, "no memory that the host can read")


CLOSES = """
import _ctypes, ctypes, os, signal, sys, threading
def work():
    cann = ctypes.CDLL("libascendcl.so")
    assert cann.aclInit(None) == 0
    _ctypes.dlclose(cann._handle)
thread = threading.Thread(target=work)
thread.start()
thread.join()
if os.fork() == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_program_may_close_cann(tmp_path: Path) -> None:
    trace = tmp_path / "run.trace"
    done = pyaclnn("capture", "-o", trace, "--", sys.executable, "-c", CLOSES)
    assert (done.stdout, done.returncode) == ("0\n", 128 + 15)


MISSING = """
device = pyaclnn.Device(0)
with device, pyaclnn.Stream(device) as stream:
    row = array(3, 8, device)
    def expanded(rows):
        return DeviceArray(row.buffer, (rows, 8), np.float32, strides=(0, 4))
    for x in expanded(4), expanded(8192), DeviceArray.empty((17 << 20,), np.float32, device):
        double(x, stream)
    stream.synchronize()
"""


def test_contents_are_recorded_or_their_absence_is(tmp_path: Path) -> None:
    records: list[Record] = list(read_trace(capture(tmp_path / "run.trace", BEGIN + MISSING)))
    calls = [r.number for r in records if isinstance(r, Call) and r.name == "aclnnMuls"]
    few, many, large = calls
    whole = [r for r in records if isinstance(r, Contents) and r.call in calls]
    found = {(r.call, r.name): r.size for r in whole}
    assert found == {(few, "self"): 128, (few, "out"): 128, (many, "out"): 8192 * 32}
    absent = {(r.call, r.name, r.phase): r.reason for r in records if isinstance(r, Absent)}
    assert absent == {
        (many, "self", 0): "too many elements that overlap",
        (large, "self", 0): "too large",
        (large, "out", 1): "too large",
    }


def test_what_was_not_recorded_is_not_judged(tmp_path: Path) -> None:
    trace = capture(tmp_path / "run.trace", BEGIN + MISSING, "--contents", "full")
    done = pyaclnn("replay", trace)
    assert done.returncode == 0, done.stdout
    assert "1 result compared, 2 not comparable (contents were not recorded, " in done.stdout
    _, many, _ = (c.number for c in calls(trace) if c.name == "aclnnMuls")
    done = pyaclnn("trace", "test", trace, many)
    assert done.returncode == 2
    assert "of self were not recorded: too many elements that overlap" in done.stderr


EVENTS = """
device = pyaclnn.Device(0)
with device, pyaclnn.Stream(device) as stream:
    big, small = array(1, 3 << 20, device), array(3, 16, device)
    event = fetch("aclrtCreateEventExWithFlag", OUT, 1)
    stream.launch_host_func(flag.wait)
    kept = [double(big, stream)]
    flag.set()
    for _ in range(2500):
        kept.append(double(small, stream))
    call("aclrtRecordEvent", event, stream.pointer)
    call("aclrtSynchronizeEvent", event)
    print(len(kept))
"""


@pytest.mark.exhaustive
def test_a_program_that_waits_for_events_alone_loses_no_contents(tmp_path: Path) -> None:
    records = list(read_trace(capture(tmp_path / "run.trace", BEGIN + EVENTS, **NEWEST)))
    found = {r.call for r in records if isinstance(r, Contents) and r.phase == AFTER}
    operators = {r.number for r in records if isinstance(r, Call) and r.name == "aclnnMuls"}
    assert len(operators) == 2501
    assert found == operators
    assert not [record for record in records if isinstance(record, Absent)]
