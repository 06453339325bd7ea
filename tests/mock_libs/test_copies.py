# SPDX-License-Identifier: Apache-2.0
"""Copies and fills: the order of the checks, bounds, and when an asynchronous one happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from . import npu
from .npu import NULL, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def places(context: Any) -> Iterator[dict[str, Any]]:  # noqa: ARG001 (its memory needs one)
    """64 bytes of every kind of memory."""
    made = {
        "null": NULL,
        "device": npu.device_memory(64),
        "other": npu.device_memory(64),
        "pinned": npu.pinned(64),
        "pinned2": npu.pinned(64),
        "plain": ffi.new("unsigned char[64]", b"\x05" * 64),
    }
    yield made
    npu.call("aclrtFree", made["device"])
    npu.call("aclrtFree", made["other"])
    npu.call("aclrtFreeHost", made["pinned"])
    npu.call("aclrtFreeHost", made["pinned2"])


CHECKS = [
    # destination, capacity, source, count, kind, code; several are wrong: the first one counts
    pytest.param("null", 0, "null", 0, 99, 0, id="count 0 before everything"),
    pytest.param("null", 0, "device", 8, 99, 100000, id="NULL destination"),
    pytest.param("device", 0, "null", 8, 99, 100000, id="NULL source"),
    pytest.param("device", 0, "plain", 8, 6, 100000, id="kind 6"),
    pytest.param("device", 0, "plain", 8, 7, 100000, id="kind 7"),
    pytest.param("device", 0, "plain", 8, -1, 100000, id="kind -1"),
    pytest.param("device", 0, "plain", 8, 1, 107000, id="capacity 0"),
    pytest.param("device", 7, "plain", 8, 1, 107000, id="capacity below count"),
    pytest.param("device", 7, "device", 8, 3, 107000, id="capacity before sameness"),
    pytest.param("device", 8, "device", 8, 3, 0, id="onto itself"),
    pytest.param("device", 999, "plain", 97, 1, 107000, id="beyond the real block"),
    pytest.param("device", 999, "other", 97, 3, 107000, id="beyond the real source"),
    *(
        pytest.param("device", 64, "plain", 64, kind, 0, id=f"kind {kind} is advice")
        for kind in range(6)
    ),
]


@pytest.mark.parametrize(("destination", "capacity", "source", "count", "kind", "code"), CHECKS)
@pytest.mark.parametrize("function", ["aclrtMemcpy", "aclrtMemcpyAsync"])
def test_order_of_checks(
    places: dict[str, Any],
    function: str,
    destination: str,
    capacity: int,
    source: str,
    count: int,
    kind: int,
    code: int,
) -> None:
    stream = (NULL,) if function.endswith("Async") else ()
    kind = ffi.cast("aclrtMemcpyKind", kind)
    answer = getattr(lib, function)(
        places[destination], capacity, places[source], count, kind, *stream
    )
    assert answer == code


@pytest.mark.parametrize("destination", ["device", "pinned", "plain"])
@pytest.mark.parametrize("source", ["other", "pinned2", "plain"])
def test_directions(places: dict[str, Any], destination: str, source: str) -> None:
    to, from_ = places[destination], places[source]
    if destination == source:
        to = ffi.new("unsigned char[64]")
    npu.call("aclrtMemcpy", from_, 64, b"\x2a" * 64, 64, 1)
    npu.call("aclrtMemcpy", to, 64, from_, 64, 0)
    assert npu.read(to, 64) == b"\x2a" * 64


class TestAsynchronous:
    def test_from_host_to_host_is_not_supported(self, places: dict[str, Any]) -> None:
        for source, destination in (("plain", "pinned"), ("pinned2", "pinned")):
            code = lib.aclrtMemcpyAsync(places[destination], 64, places[source], 64, 0, NULL)
            assert code == 207000

    def test_pinned_memory_is_read_when_the_copy_runs(self, places: dict[str, Any]) -> None:
        host = places["pinned"]
        host[0] = 1
        npu.call("aclrtMemcpyAsync", places["device"], 64, host, 1, 1, NULL)
        host[0] = 2
        npu.call("aclrtSynchronizeStream", NULL)
        assert npu.read(places["device"], 1) == b"\x02"

    def test_pinned_memory_is_written_when_the_copy_runs(self, places: dict[str, Any]) -> None:
        npu.write(places["device"], b"\x07")
        npu.call("aclrtMemcpyAsync", places["pinned"], 64, places["device"], 1, 2, NULL)
        assert places["pinned"][0] == 0xFF
        npu.call("aclrtSynchronizeStream", NULL)
        assert places["pinned"][0] == 7

    def test_plain_memory_makes_it_wait_and_copy_at_once(self, places: dict[str, Any]) -> None:
        npu.call("aclrtMemsetAsync", places["device"], 64, 3, 64, NULL)
        npu.call("aclrtMemcpyAsync", places["plain"], 64, places["device"], 1, 2, NULL)
        assert places["plain"][0] == 3
        places["plain"][0] = 4
        npu.call("aclrtMemcpyAsync", places["device"], 64, places["plain"], 1, 1, NULL)
        places["plain"][0] = 5
        assert npu.read(places["device"], 1) == b"\x04"

    def test_plain_memory_brings_the_failure_of_the_stream(
        self, places: dict[str, Any], broken: npu.RmsNormGrad
    ) -> None:
        broken.launch()
        code = lib.aclrtMemcpyAsync(places["plain"], 64, places["device"], 1, 2, NULL)
        assert code == 507015
        assert places["plain"][0] == 5, "nothing was copied"

    def test_a_blocking_copy_does_not_wait_for_streams(self, places: dict[str, Any]) -> None:
        npu.write(places["device"], b"\x01")
        npu.call("aclrtMemsetAsync", places["device"], 64, 3, 64, NULL)
        assert npu.read(places["device"], 1) == b"\x01"

    @pytest.mark.parametrize("fill", [False, True])
    def test_pinned_memory_that_went_before_the_copy_ran(
        self, places: dict[str, Any], fill: bool
    ) -> None:
        host = npu.pinned(64)
        if fill:
            npu.call("aclrtMemsetAsync", host, 64, 1, 64, NULL)
        else:
            npu.call("aclrtMemcpyAsync", host, 64, places["device"], 64, 2, NULL)
        npu.call("aclrtFreeHost", host)
        assert lib.aclrtSynchronizeStream(NULL) == 507013
        assert "freed before" in npu.message()
        assert lib.aclrtSynchronizeStream(NULL) == 0


FILLS = [
    ("null", 0, 0, 0),
    ("null", 0, 8, 100000),
    ("device", 7, 8, 107000),
    ("device", 999, 97, 107000),
    ("device", 64, 64, 0),
    ("plain", 64, 64, 0),
]


@pytest.mark.parametrize(("place", "capacity", "count", "code"), FILLS)
@pytest.mark.parametrize("function", ["aclrtMemset", "aclrtMemsetAsync"])
def test_fill(
    places: dict[str, Any], function: str, place: str, capacity: int, count: int, code: int
) -> None:
    stream = (NULL,) if function.endswith("Async") else ()
    assert getattr(lib, function)(places[place], capacity, 0x1AB, count, *stream) == code
    if code == 0 and count > 0:
        npu.call("aclrtSynchronizeStream", NULL)
        assert npu.read(places[place], 64) == b"\xab" * 64, "the value is used as a byte"


RECTANGLES = [
    # destination pitch, source pitch, width, height, kind, code
    (16, 16, 0, 4, 9, 0),
    (16, 16, 4, 0, 9, 0),
    (16, 16, 4, 4, 0, 100000),
    (16, 16, 4, 4, 4, 100000),
    (3, 16, 4, 4, 1, 107000),
    (16, 3, 4, 4, 1, 107000),
    (16, 4, 4, 4, 1, 0),
    (16, 4, 4, 7, 1, 107000),
    (2**63, 4, 4, 5, 1, 107000),
    (4, 4, 4, 2**62 + 2, 1, 107000),
]


@pytest.mark.parametrize(("dpitch", "spitch", "width", "height", "kind", "code"), RECTANGLES)
@pytest.mark.parametrize("function", ["aclrtMemcpy2d", "aclrtMemcpy2dAsync"])
def test_rectangle(
    places: dict[str, Any],
    function: str,
    dpitch: int,
    spitch: int,
    width: int,
    height: int,
    kind: int,
    code: int,
) -> None:
    stream = (NULL,) if function.endswith("Async") else ()
    npu.write(places["device"], bytes(64))
    kind = ffi.cast("aclrtMemcpyKind", kind)
    answer = getattr(lib, function)(
        places["device"], dpitch, places["plain"], spitch, width, height, kind, *stream
    )
    assert answer == code
    if code == 0 and width * height > 0:
        npu.call("aclrtSynchronizeStream", NULL)
        assert npu.read(places["device"], 64) == (b"\x05" * 4 + bytes(12)) * 4


def test_null_in_a_rectangle(places: dict[str, Any]) -> None:
    assert lib.aclrtMemcpy2d(NULL, 8, places["plain"], 8, 8, 8, 1) == 100000
    assert lib.aclrtMemcpy2d(places["device"], 8, NULL, 8, 8, 8, 1) == 100000


def test_between_devices(programs: Any) -> None:
    result = programs.python("""
