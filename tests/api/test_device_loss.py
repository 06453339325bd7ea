# SPDX-License-Identifier: Apache-2.0
"""When the device process is killed, every call says so, none hangs, and the end is orderly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.usefixtures("own_processes")

Run = Callable[..., "subprocess.CompletedProcess[str]"]

LOSE = """
import os, signal, warnings
from pathlib import Path
import numpy as np
from pyaclnn.runtime.creation import to_device
from pyaclnn.base.errors import AclError, CleanupWarning, DeviceLostError
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.stream import Stream

warnings.simplefilter("ignore", CleanupWarning)
x = to_device(np.ones((2, 8), np.float32))
stream = Stream()
out = rms_norm(x, x[0], stream=stream)
for child in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
    os.kill(int(child), signal.SIGKILL)
"""


def test_a_lost_device_is_an_error_and_not_a_hang(run_python: Run) -> None:
    done = run_python(
        LOSE + "\n"
        "def fails(action):\n"
        "    try:\n"
        "        action()\n"
        "    except AclError as error:\n"
        "        return type(error).__name__, isinstance(error, OSError), error.code, error.cause\n"
        "print(fails(stream.synchronize))\n"
        "assert not stream._timeline.busy\n"
        "print(fails(lambda: rms_norm(x, x[0], stream=stream, out=out)))\n"
        "print(fails(lambda: to_device(np.ones(3, np.float32)).numpy()))\n"
    )
    assert done.stdout.splitlines()[:2] == [
        "('DeviceLostError', True, 507010, None)",
        "('DeviceLostError', True, 361001, 507010)",
    ], done.stderr
    assert "DeviceLostError" in done.stdout.splitlines()[2]
    assert (done.returncode, done.stderr) == (0, "")
