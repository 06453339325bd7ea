# SPDX-License-Identifier: Apache-2.0
"""Cost of a capture: of calls in C, and of training steps of PyTorch, with and without contents."""

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
from pyaclnn.mock import cflags, environment, ldflags

from .measure import Comparison, take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["compare"]

_SOURCE = Path(__file__).parents[1] / "capture" / "c" / "loop.c"
_CALLS = "200000"
_WAYS = {"alone": None, "no contents": Settings(contents="none"), "hashes": Settings()}
_TARGETS = {"no contents": 1.1, "hashes": 1.5}
"""Those of a training step."""
_STEPS = """
import sys
import torch, torch_npu
from tests.benchmarks.pytorch import step
run = step(torch, 32, "npu")
for line in sys.stdin:
    for _ in range(5):
        run()
    print(flush=True)
"""


def compare(turns: int) -> Iterator[Comparison]:
    """Time calls that make and destroy a descriptor, which are among the shortest."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "loop"
        build = ["cc", "-O1", str(_SOURCE), "-o", str(program), *cflags(), *ldflags()]
        subprocess.run(build, check=True)
        timings = take_turns({w: _loop(program, how) for w, how in _WAYS.items()}, turns)
    alone = timings["alone"]
    for way in _TARGETS:
        yield Comparison("200,000 calls captured", way, timings[way], "alone", alone, None)
    if find_spec("torch_npu") is not None:
        yield from _training(turns)


def _training(turns: int) -> Iterator[Comparison]:
    """Time training steps, each way in a process of its own that waits for its turn."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        traces = {way: Path(folder) / f"{way}.trace" for way in _WAYS}
        ways = {way: _steps(stack, traces[way], how) for way, how in _WAYS.items()}
        timings = take_turns(ways, turns)
    for way, target in _TARGETS.items():
        case = "training step captured"
        yield Comparison(case, way, timings[way], "alone", timings["alone"], target)


def _steps(stack: ExitStack, trace: Path, settings: Settings | None) -> Callable[[], object]:
    process = subprocess.Popen(
        [sys.executable, "-c", _STEPS],
        env=_environment(trace, settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    stack.enter_context(process)  # which closes its input, and waits
    assert process.stdin is not None
    assert process.stdout is not None
    asked, answers = process.stdin, process.stdout

    def run() -> None:
        asked.write("\n")
        asked.flush()
        while answers.readline() not in {"\n", ""}:  # what PyTorch prints comes first
            pass

    return run


def _environment(trace: Path, settings: Settings | None) -> dict[str, str]:
    own = {**os.environ, "PYACLNN_BACKEND": "mock"}
    return environment(own) if settings is None else captured(own, trace, settings)


def _loop(program: Path, settings: Settings | None) -> Callable[[], object]:
    def run() -> object:
        with tempfile.TemporaryDirectory() as folder:
            variables = _environment(Path(folder) / "run.trace", settings)
            command = [str(program), _CALLS]
            return subprocess.run(command, env=variables, check=True, capture_output=True)

    return run
