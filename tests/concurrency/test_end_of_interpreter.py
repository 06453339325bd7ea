# SPDX-License-Identifier: Apache-2.0
"""The end of an interpreter raises nothing and prints nothing, whatever a program has not closed.

Each program leaves something of every kind, in one place, and ends; so does a host that embeds
Python, with threads of its own.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.mock_libs.programs import COMPILER

HOST = Path(__file__).parent / "embedding_host.c"
PATIENCE = 300
"""Seconds; several processes may start at a time."""
LEFT = """
import atexit, builtins, sys, threading
import numpy as np
import pyaclnn
pyaclnn.select_backend("mock")

def leave():
    rows = np.ones((2, 4), np.float32)
    device = pyaclnn.Device(0)
    stream, queue = pyaclnn.Stream(device), pyaclnn.Stream(device)
    array, weight = pyaclnn.to_device(rows, device), pyaclnn.to_device(rows[0], device)
    on_default = pyaclnn.plan(pyaclnn.rms_norm, array, weight)
    on_default.run()
    scope = pyaclnn.borrowed()
    scope.__enter__()
    buffer = pyaclnn.Buffer(64, device)
    return [
        device, stream, array, array[1], buffer, scope, on_default, queue.workspace,
        pyaclnn.Event(device), stream.record(), pyaclnn.pinned_empty((4,), np.float32),
        pyaclnn.ones((2, 4)), pyaclnn.rms_norm(array, weight, stream=stream),
        pyaclnn.Stream.borrow(int(pyaclnn.raw.ffi.cast("uintptr_t", stream.pointer)), device),
        pyaclnn.Stream.default(device), pyaclnn.Buffer.borrow(buffer.address, 64, device),
        array.__dlpack__(stream=-1), queue.launch_host_func(list),
    ]
"""
PLACES = {
    "a module": "kept = globals().setdefault('kept', []); kept.append(leave())",
    "a cycle": "cycle = leave(); cycle.append(cycle); del cycle",
    "builtins": "builtins.__dict__.setdefault('kept', []).append(leave())",
    "an object that has a finalizer": """
class Late:
    def __init__(self): self.left = leave()
    def __del__(self): self.left.clear()
late = globals().setdefault('late', []); late.append(Late())""",
    "an exit function": "atexit.register(len, leave())",
    "a thread": """
def run():
    own = threading.local()
    own.left = leave()
    globals().setdefault('locals', []).append(own)
run()""",
    "nothing": "leave()",
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host, linked with the library of this Python."""
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.skip("this Python has no library that programs link")
    program = tmp_path_factory.mktemp("host") / "host"
    where, version = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDVERSION")
    found = [f"-I{sysconfig.get_path('include')}", f"-L{where}", f"-Wl,-rpath,{where}"]
    command = [*COMPILER, str(HOST), "-o", str(program), *found, f"-lpython{version}", "-pthread"]
    subprocess.run(command, check=True, timeout=PATIENCE)
    return program


def ended(*command: object) -> tuple[int, str, str]:
    """Run a program, and return its status, and what it prints."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("place", PLACES)
def test_a_program_that_leaves_everything_open_ends_in_silence(place: str) -> None:
    assert ended(sys.executable, "-c", LEFT + PLACES[place]) == (0, "", "")


@pytest.mark.parametrize(
    ("place", "threads"),
    [("an object that has a finalizer", 0), ("a module", 4), ("a thread", 4), ("nothing", 4)],
)
def test_a_host_whose_threads_leave_everything_open_ends_in_silence(
    place: str, threads: int, host: Path
) -> None:
    assert ended(host, sys.executable, LEFT + PLACES[place], threads) == (0, "", "")


def test_what_a_program_leaves_that_it_made_by_itself_is_reported(host: Path) -> None:
    made = "assert pyaclnn.raw.aclrtCreateEvent(pyaclnn.raw.ffi.new('aclrtEvent *')) == 0"
    status, printed, reported = ended(host, sys.executable, f"{LEFT}kept = leave()\n{made}", 0)
    assert (status, printed) == (0, "")
    assert "alive" in reported
