# SPDX-License-Identifier: Apache-2.0
"""A part of a program is captured by the program itself, before CANN's libraries are loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from pyaclnn.capture.trace import Call, read_trace
from tests.fork_server import run_program
from tests.product.pages import PAGES, blocks

from .captured import PROGRAM, pyaclnn

if TYPE_CHECKING:
    from pathlib import Path

PAGE = PAGES["docs/how-to/capture.md"]
PARTS = """
import sys
import numpy as np
import pyaclnn
x, weight = np.ones((2, 8), np.float32), np.ones(8, np.float32)
for name in sys.argv[1:]:
    with pyaclnn.capture(name, contents="full"):
        pyaclnn.ops.rms_norm(x, weight)
    pyaclnn.ops.rms_norm(x + 1, weight)
    pyaclnn.aclnn.cat([x, x], 0, out=pyaclnn.Empty((4, 8), x.dtype))  # a list ends its tensors
"""


def test_the_part_of_a_program_on_the_page_is_captured(tmp_path: Path) -> None:
    (part,) = blocks(PAGE, "py")
    environment = {**os.environ, "PYACLNN_BACKEND": "mock"}
    subprocess.run([sys.executable, "-c", part], env=environment, cwd=tmp_path, check=True)
    done = pyaclnn("replay", tmp_path / "part.trace")
    assert "2 results compared" in done.stdout
    assert "no divergence" in done.stdout


ENDS = """
import numpy as np, pyaclnn
with pyaclnn.capture("part.trace"):
    pyaclnn.ops.rms_norm(np.ones((2, 8), np.float32), np.ones(8, np.float32))
"""
REFUSED = """
import numpy as np, pyaclnn
def refuse(path, **given):
    try:
        with pyaclnn.capture(path, **given):
            print("captured", path)
    except (OSError, ValueError) as error:
        print(f"{type(error).__name__}: {error}".partition("\\n")[0])
refuse("absent/part.trace")
refuse("part.trace", contents="ful")
with pyaclnn.capture("one.trace"):
    refuse("two.trace")
"""
LATE = REFUSED.replace(
    'with pyaclnn.capture("one.trace"):', "if pyaclnn.Device(0).synchronize() is None:"
)
LOADED = LATE.replace("pyaclnn.Device(0).synchronize()", "ctypes.CDLL(LIBRARY) and None").replace(
    "import numpy", "import ctypes\nfrom pyaclnn.cann.simulator import libdir\n"
    "LIBRARY = str(libdir() / 'libascendcl.so')\nimport numpy"
)  # fmt: skip
"""Another library has loaded CANN, as torch_npu does when it is imported."""


def in_folder(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYACLNN_BACKEND": "mock"}
    done = run_program([sys.executable, "-c", program], environment, folder)
    assert done.returncode == 0, done.stderr
    return done


def test_a_part_that_ends_before_its_device_leaves_nothing_of_the_recorder(tmp_path: Path) -> None:
    assert in_folder(ENDS, tmp_path).stderr == ""
    trace = tmp_path / "run.trace"
    assert pyaclnn("trace", "show", tmp_path / "part.trace").stdout.count("aclnnRmsNorm 1") == 1
    command = ("--calls", ":40", "--", sys.executable, "-c", PROGRAM)
    done = pyaclnn("capture", "-o", trace, *command)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("program", "when"),
    [(REFUSED, "when no other capture has begun in the process"),
     (LATE, "before CANN's libraries are loaded"),
     (LOADED, "before CANN's libraries are loaded")],
)  # fmt: skip
def test_a_part_that_cannot_be_captured_is_refused(program: str, when: str, tmp_path: Path) -> None:
    absent, contents, late = in_folder(program, tmp_path).stdout.splitlines()
    assert absent == f"OSError: '{tmp_path / 'absent'}' is no folder that this process can write to"
    assert "'contents' is 'ful'; it must be 'none', 'hash' or 'full'" in contents
    assert late.endswith(f"'path' is 'two.trace'; it must be given {when}.")


def test_a_part_of_a_program_that_is_captured_as_a_whole_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "run.trace"
    done = pyaclnn("capture", "-o", trace, "--", sys.executable, "-c", ENDS)
    assert done.returncode == 1
    assert f"'pyaclnn capture' records this program already, in '{trace}'" in done.stderr


@pytest.mark.exhaustive
def test_each_part_that_a_program_captures_replays_by_itself(tmp_path: Path) -> None:
    traces = [tmp_path / "first.trace", tmp_path / "second.trace"]
    environment = {**os.environ, "PYACLNN_BACKEND": "mock"}
    subprocess.run([sys.executable, "-c", PARTS, *traces], env=environment, check=True)
    for trace in traces:
        made = Counter(r.name for r in read_trace(trace) if isinstance(r, Call))
        assert made["aclCreateTensor"] == made["aclDestroyTensor"] > 0
        done = pyaclnn("replay", trace)
        assert "2 results compared" in done.stdout
        assert "no divergence" in done.stdout
