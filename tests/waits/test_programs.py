# SPDX-License-Identifier: Apache-2.0
"""Programs with kernels that never end: what ends the program, and what it leaves."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from .held import HeldProgram

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = """
import itertools, os, time
import pyaclnn.mock

def begin():
    os.write(os.open(os.environ["HELD"], os.O_WRONLY), b"1")
{at_import}
@pyaclnn.mock.operator("aclnnAdd")
def add(self, other, alpha):
    {in_kernel}
    return self + other
"""
SLEEP = "begin(); time.sleep(10000)"
KERNELS = {
    "phase 1": KERNEL.format(at_import="", in_kernel=SLEEP),
    "phase 1, busy": KERNEL.format(at_import="", in_kernel="begin()\n    while True: pass"),
    "phase 1, with the GIL": KERNEL.format(
        at_import="", in_kernel="begin(); sum(itertools.count())"
    ),
    "its file": KERNEL.format(at_import=SLEEP, in_kernel=""),
    "phase 2": KERNEL.format(at_import="", in_kernel=f"\n    if self.any(): {SLEEP}"),
    "phase 2, with the GIL": KERNEL.format(
        at_import="", in_kernel="\n    if self.any(): begin(); sum(itertools.count())"
    ),
}
BEGIN = """
import time
import numpy as np, pyaclnn
pyaclnn.select_backend("mock")
x = np.ones((2, 3), np.float32)
"""
OPEN = """
d = pyaclnn.Device(0); s = pyaclnn.Stream(d)
a = pyaclnn.to_device(x, d)
y = pyaclnn.op("aclnnAdd")(a, a, 1.0, stream=s)
"""
WITH = """
with pyaclnn.Device(0) as d, pyaclnn.Stream(d) as s:
    a = pyaclnn.to_device(x, d)
    y = pyaclnn.op("aclnnAdd")(a, a, 1.0, stream=s)
    {}
