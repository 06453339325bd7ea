# SPDX-License-Identifier: Apache-2.0
"""An input whose bytes are known is not copied again; after every way to write it, it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.capture.contents import BEFORE
from pyaclnn.capture.functions import recorded
from pyaclnn.capture.roles import roles
from pyaclnn.capture.trace import Contents, read_trace

from .captured import pyaclnn

if TYPE_CHECKING:
    from pathlib import Path

NEWEST = {"PYACLNN_MOCK_CANN": "9.1"}
PROGRAM = """
import ctypes, json, sys, threading
import numpy as np
import pyaclnn
from pyaclnn import aclnn
from pyaclnn.capture.library import recorder
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer

copies = ctypes.CDLL(str(recorder())).capture_copies
copies.restype = ctypes.c_uint64
BYTES, TO_DEVICE, ON_DEVICE = 64, 1, 3
device = pyaclnn.Device(0).__enter__()
stream, other = (pyaclnn.Stream(device).__enter__() for _ in range(2))

def at(address):
    return raw.pointer_to(address)

def array(address, size=16, dtype=np.float32):
    return DeviceArray(Buffer.borrow(address, 4 * size, device), (size,), dtype)

def allocate(value, size=16):
    place = raw.address_of(fetch("aclrtMalloc", OUT, 4 * size, 0))
    fill(place, value, size)
    return place

def fill(place, value, size=16):
    host = np.full(size, value, np.float32)
    call("aclrtMemcpy", at(place), 4 * size, raw.ffi.from_buffer(host), 4 * size, TO_DEVICE)

def double(source, target, on=stream):
    aclnn.muls(array(source), np.float32(2), stream=on, out=array(target))

seven = np.full(16, 7, np.float32)
pinned = pyaclnn.pinned_empty((16,), np.float32, device)
pinned[...] = seven
host, pinned_at = raw.ffi.from_buffer(seven), raw.ffi.from_buffer(pinned)
source, result = allocate(3.5), allocate(0)
filled = allocate(7)

def nothing(x): pass
def wait(x): stream.synchronize()
def operator(x): double(source, x)
def operator_in_place(x):
    aclnn.inplace_muls(array(x), np.float32(7 / 3), stream=stream)
def operator_on_a_part(x):
    aclnn.muls(array(source, 4), np.float32(2), stream=stream, out=array(x + 16, 4))
def copy(x):
    "after its readers"
    call("aclrtMemcpy", at(x), BYTES, host, BYTES, TO_DEVICE)
def copy_on_the_device(x):
    call("aclrtMemcpyAsync", at(x), BYTES, at(filled), BYTES, ON_DEVICE, stream.pointer)
def asynchronous_copy(x):
    call("aclrtMemcpyAsync", at(x), BYTES, pinned_at, BYTES, TO_DEVICE, stream.pointer)
def copy_of_a_part(x):
    call("aclrtMemcpyAsync", at(x + 60), 4, pinned_at, 4, TO_DEVICE, stream.pointer)
def copy_in_two_dimensions(x):
    "after its readers"
    call("aclrtMemcpy2d", at(x), 8, host, 8, 4, 8, TO_DEVICE)
def asynchronous_copy_in_two_dimensions(x):
    call("aclrtMemcpy2dAsync", at(x), 8, at(filled), 8, 4, 8, ON_DEVICE, stream.pointer)
def memset(x):
    "after its readers"
    call("aclrtMemset", at(x), BYTES, 1, BYTES)
def asynchronous_memset(x): call("aclrtMemsetAsync", at(x), BYTES, 1, BYTES, stream.pointer)
def free(x):
    "after its readers"
    call("aclrtFree", at(x))
    assert allocate(7) == x
def value(x): call("aclrtValueWrite", at(x & ~7), 1, 0, stream.pointer)
def another_stream(x):
    "after its readers"
    double(source, x, other)
    other.synchronize()
def graph(x):
    call("aclmdlRICaptureBegin", stream.pointer, 2)
    double(source, x)
    model = fetch("aclmdlRICaptureEnd", stream.pointer, OUT)
    call("aclmdlRIExecuteAsync", model, stream.pointer)
    stream.synchronize()
