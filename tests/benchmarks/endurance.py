# SPDX-License-Identifier: Apache-2.0
"""Endurance of each kind of call: `python -m tests.benchmarks.endurance [KIND ...] [--calls N]`.

Each kind is called N times, 10**6 by default, in a process of its own. The table has the CPU time
of a call in the first and in the last tenth, and the growth of memory after the first tenth, of the
host and of the device process. A kind fails if a call becomes slower by half, by the medians of
three tenths, or if memory grows by more than 8 MiB. Kinds of PyTorch need PyTorch.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import pyaclnn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TENTHS = 10
MOST_GROWTH = 8 << 20
SLOWER = 1.5


def kinds(device: pyaclnn.Device) -> dict[str, Callable[[], object]]:
    """Return each kind of call as a function that leaves nothing behind."""
    stream = pyaclnn.Stream.default(device)
    host, weight = np.ones((4, 8), np.float32), np.ones(8, np.float32)
    x, w = pyaclnn.to_device(host), pyaclnn.to_device(weight)
    target, narrow = np.empty_like(host), pyaclnn.to_device(weight[:3])
    plan = pyaclnn.plan(pyaclnn.rms_norm, x, w)
    add: Any = pyaclnn.op("aclnnAdd")
    event = pyaclnn.Event(device)
    finish = every(64, stream.synchronize)

    def queued(call: Callable[[], object]) -> Callable[[], object]:
        def call_and_finish() -> None:
            call()
            finish()

        return call_and_finish

    def fail() -> None:
        try:
            pyaclnn.rms_norm(x, narrow)
        except pyaclnn.InvalidArgumentError:
            return
        raise AssertionError("rms_norm takes a weight of another shape")

    def record() -> None:
        stream.record(event)
        event.synchronize()

    def handle(kind: Callable[..., Any], *given: object) -> Callable[[], object]:
        return lambda: kind(*given).close()

    found: dict[str, Callable[[], object]] = {
        "an operator": queued(lambda: pyaclnn.rms_norm(x, w)),
        "an operator by name": queued(lambda: add(x, x, 1.0)),
        "a plan": queued(plan.run),
        "an operator on NumPy arrays": lambda: pyaclnn.rms_norm(host, weight),
        "a refused call": fail,
        "a copy to the device": lambda: x.copy_from(host),
        "a copy to the host": lambda: x.copy_to(target),
        "a new array": handle(pyaclnn.DeviceArray.empty, (4, 8), np.float32),
        "a view": lambda: x[1:3].reshape(16),
        "a buffer": handle(pyaclnn.Buffer, 4096, device),
        "a stream": handle(pyaclnn.Stream, device),
        "an event": handle(pyaclnn.Event, device),
        "a recorded event": record,
        "a host function": queued(lambda: stream.launch_host_func(int)),
        "NumPy by DLPack": lambda: pyaclnn.to_device(np.from_dlpack(host)),
    }
    try:
        import torch  # noqa: PLC0415  # not everywhere
    except ImportError:
        return found
    tensor = torch.ones(4, 8)
    return found | {
        "PyTorch by DLPack": lambda: pyaclnn.to_device(tensor).copy_to(target),
        "an operator on PyTorch's tensors": lambda: pyaclnn.rms_norm(tensor, weight),
        "to PyTorch by DLPack": lambda: torch.from_dlpack(x.numpy()),
    }


def every(number: int, call: Callable[[], object]) -> Callable[[], None]:
    """Return a function that calls another one each so many times."""
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1
        if count % number == 0:
            call()

    return tick


def memory() -> tuple[int, int]:
    """Return the resident bytes of this process and of its children."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    own = Path("/proc/self")
    children = (own / "task" / str(own.resolve().name) / "children").read_text().split()
    page = 4096
    return resident(own) * page, sum(resident(Path("/proc") / pid) for pid in children) * page


def resident(process: Path) -> int:
    """Return the pages of a process that nothing else has: without shared memory."""
    _, pages, shared, *_ = map(int, (process / "statm").read_text().split())
    return pages - shared


def measure(call: Callable[[], object], calls: int) -> Iterator[tuple[float, int, int]]:
    """Call in tenths; yield CPU seconds of a call, and the memory of host and device process."""
    for begin, end in pairwise(calls * tenth // TENTHS for tenth in range(TENTHS + 1)):
        start = time.process_time()
        for _ in range(begin, end):
            call()
        yield (time.process_time() - start) / max(end - begin, 1), *memory()


def run(kind: str, calls: int) -> bool:
    """Run one kind here and print its row; return whether it is flat."""
    pyaclnn.select_backend("mock")
    with pyaclnn.Device(0) as device:
        rows = list(measure(kinds(device)[kind], calls))
        device.synchronize()
    first, last = rows[0], rows[-1]
    slower = median(row[0] for row in rows[-3:]) / median(row[0] for row in rows[:3])
    host, other = last[1] - first[1], last[2] - first[2]
    is_flat = slower < SLOWER and max(host, other) < MOST_GROWTH
    row = (
        f"{kind:34} {calls:8} {first[0] * 1e6:8.1f} µs {last[0] * 1e6:8.1f} µs "
        f"{host / 1024:9.0f} KiB {other / 1024:9.0f} KiB  {'flat' if is_flat else 'NOT FLAT'}"
    )
    sys.stdout.write(f"{row}\n")
    sys.stdout.flush()
    return is_flat


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.endurance")
    parser.add_argument("kinds", nargs="*", help="which to call; all if none is named")
    parser.add_argument("--calls", type=int, default=10**6, help="calls of each kind")
    chosen = parser.parse_args()
    if len(chosen.kinds) == 1:
        sys.exit(not run(chosen.kinds[0], chosen.calls))
    pyaclnn.select_backend("mock")
    with pyaclnn.Device(0) as device:
        names = chosen.kinds or list(kinds(device))
    command = [sys.executable, "-m", "tests.benchmarks.endurance", "--calls", str(chosen.calls)]
    failed = [name for name in names if subprocess.run([*command, name], check=False).returncode]
    sys.exit(f"not flat: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
