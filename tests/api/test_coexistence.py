# SPDX-License-Identifier: Apache-2.0
"""A good guest in somebody else's process, and an orderly end of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess

Run = Callable[..., "subprocess.CompletedProcess[str]"]

HOST = """
import numpy as np
from pyaclnn import raw
from pyaclnn.call import OUT, call, fetch

# A host application, which knows CANN and nothing of this library's objects.
call("aclInit", raw.NULL)
call("aclrtSetDevice", 0)
context = fetch("aclrtGetCurrentContext", OUT)
handle = fetch("aclrtCreateStream", OUT)
address = raw.address_of(handle)

from pyaclnn.array import DeviceArray, to_device
from pyaclnn.buffer import Buffer
from pyaclnn.device import Device, default_device
from pyaclnn.handle import live_handles
from pyaclnn.ops import rms_norm
from pyaclnn.runtime import owns_runtime
from pyaclnn.stream import Stream
"""


def assert_clean(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stderr) == (0, "")


def test_an_initialised_process_is_borrowed_and_nothing_of_it_is_ended(run_python: Run) -> None:
    done = run_python(
        HOST + "\n"
        "device = default_device()\n"
        "assert not device.owned and not owns_runtime()\n"
        "memory = fetch('aclrtMalloc', OUT, 64, raw.ACL_MEM_MALLOC_HUGE_FIRST)\n"
        "buffer = Buffer.borrow(raw.address_of(memory), 64)\n"
        "x = DeviceArray(buffer, (2, 8), np.float32)\n"
        "x.copy_from(np.ones((2, 8), np.float32))\n"
        "stream = Stream.borrow(address)\n"
        "y = rms_norm(x, x[0], stream=stream).y\n"
        "stream.synchronize()\n"
        "np.testing.assert_allclose(y.numpy(), 1, rtol=1e-3)\n"
        "with Device(0) as again, Stream(again) as own:\n"
        "    rms_norm(x, x[0], stream=own)\n"
        "for thing in (stream, buffer, y, device): thing.close()\n"
        "assert live_handles() == {'workspace': 1}\n"
        "# All of the host's things still work.\n"
        "assert fetch('aclrtGetCurrentContext', OUT) == context\n"
        "call('aclrtSynchronizeStream', handle)\n"
        "call('aclrtFree', memory)\n"
        "call('aclrtDestroyStream', handle)\n"
    )
    assert_clean(done)


def test_the_hosts_context_stays_current_whatever_device_is_used(run_python: Run) -> None:
    done = run_python(
        HOST + "\n"
        "with Device(1) as other:\n"
        "    assert fetch('aclrtGetCurrentContext', OUT) == context\n"
        "    x = to_device(np.ones((2, 8), np.float32), other)\n"
        "    with Stream(other) as stream:\n"
        "        y = rms_norm(x, x[0], stream=stream).y\n"
        "        stream.synchronize()\n"
        "    assert y.device is other\n"
        "    assert fetch('aclrtGetCurrentContext', OUT) == context\n"
        "    del x, y\n"
        "assert fetch('aclrtGetCurrentContext', OUT) == context\n"
        "call('aclrtDestroyStream', handle)\n"
    )
    assert_clean(done)


def test_a_host_that_finalises_first_hears_no_complaint_at_exit(run_python: Run) -> None:
    done = run_python(
        HOST + "\n"
        "x = to_device(np.ones((2, 8), np.float32))\n"
        "x.close()\n"
        "call('aclrtDestroyStream', handle)\n"
        "call('aclrtResetDevice', 0)\n"
        "call('aclFinalize')\n"
    )
    assert_clean(done)


UNFINISHED = """
import numpy as np
from pyaclnn.array import to_device
from pyaclnn.device import Device
from pyaclnn.event import Event
from pyaclnn.ops import rms_norm
from pyaclnn.pinned import pinned_empty
from pyaclnn.runtime import owns_runtime
from pyaclnn.stream import Stream

device, stream, event = Device(0), Stream(), Event()
x = to_device(np.ones((2, 8), np.float32))
y = rms_norm(x, x[0], stream=stream)
z = rms_norm(x, x[0])
target = pinned_empty((2, 8), np.float32)
y.y.copy_to(target, stream)
assert owns_runtime()
"""


def test_a_program_may_just_end(run_python: Run) -> None:
    assert_clean(run_python(UNFINISHED))


def test_everything_is_released_before_the_device_and_the_runtime_last(run_python: Run) -> None:
    done = run_python(
        "from pyaclnn import call as gate\n"
        "from pyaclnn.handle import live_handles\n"
        "import atexit, weakref\n"
        "seen = []\n"
        "class Last: pass\n"
        "last = Last()\n"
        "weakref.finalize(last, lambda: print(*seen, live_handles()))\n"
        "resolve = gate._resolve\n"
        "def spy(name):\n"
        "    function = resolve(name)\n"
        "    if name in {'aclrtDestroyStream', 'aclrtResetDevice', 'aclFinalize'}:\n"
        "        seen.append(name)\n"
        "    return function\n"
        "gate._resolve = spy\n" + UNFINISHED
    )
    assert done.stdout == "aclrtDestroyStream aclrtResetDevice aclFinalize {}\n", done.stderr
    assert_clean(done)


def test_a_forked_child_refuses_to_use_the_parents_device(run_python: Run) -> None:
    done = run_python(
        UNFINISHED + "\n"
        "import os, sys, warnings\n"
        "from pyaclnn.errors import ContextError\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        Device(0)\n"
        "    except ContextError as error:\n"
        "        print(error, flush=True)\n"
        "    sys.exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "stream.synchronize()\n"
        "np.testing.assert_allclose(target, 1, rtol=1e-3)\n"
    )
    assert done.stdout == (
        "this process was forked from one that already used CANN, whose devices do not survive a "
        "fork.\nHint: start workers with the 'spawn' method of multiprocessing.\n"
    )
    assert_clean(done)


@pytest.mark.parametrize("forgotten", ["Stream()", "Event()"])
def test_a_forgotten_close_is_a_resource_warning(run_python: Run, forgotten: str) -> None:
    done = run_python(
        "import warnings\n"
        "from pyaclnn.stream import Stream\n"
        "from pyaclnn.event import Event\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        f"    thing = {forgotten}\n"
        "    del thing\n"
        "print(*[(w.category.__name__, str(w.message)[:28]) for w in caught])\n"
    )
    kind = forgotten.removesuffix("()").lower()
    assert done.stdout == str(("ResourceWarning", f"a {kind} was never closed (run"[:28])) + "\n"
