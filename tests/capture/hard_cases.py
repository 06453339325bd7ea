# SPDX-License-Identifier: Apache-2.0
"""Program of the calls that are hard to capture: a case a function, told apart by its length.

It stands alone: ``python hard_cases.py [CASE]``. Each case doubles arrays of its length on a
device, and checks the results.
"""

from __future__ import annotations

import inspect
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import pyaclnn
from pyaclnn import aclnn
from pyaclnn.cann import raw
from pyaclnn.cann.gate import OUT, call, fetch
from pyaclnn.cann.library import function
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer

TO_DEVICE, TO_HOST, ON_DEVICE, ANYWHERE = 1, 2, 3, 4


def array(memory: Any, size: int, device: pyaclnn.Device) -> Any:
    place = Buffer.borrow(raw.address_of(memory), 4 * size, device)
    return DeviceArray(place, (size,), np.float32)


def double(memory: Any, size: int, stream: pyaclnn.Stream) -> Any:
    """Queue the doubling of an array, and return where the result is."""
    result = DeviceArray.empty((size,), np.float32, stream.device)
    aclnn.muls(array(memory, size, stream.device), np.float32(2), stream=stream, out=result)
    return result


def numbers(size: int) -> Any:
    return np.arange(1, size + 1, dtype=np.float32)


def at(host: Any) -> Any:
    return raw.ffi.from_buffer(host)


def require(found: Any, size: int, factor: float) -> None:
    host = found if isinstance(found, np.ndarray) else found.numpy()
    np.testing.assert_array_equal(host, factor * numbers(size))


def asynchronous_copies(size: int, stream: pyaclnn.Stream) -> None:
    x = DeviceArray.empty((size,), np.float32, stream.device)
    pinned = pyaclnn.pinned_empty((size,), np.float32, stream.device)
    pinned[...] = numbers(size)
    place, nbytes = raw.pointer_to(x.address), 4 * size
    call("aclrtMemcpyAsync", place, nbytes, at(pinned), nbytes, TO_DEVICE, stream.pointer)
    y = double(place, size, stream)
    result = raw.pointer_to(y.address)
    call("aclrtMemcpyAsync", place, nbytes, result, nbytes, ON_DEVICE, stream.pointer)
    call("aclrtMemcpyAsync", at(pinned), nbytes, place, nbytes, TO_HOST, stream.pointer)
    stream.synchronize()
    require(pinned, size, 2)
    pinned += numbers(size)
    call("aclrtMemcpyAsync", place, nbytes, at(pinned), nbytes, TO_DEVICE, stream.pointer)
    z = double(place, size, stream)
    stream.synchronize()
    require(z, size, 6)


def copies_in_two_dimensions(size: int, stream: pyaclnn.Stream) -> None:
    wide = np.full((size, 3), 7, np.float32)
    wide[:, 1] = numbers(size)
    x = DeviceArray.empty((2 * size,), np.float32, stream.device)
    place = raw.pointer_to(x.address)
    call("aclrtMemcpy2d", place, 4, at(wide.reshape(-1)[1:]), 12, 4, size, TO_DEVICE)
    y = double(place, size, stream)
    gaps, result = x.address + 4 * size, raw.pointer_to(y.address)
    gaps = raw.pointer_to(gaps)
    call("aclrtMemcpy2dAsync", gaps, 4, result, 4, 4, size, ON_DEVICE, stream.pointer)
    z = double(gaps, size, stream)
    stream.synchronize()
    require(z, size, 4)


def copies_of_any_kind(size: int, stream: pyaclnn.Stream) -> None:
    x, host = DeviceArray.empty((size,), np.float32, stream.device), numbers(size)
    place, nbytes = raw.pointer_to(x.address), 4 * size
    call("aclrtMemcpy", place, nbytes, at(host), nbytes, ANYWHERE)
    y = double(place, size, stream)
    stream.synchronize()
    call("aclrtMemcpy", at(host), nbytes, raw.pointer_to(y.address), nbytes, ANYWHERE)
    require(host, size, 2)


def pinned_copies_of_any_kind(size: int, stream: pyaclnn.Stream) -> None:
    x = DeviceArray.empty((size,), np.float32, stream.device)
    pinned = pyaclnn.pinned_empty((size,), np.float32, stream.device)
    pinned[...] = numbers(size)
    place, nbytes = raw.pointer_to(x.address), 4 * size
    call("aclrtMemcpyAsync", place, nbytes, at(pinned), nbytes, ANYWHERE, stream.pointer)
    call("aclrtMemcpy2d", place, 4, place, 1024, 4, 0, ON_DEVICE)  # no row
    y = double(place, size, stream)
    stream.synchronize()
    call("aclrtMemcpy", at(pinned), nbytes, raw.pointer_to(y.address), nbytes, ANYWHERE)
    require(pinned, size, 2)


