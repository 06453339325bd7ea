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
from pyaclnn.cann.gate import OUT, call, fetch

# A host application, which knows CANN and nothing of this library's objects.
call("aclInit", raw.NULL)
call("aclrtSetDevice", 0)
context = fetch("aclrtGetCurrentContext", OUT)
handle = fetch("aclrtCreateStream", OUT)
address = raw.address_of(handle)

from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.device import Device, default_device
from pyaclnn.runtime.handle import live_handles
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.initialization import owns_runtime
from pyaclnn.runtime.stream import Stream
"""


def assert_clean(done: subprocess.CompletedProcess[str]) -> None:
    assert done.stderr == ""
    assert done.returncode == 0


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
        "assert live_handles() == {}\n"
        "# All of the host's things still work.\n"
        "assert fetch('aclrtGetCurrentContext', OUT) == context\n"
        "call('aclrtSynchronizeStream', handle)\n"
        "call('aclrtFree', memory)\n"
        "call('aclrtDestroyStream', handle)\n"
        "call('aclrtResetDevice', 0)\n"
    )
    assert_clean(done)


@pytest.mark.exhaustive
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
        "call('aclrtResetDevice', 0)\n"
    )
    assert_clean(done)


@pytest.mark.exhaustive
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
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.event import Event
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.pinned import pinned_empty
from pyaclnn.runtime.initialization import owns_runtime
from pyaclnn.runtime.stream import Stream

device, stream, event = Device(0), Stream(), Event()
x = to_device(np.ones((2, 8), np.float32))
y = rms_norm(x, x[0], stream=stream)
z = rms_norm(x, x[0])
target = pinned_empty((2, 8), np.float32)
y.y.copy_to(target, stream)
assert owns_runtime()
"""


def test_a_device_opened_twice_is_ours_until_both_are_closed(run_python: Run) -> None:
    done = run_python(
        "import numpy as np, pyaclnn\n"
        "first, second = pyaclnn.Device(0), pyaclnn.Device(0)\n"
        "first.close()\n"
        "assert pyaclnn.Device.current() is second\n"
        "array = pyaclnn.ones((2, 4))\n"
        "assert array.device is second\n"
        "array.close()\n"
        "second.close()\n"
        "assert pyaclnn.live_handles() == {}\n"
    )
    assert_clean(done)


@pytest.mark.exhaustive
def test_a_program_may_just_end(run_python: Run) -> None:
    assert_clean(run_python(UNFINISHED))


