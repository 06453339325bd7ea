# SPDX-License-Identifier: Apache-2.0
"""An input whose bytes are known is not copied again; after every way to write it, it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.capture.contents import BEFORE
from pyaclnn.capture.functions import recorded
from pyaclnn.capture.roles import roles
from pyaclnn.capture.trace import Contents, read_trace

from .captured import pyaclnn

if TYPE_CHECKING:
    from pathlib import Path

NEWEST = {"PYACLNN_MOCK_CANN": "9.1"}
PROGRAM = """
import ctypes, json, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import pyaclnn
from pyaclnn import aclnn, mock
from pyaclnn.capture.library import recorder
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.cann.library import function
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer

copies = ctypes.CDLL(str(recorder())).capture_copies
copies.restype = ctypes.c_uint64
BYTES, TO_DEVICE, ON_DEVICE, FLOAT, FLOAT16, ND, NZ = 64, 1, 3, 0, 1, 2, 29
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

def queue(of):
    return ctypes.c_void_p(raw.address_of(of.pointer))

def tensor(address, form, *storage):
    "4 rows of 4 numbers of two bytes"
    dims, strides, stored = (raw.ffi.new("int64_t[]", v) for v in ((4, 4), (4, 1), storage))
    return function("aclCreateTensor")(dims, 2, FLOAT16, strides, 0, form, stored, len(storage),
                                       at(address))

def launch(name, *arguments):
    size, executor = raw.ffi.new("uint64_t *"), raw.ffi.new("aclOpExecutor **")
    assert function(name + "GetWorkspaceSize")(*arguments, size, executor) == 0
    assert function(name)(at(allocate(0, 4096)), size[0], executor[0], stream.pointer) == 0

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
def guessed_operator(x):
    "on other memory, as far as its name says"
    mask = DeviceArray(Buffer.borrow(filled, 16, device), (16,), np.uint8)
    aclnn.masked_scale(array(source), mask, 2.0, stream=stream, out=array(result))
def private_format(x):
    "whose padding is written, far behind its 16 elements"
    launch("aclnnNpuFormatCast", tensor(filled, ND, 16), tensor(x - 256, NZ, 1, 1, 16, 16))
def weight_in_place(x):
    "to a private format that its descriptor does not have yet"
    launch("aclnnTransMatmulWeight", tensor(x - 256, ND, 256))
def collective(x):
    operands = (ctypes.c_void_p(source), ctypes.c_void_p(x), ctypes.c_uint64(16), 4, 0)
    assert hccl.HcclAllReduce(*operands, comm, queue(stream)) == 0
def failing_stream(x):
    "after which memory may be anything"
    with mock.faults("aclnnMuls=async:507015"):
        double(source, x)
    try:
        stream.synchronize()
    except pyaclnn.AclError:
        return
    raise AssertionError
def another_thread(x):
    "after its readers"
    def work():
        double(source, x, other)
        other.synchronize()
    in_thread(work).result()
def unknown_function(x): ctypes.CDLL("libruntime.so").rtLaunch(None)

in_thread = ThreadPoolExecutor(1).submit
cann = ctypes.CDLL("libascendcl.so")
hccl, comm = ctypes.CDLL("libhccl.so"), ctypes.c_void_p()
assert hccl.HcclCommInitAll(1, (ctypes.c_int32 * 1)(0), ctypes.byref(comm)) == 0

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
              asynchronous_memset, free, value, another_stream, another_thread, graph,
              guessed_operator, collective, failing_stream, unknown_function):
    run(write.__name__, write, allocate(3))
for write in private_format, weight_in_place:
    run(write.__name__, write, allocate(3, 256) + 256)

# Memory that the host writes without a call.
registered = ctypes.CDLL(None).aligned_alloc
registered.restype = ctypes.c_void_p
registered = registered(4096, 4096)
shared = {"registered": fetch("aclrtHostRegister", at(registered), 4096, 0, OUT),
          "managed": fetch("aclrtMemAllocManaged", OUT, BYTES, 1)}
for name, memory in shared.items():
    x = raw.address_of(memory)
    here = registered if name == "registered" else x
    ctypes.memset(here, 0, BYTES)
    run(name, lambda _: (stream.synchronize(), ctypes.memset(here, 1, BYTES)), x,
        lambda x: np.frombuffer((ctypes.c_float * 16).from_address(here), np.float32).fill(3))

