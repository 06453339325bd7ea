# SPDX-License-Identifier: Apache-2.0
"""Locks in a forked child, each of which a thread of the parent held at the fork.

Nothing is listed: the locks are those of all modules, of their classes and of their objects.
"""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import functools, importlib, os, pkgutil, sys, threading
import numpy as np, pyaclnn

for found in pkgutil.walk_packages(pyaclnn.__path__, "pyaclnn."):
    if not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except ImportError:  # of optional packages
            pass
pyaclnn.select_backend("mock")
device = pyaclnn.Device(0)
x = pyaclnn.to_device(np.ones((2, 8), np.float32), device)
objects = [pyaclnn.Event(device), pyaclnn.plan(pyaclnn.rms_norm, x, x[0])]
control = type(sys)("pyaclnn.control")
control.lock = threading.RLock()
sys.modules["pyaclnn.control"] = control
kinds = (type(threading.RLock()), type(threading.Lock()))

def attributes(owner):
    names = dict(getattr(owner, "__dict__", {}))
    for slot in getattr(type(owner), "__slots__", ()):
        if isinstance(slot, str) and hasattr(owner, slot):
            names[slot] = getattr(owner, slot)
    return names

def walk(where, owner, seen):
    for name, value in attributes(owner).items():
        place = f"{where}.{name}"
        if isinstance(value, functools.cached_property) and hasattr(value, "lock"):
            value, place = value.lock, f"{place}.lock"
        if isinstance(value, kinds):
            yield place, value
        kind = value if isinstance(value, type) else type(value)
        if id(value) not in seen and kind.__module__.partition(".")[0] == "pyaclnn":
            seen.add(id(value))
            yield from walk(place, value, seen)

def locks():
    seen = set()
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == "pyaclnn":
            yield from walk(name, module, seen)
    for thing in objects:
        yield from walk(type(thing).__name__, thing, seen)

held, end = threading.Event(), threading.Event()
mine = threading.get_ident()
def hold():
    for _, lock in list(locks()):
        if not lock.acquire(timeout=5):
            print("held already")
    held.set()
    end.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    for place, lock in locks():
        print(place, "free" if lock.acquire(blocking=False) else "held")
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
os._exit(0)
"""
THREADS_OWN = {"pyaclnn.runtime.finalizer_queue.FINALIZER_QUEUE._turn.lock"}
"""Locks of one thread, which no other one takes."""


def test_every_lock_is_free_in_a_forked_child() -> None:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
    states = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert states.pop("pyaclnn.control.lock") == "held"  # one of another kind is noticed
    held = {place for place, state in states.items() if state != "free"}
    assert held <= THREADS_OWN, done.stderr
    for room in ("host_function", "layout", "device", "by_name", "library", "initialization"):
        assert any(f".{room}." in place for place in states), states
    assert any(place.startswith("Event.") for place in states), states
    assert any(place.startswith("Plan.") for place in states), states
