# SPDX-License-Identifier: Apache-2.0
"""Programs that are captured on the simulated NPU, and the commands run on their traces."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tests.fork_server import run_program

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

__all__ = [
    "PROGRAM",
    "WRONG_KERNEL",
    "capture",
    "capture_by_command",
    "pyaclnn",
    "pytest_alone",
    "run_captured",
]

PROGRAM = """
import numpy as np
import pyaclnn
from pyaclnn import aclnn
x = np.arange(24, dtype=np.float32).reshape(4, 6)
for scale in (0.5, 2.0):
    y = aclnn.muls(x, np.float32(scale))
    y = aclnn.add(y, np.ones(6, np.float32), alpha=1.0)
    pyaclnn.ops.rms_norm(y, np.ones(6, np.float32))
try:
    aclnn.add(x, np.ones(5, np.float32), alpha=1.0, out=pyaclnn.Empty((4, 6), x.dtype))
except pyaclnn.AclError:
    pass
"""
WRONG_KERNEL = """
import numpy as np
from pyaclnn import mock

@mock.operator("aclnnMuls")
def muls(self, other):
    result = self * other
    result[..., 3] += 1
    return result
"""


_BEGINS = """\
import os
from pyaclnn.capture.program import environment_of
from pyaclnn.cli import parser
os.environ.update(environment_of(parser().parse_args({})))
"""


def pytest_alone(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder in a process of their own, with the plugin of this package only."""
    plugin = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pyaclnn.pytest_plugin"}
    environment = {**os.environ, "PYACLNN_BACKEND": "mock", **plugin, **variables}
    options = ("-q", "-p", "no:cacheprovider", "-W", "ignore")
    return run_program([sys.executable, "-m", "pytest", *options, "."], environment, folder)


def pyaclnn(*arguments: str | Path | int, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command on the simulated NPU."""
    environment = {**os.environ, "PYACLNN_BACKEND": "mock", **variables}
    return run_program([sys.executable, "-m", "pyaclnn", *map(str, arguments)], environment)


def capture(trace: Path, program: str, *options: str, **variables: str) -> Path:
    """Capture a program of Python; it must succeed."""
    done = run_captured(trace, program, *options, **variables)
    assert done.returncode == 0, done.stderr
    return trace


def capture_by_command(trace: Path, program: str, *options: str, **variables: str) -> Path:
    """Capture a program of Python that opens CANN's libraries by name; it must succeed."""
    python = ("--", sys.executable, "-c", program)
    done = pyaclnn("capture", "-o", trace, *options, *python, **variables)
    assert done.returncode == 0, done.stderr
    return trace


def run_captured(
    trace: Path, program: str, *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program of Python in the environment that ``pyaclnn capture`` gives it.

    It is a process less than with the command, and begins as a fork. CANN's libraries are found by
    the variable of the backend, and not by the loader, which reads its path when a program starts.
    """
    command = ["capture", "-o", str(trace), *options, "--", "python"]
    program = f"{_BEGINS.format(command)}{program}"
    environment = {**os.environ, "PYACLNN_BACKEND": "mock", **variables}
    return run_program([sys.executable, "-c", program], environment)