# Queued before the first look, it writes after the second.
HELD = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def hold():
    "the other stream, by a call that lends no memory"
    flag = threading.Event()
    flag.function = HELD(lambda _: flag.wait(300))
    assert cann.aclrtLaunchHostFunc(queue(other), flag.function, None) == 0
    return flag
def let(flag):
    def change(x):
        stream.synchronize()
        flag.set()
        other.synchronize()
    return change
flag, late = hold(), allocate(3)
double(source, late, other)
run("late", let(flag), late)

# A wait that begins before the write is given to the stream, and ends before it is done.
first, begins = hold(), threading.Event()
waits = in_thread(lambda: (begins.set(), cann.aclrtSynchronizeStream(queue(other))))
begins.wait()
time.sleep(0.2)
second, late = hold(), allocate(3)
double(source, late, other)
first.set()
waits.result()
run("late_wait", let(second), late)

# A call of another thread that may write anything, until it returns.
reporter = ctypes.c_uint64(in_thread(threading.get_ident).result())
assert cann.aclrtSubscribeReport(reporter, queue(other)) == 0
assert cann.aclrtSynchronizeStream(queue(other)) == 0
reports = in_thread(lambda: cann.aclrtProcessReport(3000))
time.sleep(0.2)
run("call_on_its_way", lambda x: reports.result(), allocate(3))
assert cann.aclrtUnSubscribeReport(reporter, queue(other)) == 0

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
NEVER = {"exported", "mapped", "late", "late_wait", "call_on_its_way", "registered", "managed"}
"""Memory that something writes whose calls do not name it, or that a stream may still write."""
NO_WRITE = {"nothing", "wait"}
RESULTS = {"operator", "operator_in_place", "graph", "collective"}
"""Writes whose results are recorded, and known by that."""
MAY_WRITE = {"unknown_function", "guessed_operator", "failing_stream", "call_on_its_way"}
"""Calls after which bytes are unknown although nothing has written them."""


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
        assert (own[2] == three) == (name in NO_WRITE | MAY_WRITE), name


MANY = """
import ctypes, sys
import numpy as np, pyaclnn
from pyaclnn import aclnn
from pyaclnn.capture.library import recorder

copies = ctypes.CDLL(str(recorder())).capture_copies
copies.restype = ctypes.c_uint64
count, elements = map(int, sys.argv[1:])
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    host = np.ones(elements, np.float32)
    arrays = [pyaclnn.to_device(host, device) for _ in range(count)]
    out = pyaclnn.to_device(host, device)
    for _ in range(2):
        begin = copies()
        for x in arrays:
            aclnn.muls(x, np.float32(2), stream=stream, out=out)
            stream.synchronize()
        print(copies() - begin)
"""
MIB = 1 << 18
"""Elements."""


@pytest.mark.parametrize(
    ("count", "elements", "again"),
    [
        pytest.param(9, 5 * MIB, 9, id="more-than-one-arena-has"),
        pytest.param(
            17, 15 * MIB, 34, id="more-than-all-arenas-have", marks=pytest.mark.exhaustive
        ),
        pytest.param(2, 17 * MIB, 4, id="each-larger-than-a-place"),
    ],
)
def test_large_inputs_are_known_as_far_as_memory_for_their_bytes_goes(
    count: int, elements: int, again: int, tmp_path: Path
) -> None:
    trace, program = tmp_path / "run.trace", tmp_path / "program.py"
    program.write_text(MANY)
    done = pyaclnn("capture", "-o", trace, "--", "python", program, count, elements)
    assert (done.stdout, done.stderr) == (f"{2 * count}\n{again}\n", "")
    found = [r for r in read_trace(trace) if isinstance(r, Contents) and r.name != "src"]
    assert len(found) == 4 * count


def test_what_is_called_harmless_is_declared() -> None:
    words = {"harmless", "writes", "allocates", "frees"}
    named = {name for name, (role, _) in roles().items() if role & words}
    without = {name for name in named if not getattr(recorded(name), "parameters", None)}
    assert without == {"aclrtGetSocName", "aclrtSynchronizeDevice", "aclGetRecentErrMsg"}
    suspicious = ("Launch", "Export", "Import", "Register", "Ipc", "Async", "Callback")
    assert [n for n in named if any(w in n for w in suspicious)] == []
