# SPDX-License-Identifier: Apache-2.0
"""A fork while another thread is in its first call, which imports what the call needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import faulthandler, os, sys, threading, time
import numpy as np, pyaclnn
from pyaclnn.base import lazy
pyaclnn.select_backend("mock")
x = np.ones((2, 8), np.float32)
thread = threading.Thread(target=lambda: pyaclnn.rms_norm(x, x[0]))
thread.start()
seen = False
while thread.is_alive() and not seen:
    seen = lazy._imports_elsewhere()
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(60, exit=True)
    try:
        pyaclnn.rms_norm(x, x[0])
    except pyaclnn.ContextError as error:
        assert "forked" in str(error)
    os._exit(0)
_, status = os.waitpid(child, 0)
thread.join()
print(seen, status)
"""


def test_the_child_calls_or_is_refused_and_does_not_hang() -> None:
    for _ in range(5):  # until the fork has met an import under way, mostly the first
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM],
            capture_output=True,
            text=True,
            timeout=900,
            check=True,
        )
        found, status = done.stdout.split()
        assert status == "0", done.stderr
        if found == "True":
            break
    else:
        pytest.fail("no fork has met an import")


HELD = """
import os, threading
import pyaclnn
from pyaclnn import raw
from pyaclnn.cann import library
held, end = threading.Event(), threading.Event()
def hold():
    with library._lock:
        held.set()
        end.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    pyaclnn.select_backend("mock")
    os._exit(0)
print(os.waitpid(child, 0)[1])
end.set()
"""


def test_the_child_loads_libraries_while_a_thread_of_the_parent_held_the_lock() -> None:
    command = [sys.executable, "-W", "ignore", "-c", HELD]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
    assert done.stdout == "0\n", done.stderr
