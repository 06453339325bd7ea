# SPDX-License-Identifier: Apache-2.0
"""A wait on a stream that is stuck: Ctrl-C ends it, and it leaves no error to others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess

Run = Callable[..., "subprocess.CompletedProcess[str]"]

STUCK = """
import os, signal, threading, time
import numpy as np
import pyaclnn
from pyaclnn import mock, raw
from pyaclnn.ops import rms_norm

device = pyaclnn.Device(0)
stream, event = pyaclnn.Stream(device), pyaclnn.Event(device)
x = pyaclnn.to_device(np.ones((2, 8), np.float32), device)
mock.set_faults("aclnnRmsNorm=hang")
y = rms_norm(x, x[0], stream=stream)
stream.record(event)

def later(seconds, act):
    threading.Timer(seconds, act).start()

def release():
    mock.set_faults("")
"""
END = """
stream.synchronize()
for thing in (*y, x, event, stream, device): thing.close()
"""
END_WITHOUT_STREAM = """
for thing in (*y, x, event, device): thing.close()
assert pyaclnn.live_handles() == {}, pyaclnn.live_handles()
"""
WAITS = ["stream", "event", "device"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "wait",
    [
        *(f"{waiting}.synchronize({timeout})" for waiting in WAITS for timeout in ("", "300")),
        "stream.close()",
    ],
)
def test_ctrl_c_ends_a_wait(run_python: Run, wait: str) -> None:
    done = run_python(
        # A shell's background jobs, and what they start, are born ignoring it.
        STUCK + "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "later(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "began = time.monotonic()\n"
        "try:\n"
        f"    {wait}\n"
        "except KeyboardInterrupt:\n"
        "    print(time.monotonic() - began < 250)\n"
        "release()\n" + (END if wait != "stream.close()" else END_WITHOUT_STREAM)
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


def test_a_device_that_ctrl_c_leaves_does_not_wait_for_its_default_stream(run_python: Run) -> None:
    done = run_python(
        STUCK.replace("stream=stream", "stream=None").replace("stream.record(event)", "")
        + "began = time.monotonic()\n"
        "try:\n"
        "    with device:\n"
        "        raise KeyboardInterrupt\n"
        "except KeyboardInterrupt:\n"
        "    print(time.monotonic() - began < 250)\n"
        "release()\n"
        + END_WITHOUT_STREAM.replace("(*y, x, event, device)", "(*y, x, event, stream)")
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("waiting", WAITS)
def test_a_long_wait_leaves_no_error_behind(run_python: Run, waiting: str) -> None:
    done = run_python(
        STUCK + "later(0.6, release)\n"
        f"{waiting}.synchronize()\n"
        "print(raw.aclrtPeekAtLastError(raw.ACL_RT_THREAD_LEVEL))\n" + END
    )
    assert (done.stdout, done.stderr, done.returncode) == ("0\n", "", 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("waiting", WAITS)
def test_a_timeout_of_several_slices_is_told_as_it_was_given(run_python: Run, waiting: str) -> None:
    done = run_python(
        STUCK + "began = time.monotonic()\n"
        "try:\n"
        f"    {waiting}.synchronize(timeout=0.6)\n"
        "except pyaclnn.DeadlineError as error:\n"
        "    print(0.6 <= time.monotonic() - began < 250, 'timeout = 600' in str(error))\n"
        "release()\n" + END
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True True\n", "", 0)


def test_without_the_waiting_functions_that_take_a_time_the_others_are_used(
    run_python: Run,
) -> None:
    done = run_python(
        "from pyaclnn import mock\n"
        "with mock.without('aclrtSynchronizeStreamWithTimeout') as folder:\n"
        "    import numpy as np, pyaclnn\n"
        "    pyaclnn.select_backend(folder)\n"
        "    x = pyaclnn.to_device(np.ones((2, 8), np.float32))\n"
        "    y = pyaclnn.rms_norm(x, x[0]).y\n"
        "    pyaclnn.Stream.default().synchronize()\n"
        "    print(bool(np.isfinite(y.numpy()).all()))\n",
        PYACLNN_BACKEND=None,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)
