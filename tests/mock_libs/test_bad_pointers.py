# SPDX-License-Identifier: Apache-2.0
"""Sizes that wrap, memory with holes, overruns, foreign addresses: refused, written down, no crash.

Each case is a process of its own, which a crash would end.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .programs import Programs

START = """
import ctypes, json
from pyaclnn import mock
call("aclrtSetDevice", 0)
top = 2**64
a, b = ffi.new("char[]", 65536), ffi.new("char[]", 65536)
d = device_memory(4096)
"""
END = """
rules = [violation.rule for violation in mock.violations()]
if isinstance(code, ffi.CData):
    code = "NULL" if code == NULL else "a handle"
print(json.dumps([code, rules]))
import os; sys.stdout.flush(); os._exit(0)
"""
HOLE = """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
three = libc.mmap(None, 3 * part, 3, 0x22, -1, 0)
parts = ffi.cast("char *", three)
big = device_memory(3 * part)
"""
UNMAPPED = f"{HOLE}libc.munmap(three + part, part)\n"
GUARDED = f"{HOLE}libc.mprotect(three + part, part, 0)\n"
READ_ONLY = f"{HOLE}libc.mprotect(three + part, part, 1)\n"
SHORT_FILE = f"""{HOLE}import os
file = os.memfd_create("short")
os.ftruncate(file, part)
libc.mmap(three + part, 2 * part, 3, 0x11, file, 0)
"""
OUT = "code = lib.aclrtMemcpy(big, 3 * part, parts, 3 * part, 1)"
INTO = "code = lib.aclrtMemcpy(parts, 3 * part, big, 3 * part, 2)"
HOLES = {
    "a copy out of host memory with a hole": (UNMAPPED, OUT, 107000),
    "a copy out of host memory with a guard page": (GUARDED, OUT, 107000),
    "a copy into host memory with a page that is read only": (READ_ONLY, INTO, 107000),
    "a copy out of host memory with a page that is read only": (READ_ONLY, OUT, 0),
    "a copy out of a file that is shorter": (SHORT_FILE, OUT, 107000),
}
ARRAY = """
values = ffi.new("int64_t[]", [8] * 600000)
array = lib.aclCreateIntArray(values, 600000)
dims = ffi.new("int64_t[]", [2, 8])
t = lib.aclCreateTensor(dims, 2, 0, NULL, 0, 2, dims, 2, d)
size, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor **")
"""
CONFIGURATION = "h = lib.aclrtCreateStreamConfigHandle()\n"

CASES = {
    "a copy whose size wraps": ("code = lib.aclrtMemcpy(a + 100, top - 1, b + 100, top - 50, 0)",
        107000, ["host-memory-invalid"]),
    "a fill whose size wraps": ("code = lib.aclrtMemset(a + 100, top - 1, 0, top - 50)",
        107000, ["host-memory-invalid"]),
    "a rectangle whose height wraps": ("code = lib.aclrtMemcpy2d(d, 64, a, 64, 64, 2**58, 1)",
        107000, ["copy-out-of-bounds"]),
    "a fill beyond a pinned block": ("p = pinned(32)\ncode = lib.aclrtMemset(p, 64, 7, 64)",
        107000, ["copy-out-of-bounds"]),
    "a fill of the padding of a pinned block": (
        "p = pinned(33)\ncode = lib.aclrtMemset(p, 34, 7, 34)", 107000, ["copy-out-of-bounds"]),
    "a fill of the padding of a device block": (
        "p = device_memory(4)\ncode = lib.aclrtMemset(p, 64, 7, 64)", 0, ["copy-out-of-bounds"]),
    "a copy out of the padding of a device block": (
        "p = device_memory(4)\ncode = lib.aclrtMemcpy(ffi.new('char[64]'), 64, p, 64, 2)", 0, []),
    "a fill beyond the padding of a device block": (
        "p = device_memory(4)\ncode = lib.aclrtMemset(p, 65, 7, 65)",
        107000, ["copy-out-of-bounds"]),
    "a queued copy beyond a pinned block": (
        "p = pinned(64)\ncode = lib.aclrtMemcpyAsync(p, 4096, d, 4096, 2, NULL)",
        107000, ["copy-out-of-bounds"]),
    "a configuration destroyed twice": (
        (f"{CONFIGURATION}lib.aclrtDestroyStreamConfigHandle(h)\n"
        "code = lib.aclrtDestroyStreamConfigHandle(h)"), 100000, ["destroyed-twice"]),
    "a stream of a destroyed configuration": (
        (f"{CONFIGURATION}lib.aclrtDestroyStreamConfigHandle(h)\n"
        "code = lib.aclrtCreateStreamV2(ffi.new('void **'), h)"), 100000, ["handle-destroyed"]),
    "a destroyed configuration is changed": (
        (f"{CONFIGURATION}lib.aclrtDestroyStreamConfigHandle(h)\n"
        "code = lib.aclrtSetStreamConfigOpt(h, 2, a, 8)"), 100000, ["handle-destroyed"]),
    "a configuration out of nowhere": (
        "code = lib.aclrtDestroyStreamConfigHandle(ffi.cast('aclrtStreamConfigHandle *', a))",
        100000, ["handle-unknown"]),
    "an option of a stream on the device": (
        f"{CONFIGURATION}code = lib.aclrtSetStreamConfigOpt(h, 2, d, 8)",
        100000, ["device-address-on-host"]),
    "a scalar on the device": ("code = lib.aclCreateScalar(d, 0)",
        "NULL", ["device-address-on-host"]),
    "an array on the device": ("code = lib.aclCreateIntArray(ffi.cast('int64_t *', d), 1)",
        "NULL", ["device-address-on-host"]),
    "dimensions on the device": (
        ("at = ffi.cast('int64_t *', d)\n"
        "code = lib.aclCreateTensor(at, 1, 0, NULL, 0, 2, at, 1, d)"),
        "NULL", ["device-address-on-host"]),
    "a result on the device": ("code = lib.aclrtMalloc(ffi.cast('void **', d), 64, 0)",
        100000, ["device-address-on-host"]),
    "a string on the device": ("code = lib.aclInit(ffi.cast('char *', d))",
        100000, ["device-address-on-host"]),
    "an array of more elements than there can be": (
        "code = lib.aclCreateIntArray(ffi.new('int64_t[]', 2), 2**61)", "NULL", []),
    "an argument that is too long to send": (
        (f"{ARRAY}code = lib.aclnnLayerNormGetWorkspaceSize(\n"
        "    t, array, NULL, NULL, 1e-5, t, NULL, NULL, size, executor)\n"
        "assert 'normalizedShape' in message()\ncall('aclrtSynchronizeDevice')"), 161002, []),
}  # fmt: skip


# The kernel is asked in another way about a range of many pages.
@pytest.mark.sampled(1)
@pytest.mark.parametrize("part", [4096, 1 << 20])
@pytest.mark.parametrize("name", HOLES)
def test_a_range_is_looked_at_as_a_whole(programs: Programs, name: str, part: int) -> None:
    memory, code, answer = HOLES[name]
    result = programs.python(f"{START}part = {part}\n{memory}{code}\n{END}")
    assert result.stdout, result.stderr
    assert json.loads(result.stdout) == [answer, ["host-memory-invalid"] if answer else []]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_and_told(programs: Programs, name: str) -> None:
    code, answer, rules = CASES[name]
    result = programs.python(f"{START}{code}\n{END}")
    assert result.stdout, result.stderr
    assert json.loads(result.stdout) == [answer, rules]


def test_nothing_of_an_overrun_is_written(programs: Programs) -> None:
    result = programs.python(
        f"{START}p = pinned(32)\nlib.aclrtMemset(p, 32, 1, 32)\nlib.aclrtMemset(p, 64, 7, 64)\n"
        "print(bytes(ffi.buffer(p, 32)) == bytes([1]) * 32)"
    )
    assert result.stdout == "True\n", result.stderr