def unknown_function(x): ctypes.CDLL("libruntime.so").rtLaunch(None)

found = {}
def run(name, write, x, before=nothing):
    before(x)
    counts = []
    for change in (nothing, nothing, write):
        if "after its readers" in (change.__doc__ or ""):
            stream.synchronize()
        change(x)
        begin = copies()
        double(x, result)
        counts.append(copies() - begin)
    stream.synchronize()
    there = array(x).numpy()
    found[name] = (x, counts, there.tolist())

for write in (nothing, wait, operator, operator_in_place, operator_on_a_part, copy,
              copy_on_the_device, asynchronous_copy, copy_of_a_part, copy_in_two_dimensions,
              asynchronous_copy_in_two_dimensions, memset,
              asynchronous_memset, free, value, another_stream, graph,
              unknown_function):
    run(write.__name__, write, allocate(3))

# Queued before the first look, it writes after the second.
late, flag = allocate(3), threading.Event()
other.launch_host_func(flag.wait)
double(source, late, other)
def let_write(x):
    stream.synchronize()
    flag.set()
    other.synchronize()
run("late", let_write, late)

# Two addresses of the same memory.
x = allocate(3)
key = raw.ffi.new("char[65]")
call("aclrtIpcMemGetExportKey", at(x), BYTES, key, 65, 1)
alias = raw.address_of(fetch("aclrtIpcMemImportByKey", OUT, key, 0))
run("exported", lambda x: double(source, alias), x)
prop = raw.ffi.new("aclrtPhysicalMemProp *")
prop.memAttr = raw.ACL_HBM_MEM_HUGE
prop.location.type = 1
room = 2 << 20
base = raw.address_of(fetch("aclrtReserveMemAddress", OUT, 2 * room, 0, raw.NULL, 1))
half = fetch("aclrtMallocPhysical", OUT, room, prop, 0)
for place in (base, base + room):
    call("aclrtMapMem", at(place), room, 0, half, 0)
fill(base, 3)
run("mapped", lambda x: double(source, base + room), base)
print(json.dumps(found))
"""
NEVER = {"exported", "mapped", "late"}
"""Memory that something writes whose calls do not name it, or that a stream may still write."""
NO_WRITE = {"nothing", "wait"}
RESULTS = {"operator", "operator_in_place", "graph"}
"""Writes whose results are recorded, and known by that."""


def test_every_way_to_write_memory_makes_its_bytes_unknown(tmp_path: Path) -> None:
    trace, program = tmp_path / "run.trace", tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = pyaclnn("capture", "-o", trace, "--contents", "full", "--", "python", program, **NEWEST)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    counts = {name: copies for name, (_, copies, _) in found.items()}
    expected = {n: [2, 1, 1 if n in NO_WRITE | RESULTS else 2] for n in found}
    assert counts == expected | {name: [2, 2, 2] for name in NEVER}
    inputs: dict[int, list[bytes]] = {}
    for record in read_trace(trace):
        if isinstance(record, Contents) and record.phase == BEFORE and record.name == "self":
            inputs.setdefault(record.begin, []).append(record.data or b"")
    three = np.full(16, 3, np.float32).tobytes()
    for name, (address, _, there) in found.items():
        own = inputs[address][-3:]
        assert own == [three, three, np.array(there, np.float32).tobytes()], name
        assert (own[2] == three) == (name in {*NO_WRITE, "unknown_function"}), name


def test_what_is_called_harmless_is_declared() -> None:
    words = {"harmless", "writes", "allocates", "frees"}
    named = {name for name, (role, _) in roles().items() if role & words}
    without = {name for name in named if not getattr(recorded(name), "parameters", None)}
    assert without == {"aclrtGetSocName", "aclrtSynchronizeDevice", "aclGetRecentErrMsg"}
    suspicious = ("Launch", "Export", "Import", "Register", "Ipc", "Async", "Callback")
    assert [n for n in named if any(w in n for w in suspicious)] == []
