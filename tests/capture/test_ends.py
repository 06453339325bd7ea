# SPDX-License-Identifier: Apache-2.0
"""A trace ends with the call that has not returned, whatever ends its process."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from pyaclnn.capture.trace import Call, Ended, Record, Unreturned, read_trace

from .captured import capture, pyaclnn

if TYPE_CHECKING:
    from pathlib import Path

FATAL = [
    *("HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "USR1", "SEGV", "USR2", "PIPE"),
    *("ALRM", "TERM", "STKFLT", "XCPU", "XFSZ", "VTALRM", "PROF", "IO", "PWR", "SYS"),
    *("RTMIN", "RTMAX"),
]
"""The signals whose default action is to end the process, of signal(7), without SIGKILL."""
NUMBERS = {name: int(getattr(signal, f"SIG{name}", 16)) for name in FATAL}
"""Python 3.10 has no name for STKFLT, which is 16."""
BEGIN = f"""
import ctypes, os, signal, sys, time
for number in {[*NUMBERS.values()]}:  # whatever is ignored around the tests
    signal.signal(number, signal.SIG_DFL)
cann, base = ctypes.CDLL("libascendcl.so"), ctypes.CDLL("libnnopbase.so")
assert cann.aclInit(None) == 0
assert cann.aclrtSetDevice(0) == 0
"""
CRASHES = """
crash = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: os.kill(os.getpid(), signal.SIGSEGV))
assert cann.aclrtLaunchHostFunc(None, crash, None) == 0
cann.aclrtSynchronizeStream(None)
"""
REFUSED = """
bad = ctypes.c_void_p(8)
print(base.aclCreateTensor((ctypes.c_int64 * 2)(2, 2), 2, 0, bad, 0, 2, bad, 2, None))
"""
HANGS = """
blocked = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: time.sleep(100))
assert cann.aclrtLaunchHostFunc(None, blocked, None) == 0
cann.aclrtSynchronizeStream(None)
"""
QUIET = "time.sleep(100)"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", FATAL)
def test_a_signal_ends_the_trace_and_the_program_as_ever(number: str, tmp_path: Path) -> None:
    trace, ends = tmp_path / "run.trace", NUMBERS[number]
    program = BEGIN + f"os.kill(os.getpid(), {ends})"
    done = pyaclnn("capture", "-o", trace, "--", sys.executable, "-c", program)
    assert done.returncode == 128 + ends
    assert list(read_trace(trace))[-1] == Ended(ends)
    assert pyaclnn("trace", "show", trace).stdout.endswith(f"ended by SIG{number}\n")


def test_the_call_that_crashed_is_named(tmp_path: Path) -> None:
    trace = tmp_path / "run.trace"
    program = (sys.executable, "-c", BEGIN + CRASHES)
    done = pyaclnn("capture", "-o", trace, "--", *program, PYACLNN_MOCK_CANN="9.1")
    assert done.returncode == 128 + signal.SIGSEGV
    records = list(read_trace(trace))
    assert records[-1] == Ended(signal.SIGSEGV)
    (found,) = (r for r in records if isinstance(r, Unreturned))
    assert (found.number, found.name, found.thread) == (2, "aclrtSynchronizeStream", 1)
    shown = pyaclnn("trace", "show", trace).stdout.splitlines()
    assert "not returned: call 2 aclrtSynchronizeStream of thread 1" in shown


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("program", "unreturned"), [(QUIET, []), (HANGS, ["aclrtSynchronizeStream"])]
)
def test_a_kill_leaves_all_but_the_last_moment(
    program: str, unreturned: list[str], tmp_path: Path
) -> None:
    trace = tmp_path / "run.trace"
    environment = {**os.environ, "PYACLNN_BACKEND": "mock", "PYACLNN_MOCK_CANN": "9.1"}
    command = [sys.executable, "-m", "pyaclnn", "capture", "-o", str(trace), "--"]
    command += [sys.executable, "-c", BEGIN + program]
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    records: list[Record] = []
    until = time.monotonic() + 300
    try:
        while time.monotonic() < until and len(records) < 4 + len(unreturned):
            time.sleep(0.2)
            records = list(read_trace(trace)) if trace.exists() else []
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    names = [r.name for r in records if isinstance(r, Call)]
    assert names[:2] == ["aclInit", "aclrtSetDevice"]
    assert [r.name for r in records if isinstance(r, Unreturned)] == unreturned


def test_a_wrong_address_that_cann_refuses_is_not_read(tmp_path: Path) -> None:
    trace = tmp_path / "run.trace"
    done = pyaclnn("capture", "-o", trace, "--", sys.executable, "-c", BEGIN + REFUSED)
    assert (done.returncode, done.stdout) == (0, "0\n")
    (call,) = (r for r in read_trace(trace) if isinstance(r, Call) and r.name == "aclCreateTensor")
    assert (call.numbers("viewDims"), call.numbers("stride")) == ((2, 2), ())


ON_A_SMALL_STACK = """
import mmap, resource
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
size, bytes_of_stack = mmap.PAGESIZE, 8192
memory = libc.mmap(None, ctypes.c_size_t(size + bytes_of_stack), 3, 0x22, -1, ctypes.c_long(0))
assert libc.mprotect(ctypes.c_void_p(memory), ctypes.c_size_t(size), 0) == 0

class Stack(ctypes.Structure):
    _fields_ = [("sp", ctypes.c_void_p), ("flags", ctypes.c_int), ("bytes", ctypes.c_size_t)]

assert libc.sigaltstack(ctypes.byref(Stack(memory + size, 0, bytes_of_stack)), None) == 0
"""
"""An alternate stack of 8 KiB beside a page that cannot be accessed."""


FULL = "resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n"
WRITTEN = "import time; time.sleep(1)\n"
"""All calls are in the file by then, and only its end is left to write."""


@pytest.mark.parametrize("disk", ["", FULL, WRITTEN + FULL], ids=["", "full", "full-at-the-end"])
def test_an_alternate_stack_of_8_kib_is_enough(disk: str, tmp_path: Path) -> None:
    trace = tmp_path / "run.trace"
    program = BEGIN + ON_A_SMALL_STACK + disk + "os.kill(os.getpid(), signal.SIGTERM)"
    done = pyaclnn("capture", "-o", trace, "--", sys.executable, "-c", program)
    assert done.returncode == 128 + signal.SIGTERM
    if disk:
        assert f"{trace} is incomplete: {os.strerror(errno.EFBIG)}\n" in done.stderr
    else:
        assert list(read_trace(trace))[-1] == Ended(signal.SIGTERM)


def test_the_trace_is_no_standard_stream_of_a_program_that_has_closed_them(tmp_path: Path) -> None:
    trace = capture(
        tmp_path / "daemon.trace",
        """
import contextlib, os
for number in range(3):
    os.close(number)
from pyaclnn.cann import raw
raw.aclInit(raw.NULL)
files = {}
for number in os.listdir("/proc/self/fd"):
    with contextlib.suppress(FileNotFoundError):  # that of the list
        files[os.readlink(f"/proc/self/fd/{number}")] = int(number)
(number,) = (number for path, number in files.items() if path.endswith("daemon.trace"))
raise SystemExit(number < 3)
""",
    )
    assert "aclInit" in [call.name for call in read_trace(trace) if isinstance(call, Call)]