def test_everything_is_released_before_the_device_and_the_runtime_last(run_python: Run) -> None:
    done = run_python(
        "from pyaclnn.cann import gate\n"
        "from pyaclnn.runtime.handle import live_handles\n"
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


@pytest.mark.exhaustive
def test_a_forked_child_refuses_to_use_the_parents_device(run_python: Run) -> None:
    done = run_python(
        UNFINISHED + "\n"
        "import os, sys, warnings\n"
        "from pyaclnn.base.errors import ContextError\n"
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


@pytest.mark.exhaustive
@pytest.mark.parametrize("forks", [80, pytest.param(300, marks=pytest.mark.exhaustive)])
def test_a_child_forked_amid_launches_of_other_threads_can_let_go(
    forks: int, run_python: Run
) -> None:
    done = run_python(
        "import os, signal, threading, warnings\n"
        "from pyaclnn._binding import ffi, lib\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "block, uses = ffi.new('struct binding_block *'), ffi.new('struct binding_use[4]')\n"
        "going = True\n"
        "def launch():\n"
        "    while going:\n"
        "        lib.binding_block_take(block, uses)\n"
        "threads = [threading.Thread(target=launch) for _ in range(4)]\n"
        "for thread in threads:\n"
        "    thread.start()\n"
        f"for _ in range({forks}):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        signal.alarm(120)\n"
        "        lib.binding_block_close(block)\n"
        "        os._exit(0)\n"
        "    assert os.waitpid(child, 0)[1] == 0, 'the child hung'\n"
        "going = False\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


# Operations that a forked child of multiprocessing may attempt on its parent's objects.
IN_A_CHILD = {
    "eager": "rms_norm(x, x[0], stream=stream)",
    "eager, out": "rms_norm(x, x[0], stream=stream, out=y)",
    "eager, default stream": "rms_norm(x, x[0])",
    "eager, layouts never seen": "rms_norm(x[:1], x[0], stream=stream)",
    "eager, gradients": "rms_norm_grad(x, x, y.rstd, x[0], stream=stream)",
    "eager, layer norm": "layer_norm(x, 8, stream=stream)",
    "eager, layer norm gradients": "layer_norm_backward(x, x, 8, m, m, stream=stream)",
    "eager, NumPy": "rms_norm(np.ones((2, 8), np.float32), np.ones(8, np.float32))",
    "plan": "ready.run()",
    "plan on another stream": "ready.run(stream=other)",
    "plan with other arrays": "ready.run(x=x2)",
    "plan of both phases": "afresh.run()",
    "a new plan": "plan(rms_norm, x, x[0], stream=stream)",
    "numpy": "x.numpy()",
    "copy": "x.copy_from(np.ones((2, 8), np.float32))",
    "copy on a stream": "x.copy_to(target, stream)",
    "fill": "x.fill_bytes(0)",
    "fill on a stream": "x.fill_bytes(0, stream)",
    "to_device": "to_device(np.ones(3, np.float32))",
    "to_device of a device": "to_device(np.ones(3, np.float32), device)",
    "pinned": "pinned_empty(3, np.float32)",
    "synchronize": "stream.synchronize()",
    "is_done": "stream.is_done()",
    "record": "stream.record(event)",
    "wait": "stream.wait(event)",
    "event": "event.synchronize()",
    "event is_done": "event.is_done()",
    "a new stream": "Stream(device)",
    "a new event": "Event(device)",
    "a borrowed stream": "Stream.borrow(stream.pointer, device)",
    "the default stream": "Stream.default(device)",
    "device": "device.synchronize()",
    "memory": "device.memory_info()",
    "current": "Device.current()",
    "open": "Device(0)",
    "count": "device_count()",
    "launch": "launch('aclnnRmsNorm', x, x[0], 1e-6, y.y, y.rstd, stream=stream)",
}

FORKED = (
    "this process was forked from one that already used CANN, whose devices do not survive a "
    "fork.\nHint: start workers with the 'spawn' method of multiprocessing."
)


def test_a_forked_child_can_do_nothing_with_what_its_parent_made_but_close_it(
    run_python: Run,
) -> None:
    done = run_python(
        UNFINISHED + "\n"
        "import os, sys, warnings\n"
        "from pyaclnn.runtime.device import device_count\n"
        "from pyaclnn.base.errors import ContextError\n"
        "from pyaclnn.calling.launch import launch\n"
        "from pyaclnn.ops import layer_norm, layer_norm_backward, rms_norm_grad\n"
        "from pyaclnn.calling.plan import plan\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "other, x2 = Stream(), to_device(np.ones((2, 8), np.float32))\n"
        "m = to_device(np.ones(2, np.float32))\n"
        "for _ in range(2):\n"  # so that all of them have been remembered
        "    rms_norm(x, x[0], stream=stream), rms_norm(x, x[0])\n"
        "    rms_norm(x, x[0], stream=stream, out=y), layer_norm(x, 8, stream=stream)\n"
        "    rms_norm_grad(x, x, y.rstd, x[0], stream=stream)\n"
        "    layer_norm_backward(x, x, 8, m, m, stream=stream)\n"
        "ready = plan(rms_norm, x, x[0].reshape(8), 1e-3, stream=stream)\n"
        "assert ready.repeatable\n"
        "afresh = plan(rms_norm, x, x[0], stream=stream)\n"
        "assert not afresh.repeatable\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        f"    for name, action in {IN_A_CHILD!r}.items():\n"
        "        try:\n"
        "            eval(action)\n"
        f"        except ContextError as error:\n"
        f"            if str(error) != {FORKED!r}: print(name, error)\n"
        "        except Exception as error:\n"
        "            print(name, type(error), error)\n"
        "        else:\n"
        "            print(name, 'did it')\n"
        "    for thing in (ready, afresh, y.y, y.rstd, x, event, stream, other, device):\n"
        "        thing.close()\n"
        "    print('safe', flush=True)\n"
        "    sys.exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "ready.run()\n"
        "again = rms_norm(x, x[0], stream=stream)\n"
        "stream.synchronize()\n"
        "for result in (ready.results.y.numpy(), again.y.numpy(), x.numpy(), target):\n"
        "    np.testing.assert_allclose(result, 1, rtol=1e-2)\n"
    )
    assert done.stdout == "safe\n", done.stderr
    assert done.returncode == 0
    assert "Error" not in done.stderr


@pytest.mark.exhaustive
def test_a_child_forked_before_cann_is_used_may_use_it(run_python: Run) -> None:
    done = run_python(
        "import os, sys, warnings\n"
        "import numpy as np, pyaclnn\n"
        "from pyaclnn.runtime.stream import Stream\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "child = os.fork()\n"
        "y = pyaclnn.rms_norm(np.ones((2, 4), np.float32), np.ones(4, np.float32)).y\n"
        # One write, line end and all: both processes may write at a time.
        "os.write(1, f'{y.shape}\\n'.encode())\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
    )
    assert done.stdout == "(2, 4)\n" * 2, done.stderr
    assert_clean(done)


@pytest.mark.exhaustive
def test_a_fork_among_threads_leaves_no_lock_held_in_the_child(run_python: Run) -> None:
    done = run_python(
        UNFINISHED + "\n"
        "import os, sys, threading, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "def work():\n"
        "    with Stream(device) as own:\n"
        "        while not done.is_set():\n"
        "            rms_norm(x, x[0], stream=own)\n"
        "            to_device(np.ones(3, np.float32), device)\n"
        "            own.pool.trim()\n"
        "            own.synchronize()\n"
        "done = threading.Event()\n"
        "threads = [threading.Thread(target=work) for _ in range(3)]\n"
        "for thread in threads: thread.start()\n"
        "for _ in range(30):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        for thing in (y.y, x, stream, event, device): thing.close()\n"
        "        stream.pool.trim()\n"
        "        os._exit(0)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "done.set()\n"
        "for thread in threads: thread.join()\n"
        "stream.synchronize()\n"
    )
    assert_clean(done)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("forgotten", "thing"), [("Stream()", "a stream"), ("Event()", "an event")]
)
def test_a_forgotten_close_is_a_resource_warning(
    run_python: Run, forgotten: str, thing: str
) -> None:
    done = run_python(
        "import warnings\n"
        "from pyaclnn.runtime.stream import Stream\n"
        "from pyaclnn.runtime.event import Event\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        f"    thing = {forgotten}\n"
        "    del thing\n"
        "print(*[(w.category.__name__, str(w.message)[:28]) for w in caught])\n"
    )
    assert done.stdout == str(("ResourceWarning", f"{thing} was never closed (run"[:28])) + "\n"