def asynchronous_fills(size: int, stream: pyaclnn.Stream) -> None:
    x = DeviceArray.empty((size,), np.float32, stream.device)
    place, nbytes = raw.pointer_to(x.address), 4 * size
    call("aclrtMemsetAsync", place, nbytes, 0x40, nbytes, stream.pointer)
    y = double(place, size, stream)
    stream.synchronize()
    np.testing.assert_array_equal(y.numpy(), 2 * np.full(1, 0x40404040).view(np.float32)[0])


def several_devices(size: int, stream: pyaclnn.Stream) -> None:
    x = pyaclnn.to_device(numbers(size), stream.device)
    y = double(raw.pointer_to(x.address), size, stream)
    stream.synchronize()
    with pyaclnn.Device(1) as other, pyaclnn.Stream(other) as beside:
        there = DeviceArray.empty((size,), np.float32, other)
        there.copy_from(y.numpy())
        z = double(raw.pointer_to(there.address), size, beside)
        beside.synchronize()
        require(z, size, 4)


def streams_of_threads(size: int, stream: pyaclnn.Stream) -> None:
    def work(factor: int) -> None:
        with pyaclnn.Stream(stream.device) as own:
            x = pyaclnn.to_device(factor * numbers(size), stream.device)
            y = double(raw.pointer_to(x.address), size, own)
            own.synchronize()
            require(y, size, 2 * factor)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, (1, 2, 3)))


def host_functions(size: int, stream: pyaclnn.Stream) -> None:
    x = DeviceArray.empty((size,), np.float32, stream.device)
    pinned = pyaclnn.pinned_empty((size,), np.float32, stream.device)
    pinned[...] = 0

    def write() -> None:
        pinned[...] = numbers(size)

    told = stream.launch_host_func(write)
    nbytes = 4 * size
    place = raw.pointer_to(x.address)
    call("aclrtMemcpyAsync", place, nbytes, at(pinned), nbytes, TO_DEVICE, stream.pointer)
    y = double(place, size, stream)
    stream.synchronize()
    told.result(timeout=10)
    require(y, size, 2)