"""
PROGRAMS = {
    "a host call": 'pyaclnn.op("aclnnAdd")(x, x, 1.0)',
    "with a stream": WITH.format("s.synchronize()"),
    "with a stream, in Python": WITH.format("s.is_done()\n    while True: time.sleep(0.01)"),
    "with a default stream": WITH.format("s.wait(s.record()); d.synchronize()"),
    "a stream that is closed": OPEN + "s.close()",
    "a device": OPEN + "d.synchronize()",
    "an event": OPEN + "s.record().synchronize()",
    "asyncio": "import asyncio" + OPEN + "async def main(): await s\nasyncio.run(main())",
    "a raw call": OPEN + "pyaclnn.raw.aclrtSynchronizeStream(s.pointer)",
    "the end of the program": OPEN,
    "a function behind": OPEN + "f = s.launch_host_func(print)\ns.synchronize()",
}
DROPPED = "pyaclnn: the program ended without waiting for the work on "


def program(folder: Path, kernel: str, code: str, **environment: str) -> HeldProgram:
    path = folder / "kernel.py"
    path.write_text(KERNELS[kernel], encoding="utf-8")
    return HeldProgram(folder, BEGIN + code, PYACLNN_MOCK_OPERATORS=str(path), **environment)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_signal_ends_the_program_and_its_device(
    tmp_path: Path, kernel: str, number: signal.Signals
) -> None:
    with program(tmp_path, kernel, PROGRAMS["a host call"]) as held:
        held.await_held()
        assert held.end(number) == (-number, "")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_interrupt_ends_a_program_whose_kernel_hangs(tmp_path: Path, name: str) -> None:
    with program(tmp_path, "phase 2", PROGRAMS[name]) as held:
        held.await_held()
        status, out = held.end(signal.SIGINT)
        lines = held.errors()
    assert out == ""
    # At the end of a program there is nothing left to be interrupted.
    assert status == (0 if name == "the end of the program" else -signal.SIGINT)
    assert [line for line in lines if line.startswith(DROPPED)] == lines[-1:]
    assert not [line for line in lines if "simulated NPU" in line]


def test_a_limit_ends_a_program_whose_kernel_hangs(tmp_path: Path) -> None:
    code = OPEN + "try: s.synchronize(timeout=0.3)\nexcept TimeoutError: print(1, flush=True)"
    with program(tmp_path, "phase 2", code) as held:
        held.await_held()
        assert held.end() == (0, "1\n")
        (line,) = held.errors()
    assert line.startswith(DROPPED)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kernel", ["phase 1", "its file"])
def test_phase_1_has_a_limit(tmp_path: Path, kernel: str) -> None:
    code = f"try: {PROGRAMS['a host call']}\nexcept TimeoutError as error: print(error)"
    with program(tmp_path, kernel, code, PYACLNN_MOCK_PATIENCE="10") as held:
        held.await_held()
        status, out = held.end()
        assert held.errors() == []
    assert status == 0
    assert "aclnnAdd: the kernel did not end in phase 1 within 10 s" in out
    assert "PYACLNN_MOCK_PATIENCE" in out


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", [name for name in PROGRAMS if "in Python" not in name])
def test_the_death_of_the_device_ends_the_program(tmp_path: Path, name: str) -> None:
    with program(tmp_path, "phase 2", PROGRAMS[name]) as held:
        held.await_held()
        held.kill_others()
        status, _ = held.end()
        lines = held.errors()
    closing = ("a stream that is closed", "the end of the program", "a raw call")
    assert status == (0 if name in closing else 1), lines
    assert name in closing or any("507010" in line for line in lines)


@pytest.mark.exhaustive
def test_work_that_ends_after_all_is_released(tmp_path: Path) -> None:
    code = OPEN + (
        "try: s.synchronize(timeout=0.3)\n"
        "except TimeoutError: pass\n"
        "with open(0) as _: print(flush=True)\n"
        "s.close(); y.close(); a.close(); d.close()\n"
        "print(pyaclnn.live_handles())"
    )
    kernel = KERNELS["phase 2"].replace("time.sleep(10000)", "time.sleep(2)")
    (tmp_path / "kernel.py").write_text(kernel, encoding="utf-8")
    path = str(tmp_path / "kernel.py")
    with HeldProgram(tmp_path, BEGIN + code, PYACLNN_MOCK_OPERATORS=path) as held:
        held.await_held()
        assert held.end() == (0, "\n{}\n")
        assert held.errors() == []


@pytest.mark.exhaustive
def test_a_deaf_wait_is_noticed(tmp_path: Path) -> None:
    """The positive control of these tests and of the sweep: a program that takes no signal."""
    deaf = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})" + OPEN
    with program(tmp_path, "phase 2", deaf + "s.synchronize()") as held:
        held.await_held()
        with pytest.raises(subprocess.TimeoutExpired):
            held.end(signal.SIGINT, longest=4)


HOLDINGS = """
import os
def holdings():
    maps = open("/proc/self/maps").read()
    children = open("/proc/thread-self/children").read().split()
    return len(os.listdir("/proc/self/fd")), maps.count("memfd:"), children
before = holdings()
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("give_up", [signal.SIGINT, None], ids=["Ctrl-C", "limit"])
def test_a_host_that_lives_on_has_what_it_had(
    tmp_path: Path, give_up: signal.Signals | None
) -> None:
    """Descriptors, shared memory and processes, after a wait was given up and all was closed."""
    code = (
        HOLDINGS
        + OPEN
        + (
            "try: s.synchronize(timeout=LIMIT)\n"
            "except (KeyboardInterrupt, TimeoutError): print('given up', flush=True)\n"
            "time.sleep(4)\n"
            "s.close(); y.close(); a.close(); d.close()\n"
            "print(pyaclnn.live_handles(), holdings() == before, before, holdings())"
        ).replace("LIMIT", "60" if give_up else "0.3")
    )
    kernel = KERNELS["phase 2"].replace("time.sleep(10000)", "time.sleep(2)")
    (tmp_path / "kernel.py").write_text(kernel, encoding="utf-8")
    path = str(tmp_path / "kernel.py")
    with HeldProgram(tmp_path, BEGIN + code, PYACLNN_MOCK_OPERATORS=path) as held:
        held.await_held()
        if give_up:
            held.process.send_signal(give_up)
        status, out = held.end()
        assert (status, held.errors()) == (0, [])
    assert out.startswith("given up\n{} True"), out
