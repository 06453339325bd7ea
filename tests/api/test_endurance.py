# SPDX-License-Identifier: Apache-2.0
"""Many launches leave nothing behind: not in the process, not on the device, not in counters.

Each run is a process of its own, whose memory nothing else moves. What it measures is proved by
runs that do keep something of each launch.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ENDURE = """
import gc, json, resource, sys, threading
from pathlib import Path
import numpy as np
import pyaclnn
from pyaclnn import raw

device = pyaclnn.Device(0)
kept = []

def launches(stream, plans, eager, keep):
    x = pyaclnn.to_device(np.ones((1, 8), np.float32), device)
    gamma = x[0]
    with pyaclnn.plan(pyaclnn.rms_norm, x, gamma, 1e-3, stream=stream) as plan:
        for number in range(plans):
            plan.run(x=x)
            keep()
            if number % 50 == 49: stream.synchronize()
    for number in range(eager):
        pyaclnn.rms_norm(x, gamma, stream=stream)
        keep()
        if number % 50 == 49: stream.synchronize()
    stream.synchronize()

def work(plans, eager, keep):
    with pyaclnn.Stream(device) as stream:
        launches(stream, plans, eager, keep)

def in_threads(threads, *arguments):
    workers = [threading.Thread(target=work, args=arguments) for _ in range(threads)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()

def state():
    gc.collect()
    # Less what is shared: that is the memory of the simulated device, which is counted apart.
    _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
    free, total = device.memory_info()
    return {
        "resident": (resident - shared) * resource.getpagesize(),
        "device": total - free,
        "handles": sum(pyaclnn.live_handles().values()),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
    }

def lose_device_memory():
    with device._active():
        raw.aclrtMalloc(raw.ffi.new("void **"), 64, raw.ACL_MEM_MALLOC_HUGE_FIRST)

keeping = {
    "nothing": lambda: None,
    "python": lambda: kept.append(bytes(16384)),
    "device": lose_device_memory,
    "handles": lambda: kept.append(pyaclnn.Buffer(1, device)),
}

threads, launches_planned, launches_eager, keep = json.loads(sys.argv[1])
in_threads(threads, launches_planned // 4, launches_eager // 4, keeping["nothing"])
before = state()
in_threads(threads, launches_planned, launches_eager, keeping[keep])
after = state()
print(json.dumps({key: after[key] - before[key] for key in before}))
"""

LAUNCHES = 2400
MOST_RESIDENT = 3 << 20
"""Bytes by which the process may grow: allocators and thread stacks, but no launch."""


def growth(run_python: Run, threads: int, keep: str, launches: int) -> dict[str, int]:
    each = launches // threads
    options = json.dumps([threads, each, each // 2, keep])
    code = f"import sys; sys.argv[1:] = [{options!r}]\n{ENDURE}"
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    found: Any = json.loads(done.stdout)
    return dict(found)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("threads", "launches"),
    [
        (8, LAUNCHES // 3),
        *(pytest.param(threads, LAUNCHES, marks=pytest.mark.exhaustive) for threads in (1, 8)),
    ],
)
def test_launches_leave_nothing_behind(run_python: Run, threads: int, launches: int) -> None:
    grown = growth(run_python, threads, "nothing", launches)
    assert grown.pop("resident") < MOST_RESIDENT
    assert grown == {"device": 0, "handles": 0, "descriptors": 0, "threads": 0}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("keep", "what", "least"),
    [("python", "resident", MOST_RESIDENT), ("device", "device", 64), ("handles", "handles", 1)],
)
def test_the_measurement_sees_what_a_launch_keeps(
    run_python: Run, keep: str, what: str, least: int
) -> None:
    assert growth(run_python, 1, keep, 400)[what] >= least


SHAPES = """
import gc, json, sys
import numpy as np
import pyaclnn
from pyaclnn.runtime import idle_budget

step, leads, held, least_idle = json.loads(sys.argv[1])
idle_budget._LEAST = least_idle
device = pyaclnn.Device(0)
stream = pyaclnn.Stream(device)
values = pyaclnn.to_device(np.ones(20_000, np.float16), device)
lengths = [range(1, 20_001, step), range(20_000, 0, -step)]
results, shapes, used, kept = [], set(), 0, 0
for lead in range(leads):
    for length in lengths[lead % 2]:
        shape = (1,) * lead + (length,)
        shapes.add(shape)
        x = values[:length].reshape(shape)
        results.append(pyaclnn.rms_norm(x, values[:length], stream=stream))
        del results[:-held]
        if len(shapes) % 50 == 0:
            stream.synchronize()
            stats = stream.pool.stats()
            used = max(used, stats.reserved - stats.cached)
            kept = max(kept, stats.cached)
stream.synchronize()
results.clear()
y = pyaclnn.rms_norm(values.reshape(10, 2000), values[:2000], stream=stream)
stream.synchronize()
gc.collect()
reserved = stream.pool.stats().reserved
print(json.dumps([len(shapes), len(stream.pool._free), used, kept, reserved]))
del y, x, values
stream.close()
"""
LEAST_IDLE = 1 << 20
"""Bytes that may be idle in any case; a pool's own is more than a short run would keep."""


def kept_of_shapes(run_python: Run, *options: int) -> list[int]:
    done = run_python(f"import sys; sys.argv[1:] = [{json.dumps(options)!r}]\n{SHAPES}")
    assert done.returncode == 0, done.stderr
    found: list[int] = json.loads(done.stdout)
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("step", "leads", "held"),
    [(200, 1, 80), (200, 1, 1), (10, 5, 100)],
)
def test_pools_keep_no_more_than_was_in_use_at_a_time_whatever_shapes_there_are(
    run_python: Run, step: int, leads: int, held: int
) -> None:
    shapes, stacks, used, kept, reserved = kept_of_shapes(run_python, step, leads, held, LEAST_IDLE)
    assert shapes == leads * 20_000 // step
    # The need is known to one eighth, and reviewed whenever an eighth of it was requested.
    most = max(LEAST_IDLE, used) * 3 // 2
    assert kept <= most
    # In the end nothing is held any more, and what was is idle, too.
    assert reserved <= used + most
    assert stacks <= 100


@pytest.mark.exhaustive
def test_a_pool_that_keeps_every_size_would_be_seen(run_python: Run) -> None:
    _, _, used, _, reserved = kept_of_shapes(run_python, 100, 1, 20, 1 << 40)
    assert reserved > used + max(LEAST_IDLE, used) * 3 // 2