def virtual_memory(size: int, stream: pyaclnn.Stream) -> None:
    prop = raw.ffi.new("aclrtPhysicalMemProp *")
    prop.memAttr = raw.ACL_HBM_MEM_HUGE
    prop.location.type = 1
    room = 4 << 20
    base = fetch("aclrtReserveMemAddress", OUT, room, 0, raw.NULL, 1)
    halves = [fetch("aclrtMallocPhysical", OUT, room // 2, prop, 0) for _ in range(2)]
    begin = raw.address_of(base)
    for place, half in zip((begin + room // 2, begin), halves, strict=True):
        call("aclrtMapMem", raw.pointer_to(place), room // 2, 0, half, 0)
    across = raw.pointer_to(begin + room // 2 - 8)  # in both halves
    host = numbers(size)
    call("aclrtMemcpy", across, 4 * size, at(host), 4 * size, TO_DEVICE)
    y = double(across, size, stream)
    stream.synchronize()
    require(y, size, 2)
    for place, half in zip((begin + room // 2, begin), halves, strict=True):
        call("aclrtUnmapMem", raw.pointer_to(place))
        call("aclrtFreePhysical", half)
    call("aclrtReleaseMemAddress", base)


def memory_of_a_pool(size: int, stream: pyaclnn.Stream) -> None:
    """Nothing that the tables know has made it."""
    prop = raw.ffi.new("aclrtMemPoolProps *")
    prop.location.type = 1
    pool = fetch("aclrtMemPoolCreate", OUT, prop)
    memory = fetch("aclrtMemPoolMallocAsync", OUT, 4 * size, pool, stream.pointer)
    host = numbers(size)
    stream.synchronize()
    call("aclrtMemcpy", memory, 4 * size, at(host), 4 * size, TO_DEVICE)
    y = double(memory, size, stream)
    stream.synchronize()
    require(y, size, 2)
    call("aclrtMemPoolFreeAsync", memory, stream.pointer)
    stream.synchronize()
    call("aclrtMemPoolDestroy", pool)


def memory_of_another_process(size: int, stream: pyaclnn.Stream) -> None:
    x = DeviceArray.empty((size,), np.float32, stream.device)
    x.copy_from(numbers(size))
    key = raw.ffi.new("char[65]")
    call("aclrtIpcMemGetExportKey", raw.pointer_to(x.address), 4 * size, key, 65, 1)
    memory = fetch("aclrtIpcMemImportByKey", OUT, key, 0)
    y = double(memory, size, stream)
    stream.synchronize()
    require(y, size, 2)
    call("aclrtIpcMemClose", key)


def graphs(size: int, stream: pyaclnn.Stream) -> None:
    x = DeviceArray.empty((size,), np.float32, stream.device)
    y, z = (DeviceArray.empty((size,), np.float32, stream.device) for _ in range(2))
    call("aclmdlRICaptureBegin", stream.pointer, 2)
    aclnn.muls(x, np.float32(2), stream=stream, out=y)
    aclnn.muls(y, np.float32(3), stream=stream, out=z)
    model = fetch("aclmdlRICaptureEnd", stream.pointer, OUT)
    for turn in (1, 2):
        x.copy_from(turn * numbers(size))
        call("aclmdlRIExecuteAsync", model, stream.pointer)
        stream.synchronize()
        require(z, size, 6 * turn)
    call("aclmdlRIDestroy", model)


def graphs_that_fail(size: int, stream: pyaclnn.Stream) -> None:
    """The stream leaves its capture, though there is no graph."""
    x = pyaclnn.to_device(numbers(size), stream.device)
    y = DeviceArray.empty((size,), np.float32, stream.device)
    with pyaclnn.Stream(stream.device) as beside:
        event = fetch("aclrtCreateEventExWithFlag", OUT, 1)
        call("aclmdlRICaptureBegin", stream.pointer, 2)
        aclnn.muls(x, np.float32(3), stream=stream, out=y)
        call("aclrtRecordEvent", event, stream.pointer)
        call("aclrtStreamWaitEvent", beside.pointer, event)
        aclnn.muls(x, np.float32(3), stream=beside, out=y)
        model = raw.ffi.new("aclmdlRI *")
        assert function("aclmdlRICaptureEnd")(stream.pointer, model) == 107025  # not joined again
    z = double(raw.pointer_to(x.address), size, stream)
    stream.synchronize()
    require(z, size, 2)
    call("aclrtDestroyEvent", event)


def graphs_of_parts(size: int, stream: pyaclnn.Stream) -> None:
    """A graph writes parts of what it reads; the rest is of another process."""
    x = pyaclnn.to_device(numbers(8 * size), stream.device)
    key = raw.ffi.new("char[65]")
    call("aclrtIpcMemGetExportKey", raw.pointer_to(x.address), 32 * size, key, 65, 1)
    memory = fetch("aclrtIpcMemImportByKey", OUT, key, 0)
    y = DeviceArray.empty((size,), np.float32, stream.device)
    z = pyaclnn.to_device(numbers(size), stream.device)
    parts = array(memory, 8 * size, stream.device)[::8]
    call("aclmdlRICaptureBegin", stream.pointer, 2)
    aclnn.muls(z, np.float32(2), stream=stream, out=parts)
    aclnn.muls(array(memory, size, stream.device), np.float32(2), stream=stream, out=y)
    model = fetch("aclmdlRICaptureEnd", stream.pointer, OUT)
    call("aclmdlRIExecuteAsync", model, stream.pointer)
    stream.synchronize()
    expected = 2 * numbers(size)
    expected[::8] = 4 * numbers(len(expected[::8]))
    np.testing.assert_array_equal(y.numpy(), expected)
    call("aclmdlRIDestroy", model)
    call("aclrtIpcMemClose", key)


def graphs_that_use_memory_again(size: int, stream: pyaclnn.Stream) -> None:
    """The first result is gone when the graph has run; what ran beside it runs once."""
    x, whole = (pyaclnn.to_device(numbers(size).astype(t), stream.device) for t in "fi")
    y, z = (DeviceArray.empty((size,), np.float32, stream.device) for _ in range(2))
    again = DeviceArray(Buffer.borrow(y.address, 4 * size, stream.device), (size,), np.int32)
    with pyaclnn.Stream(stream.device) as beside:
        call("aclmdlRICaptureBegin", stream.pointer, 0)
        aclnn.muls(x, np.float32(2), stream=stream, out=y)
        double(raw.pointer_to(x.address), size, beside)
        aclnn.muls(y, np.float32(3), stream=stream, out=z)
        aclnn.muls(whole, np.int32(2), stream=stream, out=again)
        model = fetch("aclmdlRICaptureEnd", stream.pointer, OUT)
        beside.synchronize()
    call("aclmdlRIExecuteAsync", model, stream.pointer)
    stream.synchronize()
    require(z, size, 6)
    require(again, size, 2)
    call("aclmdlRIDestroy", model)


CASES = {
    name: case
    for name, case in vars().items()
    if inspect.isfunction(case) and [*inspect.signature(case).parameters] == ["size", "stream"]
}
SIZES = {name: 11 + place for place, name in enumerate(CASES)}


def main(names: list[str]) -> None:
    with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
        for name in names or CASES:
            CASES[name](SIZES[name], stream)


if __name__ == "__main__":
    main(sys.argv[1:])
