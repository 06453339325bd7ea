# SPDX-License-Identifier: Apache-2.0
"""Cost of whole processes: importing, the command, the first device, a launch, the suite."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import pyaclnn
from pyaclnn import reference

from .measure import Comparison, Timing, take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["compare", "compare_suite"]

_ROOT = Path(__file__).parents[2]
_OPEN = "import pyaclnn; pyaclnn.select_backend('mock'); pyaclnn.Device(0).close()"
_FIRST = "import pyaclnn; pyaclnn.rms_norm"
_EVERYTHING = "import pyaclnn; [getattr(pyaclnn, name) for name in pyaclnn.__all__]"


def compare(turns: int) -> Iterator[Comparison]:
    """Time processes from start to end, and the round trip of a small launch."""
    with tempfile.TemporaryDirectory() as neutral:
        timings = take_turns(
            {
                "import numpy": _process(neutral, "-c", "import numpy"),
                "import pyaclnn": _process(neutral, "-c", "import pyaclnn"),
                "first attribute": _process(neutral, "-c", _FIRST),
                "import all of it": _process(neutral, "-c", _EVERYTHING),
                "pyaclnn --help": _process(neutral, "-m", "pyaclnn", "--help"),
                "first device": _process(neutral, "-c", _OPEN),
            },
            turns,
        )
    numpy = timings["import numpy"]
    for way, target in (
        ("import pyaclnn", 1.25),
        ("first attribute", 1.8),  # that needs NumPy too
        ("import all of it", None),
        ("pyaclnn --help", None),
        ("first device", None),
    ):
        yield Comparison("process", way, timings[way], "import numpy", numpy, target)
    yield from _round_trip(turns)
    yield from _fixture(turns)


_TESTS = """
import numpy as np
import pytest
import pyaclnn

@pytest.mark.parametrize("number", range({count}))
def test_it(npu, number):
    x = pyaclnn.to_device(np.full((8, 64), number, np.float32), npu)
    y = pyaclnn.rms_norm(x, x[0]).y
    npu.synchronize()
    assert y.numpy().shape == (8, 64)
"""
_GOAL = 0.02
"""Seconds that a test with the fixture ``npu`` may take."""


def _fixture(turns: int) -> Iterator[Comparison]:
    """Time what a test with the fixture ``npu`` adds to a run."""
    few, many = 1, 101
    with tempfile.TemporaryDirectory() as neutral:
        for count in (few, many):
            text = _TESTS.format(count=count)
            Path(neutral, f"test_{count}.py").write_text(text, encoding="utf-8")
        quiet = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
        timings = take_turns(
            {str(count): _process(neutral, *quiet, f"test_{count}.py") for count in (few, many)},
            turns,
        )
    pairs = zip(timings[str(few)].samples, timings[str(many)].samples, strict=True)
    each = Timing(tuple((more - less) / (many - few) for less, more in pairs))
    goal = Timing((_GOAL,) * len(each.samples))
    yield Comparison("the fixture npu", "a test", each, "goal", goal, 1.0)


def _round_trip(turns: int) -> Iterator[Comparison]:
    pyaclnn.select_backend("mock")
    with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
        host = np.ones((64, 512), np.float32)
        x, gamma = (pyaclnn.to_device(a, device) for a in (host, host[0]))
        rstd = pyaclnn.rms_norm(x, gamma, stream=stream).rstd
        stream.synchronize()

        def launch() -> None:
            pyaclnn.rms_norm_grad(x, x, rstd, gamma, stream=stream)
            stream.synchronize()

        def compute() -> None:
            reference.rms_norm_grad(host, host, np.ones((64, 1), np.float32), host[0])

        timings = take_turns({"simulated": launch, "reference": compute}, turns)
    case = "rms_norm_grad 64x512, launched and waited for"
    yield Comparison(case, "simulated", timings["simulated"], "reference", timings["reference"])


def compare_suite(turns: int) -> Iterator[Comparison]:
    """Time the whole test run, once in every turn."""
    quiet = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(_ROOT), str(_ROOT / "tests")]
    with tempfile.TemporaryDirectory() as neutral:

        def suite() -> None:
            subprocess.run(quiet, cwd=neutral, check=True, stdout=subprocess.DEVNULL)

        timings = take_turns({"suite": suite, "nothing": _process(neutral, "-c", "")}, turns)
    yield Comparison("pytest", "suite", timings["suite"], "python", timings["nothing"])


def _process(folder: str, *arguments: str) -> Callable[[], object]:
    def run() -> None:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "0"}
        command = [sys.executable, *arguments]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)

    return run
