# SPDX-License-Identifier: Apache-2.0
"""Programs that end soon where something of the device, or a finalizer, could keep them."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from .held import HeldProgram

if TYPE_CHECKING:
    from pathlib import Path

HELD = 'os.write(os.open(os.environ["HELD"], os.O_WRONLY), b"1")'
BEGIN = """
import os, signal, sys, time
import numpy as np, pyaclnn
pyaclnn.select_backend("mock")
x = np.ones((2, 3), np.float32)
"""
DROPPED = {
    "streams": "pyaclnn.Stream(device)",
    "events": "pyaclnn.Event(device)",
    "arrays": "pyaclnn.to_device(x, device)",
    "results": "a + a",
}
INTERRUPTED = """
from pyaclnn.runtime.handle import Handle, Resource

def release(pointer):
    if not interrupted:
        interrupted.append(pointer)
        signal.raise_signal(signal.SIGINT)
    released.append(pointer)

interrupted, released = [], []
thing = Handle(Resource("thing", "a", release))
try:
    del thing
    time.sleep(100)
except KeyboardInterrupt:
    pyaclnn.live_handles()
    print("interrupted", released)
"""
FOREIGN = """
class Thing:
    def __del__(self):
        raise KeyboardInterrupt

Thing()
time.sleep(0.1)
print("goes on")
"""
KERNEL = """
import pyaclnn.mock, threading, time

@pyaclnn.mock.operator("aclnnAdd")
def add(self, other, alpha):
    if self.any():
        threading.Thread(target=time.sleep, args=(1000,)).start()
    return self + other
"""
LATE = """
import atexit, os
import pyaclnn.mock

@pyaclnn.mock.operator("aclnnAdd")
def add(self, other, alpha):
    return self + other

atexit.register(os.mkdir, os.environ["MADE"])
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("what", DROPPED)
def test_one_ctrl_c_ends_a_program_that_drops_objects(what: str, tmp_path: Path) -> None:
    code = f"""
device = pyaclnn.Device(0)
a = pyaclnn.to_device(x, device)
{HELD}
while True:
    {DROPPED[what]}
"""
    with HeldProgram(tmp_path, BEGIN + code) as program:
        program.await_held()
        assert program.end(signal.SIGINT)[0] == -signal.SIGINT, program.errors()


def run(folder: Path, code: str, **environment: str) -> str:
    with HeldProgram(folder, BEGIN + code, **environment) as program:
        status, out = program.end()
        assert status == 0, program.errors()
        return out


def test_ctrl_c_in_a_finalizer_is_raised_outside_of_it(tmp_path: Path) -> None:
    assert run(tmp_path, INTERRUPTED) == "interrupted ['a']\n"


def test_an_interrupt_in_a_finalizer_of_others_stays_ignored(tmp_path: Path) -> None:
    assert run(tmp_path, FOREIGN) == "goes on\n"


def test_a_thread_of_a_kernel_ends_with_its_device(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(KERNEL, encoding="utf-8")
    code = f"""
pyaclnn.op("aclnnAdd")(x, x, 1.0)
{HELD}
time.sleep(100)
"""
    with HeldProgram(tmp_path, BEGIN + code, PYACLNN_MOCK_OPERATORS=str(kernel)) as program:
        program.await_held()
        assert program.end(signal.SIGINT)[0] == -signal.SIGINT


def test_exit_functions_of_a_kernel_run(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(LATE, encoding="utf-8")
    made = tmp_path / "made"
    run(
        tmp_path,
        'pyaclnn.op("aclnnAdd")(x, x, 1.0)',
        PYACLNN_MOCK_OPERATORS=str(kernel),
        MADE=str(made),
    )
    assert made.is_dir()


def test_one_ctrl_c_ends_a_program_whose_device_is_stopped(tmp_path: Path) -> None:
    code = f"""
a = pyaclnn.to_device(x, pyaclnn.Device(0))
{HELD}
time.sleep(100)
"""
    with HeldProgram(tmp_path, BEGIN + code) as program:
        program.await_held()
        for process in program.others:
            os.kill(process, signal.SIGSTOP)
        assert program.end(signal.SIGINT)[0] == -signal.SIGINT