call('aclrtSetDevice', 0); one = device_memory(8); write(one, b'12345678')
call('aclrtSetDevice', 1); other = device_memory(8)
call('aclrtMemcpy', other, 8, one, 8, 3); print(read(other, 8))
call('aclrtMemcpyAsync', one, 8, other, 8, 3, NULL)
call('aclrtResetDevice', 0)
print(lib.aclrtSynchronizeStream(NULL), message())
""")
    copied, failed = result.stdout.splitlines()
    assert copied == "b'12345678'"
    assert failed.startswith("507013 ")


MODES = pytest.mark.parametrize("mode", ["deferred", "eager", "shuffled:3"])
BEGIN = """
import mmap
import numpy as np
import pyaclnn
from pyaclnn import aclnn
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.runtime.array import DeviceArray
device = pyaclnn.Device(0)
stream = pyaclnn.Stream(device)
x, y, z = (DeviceArray.empty((4,), np.float32, device) for _ in range(3))
x.copy_from(np.ones(4, np.float32))
def pinned():
    return raw.ffi.cast("float *", fetch("aclrtMallocHost", OUT, 16))
def copy(to, source):
    call("aclrtMemcpyAsync", to, 16, raw.pointer_to(source.address), 16, 2, stream.pointer)
def times(source, factor, to):
    aclnn.muls(source, np.float32(factor), out=to, stream=stream)
