# SPDX-License-Identifier: Apache-2.0
"""Cost of a capture: of calls in C, and of training steps of PyTorch, in time and in CPU time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.capture.session import Settings, captured
from pyaclnn.capture.trace import Call, read_trace
from pyaclnn.mock import cflags, environment, ldflags

from .measure import Comparison, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["compare"]

_SOURCE = Path(__file__).parents[1] / "capture" / "c" / "loop.c"
_CALLS = 200_000
_WAYS = {"alone": None, "no contents": Settings(contents="none"), "hashes": Settings()}
_TARGETS = {"no contents": 1.1, "hashes": 1.5}
"""Those of a training step."""
_MOST = 2e-6
"""The seconds that recording a call may take."""
_STEPS = """
import os, sys, time
from pathlib import Path
import torch, torch_npu
from tests.benchmarks.pytorch import step

def used(process):
    clock = ~int(process) << 3 | 2  # the CPU time of a process, as clock_getcpuclockid has it
    below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return time.clock_gettime(clock) + sum(map(used, below))

run = step(torch, int(sys.argv[1]), "npu")
for line in sys.stdin:
    before = time.perf_counter(), used(os.getpid())
    for _ in range(int(line)):
        run()
    after = time.perf_counter(), used(os.getpid())
    print("used", *((b - a) / int(line) for a, b in zip(before, after)), flush=True)
"""


def compare(turns: int) -> Iterator[Comparison]:
    """Measure calls that make and destroy a descriptor, among the shortest, and training steps."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "loop"
        build = ["cc", "-O1", str(_SOURCE), "-o", str(program), *cflags(), *ldflags()]
        subprocess.run(build, check=True)
        (timings,) = _take_turns({w: _loop(program, how) for w, how in _WAYS.items()}, turns)
    most = Timing(tuple(sample + _MOST for sample in timings["alone"].samples))
    for way, target in (("no contents", 1), ("hashes", None)):
        yield Comparison("a call captured", way, timings[way], "2 us more", most, target)
    if find_spec("torch_npu") is not None:
        for width in (32, 256):
            yield from _training(turns, width)


def _take_turns(
    ways: Mapping[str, Callable[[], tuple[float, ...]]], turns: int
) -> list[dict[str, Timing]]:
    """Return the timings of each way, for each number that the ways return."""
    first = [way() for way in ways.values()]  # the first time costs more
    samples = [{name: way() for name, way in ways.items()} for _ in range(turns)]
    return [
        {name: Timing(tuple(sample[name][kind] for sample in samples)) for name in ways}
        for kind in range(len(first[0]))
    ]


def _training(turns: int, width: int) -> Iterator[Comparison]:
    """Measure training steps, each way in a process of its own that waits for its turn."""
    with tempfile.TemporaryDirectory() as folder:
        traces = {way: Path(folder) / f"{way}.trace" for way in _WAYS}
        with ExitStack() as stack:
            ways = {way: _steps(stack, traces[way], width, how) for way, how in _WAYS.items()}
            times, cpu_times = _take_turns(ways, turns)
        for way in _TARGETS:
            _require_calls(traces[way], "aclnnLayerNorm", turns)
    for kind, timings, has_target in (("", times, True), (", CPU", cpu_times, False)):
        for way, target in _TARGETS.items():
            case = f"training step captured, width {width}{kind}"
            bound = target if has_target else None
            yield Comparison(case, way, timings[way], "alone", timings["alone"], bound)


def _steps(
    stack: ExitStack, trace: Path, width: int, settings: Settings | None
) -> Callable[[], tuple[float, ...]]:
    process = subprocess.Popen(
        [sys.executable, "-c", _STEPS, str(width)],
        env=_environment(trace, settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    stack.enter_context(process)  # which closes its input, and waits
    assert process.stdin is not None
    assert process.stdout is not None
    asked, answers = process.stdin, process.stdout

    def run() -> tuple[float, ...]:
        asked.write("100\n")
        asked.flush()
        found = next(line for line in answers if line.startswith("used "))
        return tuple(map(float, found.split()[1:]))

    return run


def _environment(trace: Path, settings: Settings | None) -> dict[str, str]:
    own = {**os.environ, "PYACLNN_BACKEND": "mock"}
    return environment(own) if settings is None else captured(own, trace, settings)


def _loop(program: Path, settings: Settings | None) -> Callable[[], tuple[float, ...]]:
    def run() -> tuple[float, ...]:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "run.trace"
            command = [str(program), str(_CALLS), "without a device"]
            variables = _environment(trace, settings)
            done = subprocess.run(command, env=variables, check=True, capture_output=True)
            if settings is not None:
                _require_calls(trace, "aclCreateTensor", _CALLS // 2)
            return (float(done.stdout.split()[0]) / 1e6,)

    return run


def _require_calls(trace: Path, name: str, least: int) -> None:
    """Require that calls were recorded, in at most 200 bytes each."""
    names = [record.name for record in read_trace(trace) if isinstance(record, Call)]
    if names.count(name) < least or trace.stat().st_size > 200 * len(names):
        message = f"{trace.name}: {names.count(name)} calls of {name}, {trace.stat().st_size} bytes"
        raise ValueError(
            f"{message} of {len(names)} calls; {least} were made, of 200 bytes at most"
        )
