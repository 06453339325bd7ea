# SPDX-License-Identifier: Apache-2.0
"""The check that nothing is left behind finds whatever is: one of each kind, made behind its back.

Everything is made through ``raw``, so what finds it is not the library's own counting.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import pytest

from pyaclnn.cann import raw
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from pyaclnn.cann.raw import Pointer

LeakCheck = Callable[[], AbstractContextManager[None]]


def made(function: Callable[..., int], *arguments: object) -> Pointer:
    """Call a function whose first parameter hands out a pointer."""
    slot = raw.ffi.new("void **")
    assert function(slot, *arguments) == 0
    return slot[0]


@contextmanager
def device_memory() -> Iterator[None]:
    memory = made(raw.aclrtMalloc, 1, raw.ACL_MEM_MALLOC_HUGE_FIRST)
    yield
    assert raw.aclrtFree(memory) == 0


@contextmanager
def pinned_memory() -> Iterator[None]:
    memory = made(raw.aclrtMallocHost, 1)
    yield
    assert raw.aclrtFreeHost(memory) == 0


@contextmanager
def tensor() -> Iterator[None]:
    null = raw.NULL
    one = raw.aclCreateTensor(null, 0, raw.ACL_FLOAT, null, 0, raw.ACL_FORMAT_ND, null, 0, null)
    assert one != null
    yield
    assert raw.aclDestroyTensor(one) == 0


@contextmanager
def event() -> Iterator[None]:
    one = made(raw.aclrtCreateEvent)
    yield
    assert raw.aclrtDestroyEvent(one) == 0


@contextmanager
def stream() -> Iterator[None]:
    one = made(raw.aclrtCreateStream)
    yield
    assert raw.aclrtDestroyStream(one) == 0


@contextmanager
def descriptor() -> Iterator[None]:
    one = os.open(os.devnull, os.O_RDONLY)
    yield
    os.close(one)


@contextmanager
def process() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE):
        yield


@contextmanager
def handle() -> Iterator[None]:
    with Stream():
        yield


@contextmanager
def second_device() -> Iterator[None]:
    with Device(1):
        yield


LEAKS = [
    (device_memory, "device_bytes: "),
    (pinned_memory, "alive: .*pinned_memory"),
    (tensor, "alive: .*aclTensor"),
    (event, "alive: .*event"),
    (stream, "alive: .*stream"),
    (descriptor, "descriptors: "),
    (process, "processes: "),
    (handle, "handles: "),
    (second_device, "handles: .*'device': 2"),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("leak", "finding"), LEAKS, ids=[leak.__name__ for leak, _ in LEAKS])
def test_the_check_finds_it(
    leak: Callable[[], AbstractContextManager[None]], finding: str, leak_check: LeakCheck
) -> None:
    leaked = leak()
    with pytest.raises(AssertionError, match=finding), leak_check():
        leaked.__enter__()
    leaked.__exit__(None, None, None)
    # Released memory is no leak.
    with leak_check(), leak():
        pass


END = """
import gc, importlib, importlib.util, sys
spec = importlib.util.spec_from_file_location("tests", {suite!r})
sys.modules["tests"] = importlib.util.module_from_spec(spec)
suite = importlib.import_module("tests.holdings")
before, mapped = suite.holdings(), suite.mappings_of_devices()
import os
import numpy as np
import pyaclnn
from pyaclnn import raw
pyaclnn.rms_norm(np.ones((2, 4), np.float32), np.ones(4, np.float32))
{leak}
print(*suite.what_is_left(before, mapped))
"""

LEFT = {
    "pass": "",
    "os.open('/dev/null', os.O_RDONLY)": "descriptors",
    "raw.aclrtMallocHost(raw.ffi.new('void **'), 64)": "alive",
    "raw.aclrtCreateEvent(raw.ffi.new('void **'))": "alive",
    "other = pyaclnn.Device(1); kept = pyaclnn.Stream(other)": (
        "handles alive descriptors processes mappings of device memory"
    ),
}


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("own_processes")
@pytest.mark.parametrize(("leak", "left"), LEFT.items())
def test_the_check_at_the_very_end_finds_it_too(
    leak: str,
    left: str,
    run_python: Callable[..., subprocess.CompletedProcess[str]],
    pytestconfig: pytest.Config,
) -> None:
    suite = str(pytestconfig.rootpath / "tests" / "__init__.py")
    done = run_python(END.format(suite=suite, leak=leak))
    assert done.stdout.strip() == left, done.stderr