"""
AMONG_KERNELS = {
    "what the kernels before it have written": (
        """copies = [pinned() for _ in range(3)]
times(x, 2, y)
copy(copies[0], y)
times(y, 5, z)  # may run before the copy
copy(copies[1], y)
times(x, 3, y)  # may not
copy(copies[2], y)
stream.synchronize()
print([copied[3] for copied in copies], z.numpy()[3])""",
        "[2.0, 2.0, 3.0] 10.0",
    ),
    "into memory that kernels read and write as well": (
        """pages = mmap.mmap(-1, 4096)
host = np.frombuffer(pages, np.float32)
start = raw.ffi.cast("void *", host.ctypes.data)
mapped = raw.address_of(fetch("aclrtHostRegister", start, 4096, 0, OUT))
there = DeviceArray(pyaclnn.Buffer.borrow(mapped, 4096, device), (4,), np.float32)
times(x, 2, y)
copy(start, y)
times(there, 5, z)
times(x, 3, y)
copy(start, y)
times(x, 100, there)
stream.synchronize()
print(z.numpy()[3], host[3])
call("aclrtHostUnregister", start)""",
        "10.0 100.0",
    ),
    "before a kernel whose failure stops the stream": (
        """copied = pinned()
call("aclrtSetStreamFailureMode", stream.pointer, 1)
times(x, 2, y)
copy(copied, y)
pyaclnn.mock.set_faults("aclnnMuls=async:507015")
times(x, 3, y)
try:
    stream.synchronize()
except pyaclnn.AclError as error:
    print(error.code, copied[3])""",
        "507015 2.0",
    ),
    "before a kernel that fails by its data and stops the stream": (
        """copied = pinned()
places, table = (DeviceArray.empty((2, 4), kind, device) for kind in (np.int64, np.float32))
places.copy_from(np.full((2, 4), 99))
call("aclrtSetStreamFailureMode", stream.pointer, 1)
times(x, 2, y)
copy(copied, y)
out = DeviceArray.empty((2, 4, 4), np.float32, device)
aclnn.embedding(table, places, out=out, stream=stream)
try:
    stream.synchronize()
except pyaclnn.AclError as error:
    print(error.code, copied[3])""",
        "507015 2.0",
    ),
}


@pytest.mark.sampled(6)
@MODES
@pytest.mark.parametrize(("steps", "printed"), AMONG_KERNELS.values(), ids=list(AMONG_KERNELS))
def test_a_copy_among_kernels_has(programs: Any, mode: str, steps: str, printed: str) -> None:
    result = programs.python(f"{BEGIN}{steps}\n", PYACLNN_BACKEND="mock", PYACLNN_MOCK_MODE=mode)
    assert result.stdout == f"{printed}\n", result.stderr


@pytest.mark.sampled(3)
@MODES
@pytest.mark.parametrize("failing", [1000, 40])
def test_copies_of_all_sizes_among_kernels(programs: Any, mode: str, failing: int) -> None:
    """The device reads what small copies copy, and runs at most 256 tasks at once."""
    result = programs.python(
        f"""
import numpy as np
import pyaclnn
from pyaclnn import aclnn
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.runtime.array import DeviceArray
sizes, steps, room = [4, 16, 4096, 65536, 524_288, 600_000], 180, 600_000
with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    x = DeviceArray.empty((150_000,), np.float32, device)
    x.copy_from(np.zeros(150_000, np.float32))
    found = []
    def copy(size):
        to = raw.ffi.cast("char *", fetch("aclrtMallocHost", OUT, size))
        at = raw.pointer_to(x.address + room - size)
        call("aclrtMemcpyAsync", to, size, at, size, 2, stream.pointer)
        found.append((to, size))
    one = np.float32(1)
    for step in range(steps):
        if step == {failing}:
            pyaclnn.mock.set_faults("aclnnInplaceAdds=async:507015")
        aclnn.inplace_adds(x, one, alpha=one, stream=stream)
        pyaclnn.mock.set_faults("")
        copy(sizes[step % len(sizes)])
        copy(sizes[step * 7 // 3 % len(sizes)])
    try:
        stream.synchronize()
    except pyaclnn.AclError as error:
        print(error.code)
    for place, (to, size) in enumerate(found):
        numbers = np.frombuffer(raw.ffi.buffer(to, size), np.float32)
        step = place // 2
        expected = step + (step < {failing})
        assert (numbers == expected).all(), (place, size, numbers[0], expected)
""",
        PYACLNN_BACKEND="mock",
        PYACLNN_MOCK_MODE=mode,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == ("507015\n" if failing < 180 else "")
