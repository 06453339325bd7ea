# SPDX-License-Identifier: Apache-2.0
"""Cost of a capture: CPU time of a loop of C calls, recorded with and without contents."""

from __future__ import annotations

import os
import subprocess
import tempfile
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


def compare(turns: int) -> Iterator[Comparison]:
    """Time calls that make and destroy a descriptor, which are among the shortest."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "loop"
        build = ["cc", "-O1", str(_SOURCE), "-o", str(program), *cflags(), *ldflags()]
        subprocess.run(build, check=True)
        timings = take_turns(
            {
                "alone": _loop(program, None),
                "no contents": _loop(program, Settings(contents="none")),
                "hashes": _loop(program, Settings()),
            },
            turns,
        )
    alone = timings["alone"]
    for way in ("no contents", "hashes"):
        yield Comparison("200,000 calls captured", way, timings[way], "alone", alone, None)


def _loop(program: Path, settings: Settings | None) -> Callable[[], object]:
    def run() -> object:
        with tempfile.TemporaryDirectory() as folder:
            variables = environment({**os.environ, "PYACLNN_BACKEND": "mock"})
            if settings is not None:
                own = {**os.environ, "PYACLNN_BACKEND": "mock"}
                variables = captured(own, Path(folder) / "run.trace", settings)
            command = [str(program), _CALLS]
            return subprocess.run(command, env=variables, check=True, capture_output=True)

    return run
