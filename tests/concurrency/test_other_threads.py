# SPDX-License-Identifier: Apache-2.0
"""Programs whose threads are greenlets, and processes with several interpreters."""

from __future__ import annotations

import _thread
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn import UnsupportedError

if TYPE_CHECKING:
    from pyaclnn.runtime.stream import Stream

GREENLETS = """
from gevent import monkey
monkey.patch_all()
import gevent
import numpy as np
import pyaclnn

pyaclnn.select_backend("mock")
x = np.arange(16, dtype=np.float32).reshape(2, 8)
turns = []

def work(number):
    with pyaclnn.Stream(device) as stream:
        array = pyaclnn.to_device(x, device)
        for _ in range(20):
            result = pyaclnn.rms_norm(array, array[0], stream=stream).y
            turns.append(number)
            gevent.sleep(0)
        stream.synchronize()
        return result.numpy()

with pyaclnn.Device(0) as device:
    jobs = [gevent.spawn(work, number) for number in range(8)]
    jobs += [gevent.get_hub().threadpool.spawn(work, 8)]
    jobs += [gevent.spawn(lambda: pyaclnn.rms_norm(x, x[0]).y)]
    gevent.joinall(jobs, raise_error=True)
    assert all((job.get() == jobs[-1].get()).all() for job in jobs)
    assert len(set(turns)) == 9 and turns != sorted(turns)
    with pyaclnn.Stream(device) as stream:
        try:
            stream.launch_host_func(list)
        except pyaclnn.UnsupportedError as error:
            assert "patch_all(thread=False)" in str(error)
        stream.synchronize()
print("done")
"""
INTERPRETERS = """
import sys, warnings
warnings.simplefilter("ignore")
import _testcapi
import numpy as np
import pyaclnn

pyaclnn.select_backend("mock")
x = np.ones((2, 8), np.float32)
before = pyaclnn.rms_norm(x, x[0]).y
other = '''
try:
    import pyaclnn
    pyaclnn.select_backend("mock").name
    import numpy as np
    y = pyaclnn.rms_norm(np.ones((2, 8), np.float32), np.ones(8, np.float32)).y
except (ImportError, SystemError, RuntimeError) as error:
    print("refused")
else:
    print("served" if abs(y - 1).max() < 1e-5 else "wrong")
'''
for _ in range(3):
    assert _testcapi.run_in_subinterp(other) == 0
assert (pyaclnn.rms_norm(x, x[0]).y == before).all()
print("done")
"""


def outcome(program: str) -> list[str]:
    command = [sys.executable, "-W", "ignore", "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_greenlets_launch_and_wait() -> None:
    pytest.importorskip("gevent")
    assert outcome(GREENLETS) == ["done"]


def test_a_host_function_of_greenlets_is_refused(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spawn(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(_thread, "start_new_thread", spawn)
    with pytest.raises(UnsupportedError, match=r"patch_all\(thread=False\)"):
        stream.launch_host_func(list)
    stream.synchronize()


def test_a_second_interpreter_is_refused_or_served_and_the_first_goes_on() -> None:
    pytest.importorskip("_testcapi")
    # Python 3.10 loads NumPy and cffi in several interpreters.
    answer = "served" if sys.version_info < (3, 11) else "refused"
    assert outcome(INTERPRETERS) == [*[answer] * 3, "done"]
