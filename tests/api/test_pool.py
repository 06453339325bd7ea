# SPDX-License-Identifier: Apache-2.0
"""The pool of a stream: memory of results is handed out again, in stream order, never too soon."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.base.errors import InvalidArgumentError, OutOfMemoryError
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.event import Event
from pyaclnn.runtime.handle import live_handles
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    import subprocess

    from pyaclnn.runtime.buffer import Buffer
    from pyaclnn.runtime.device import Device

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def x() -> Iterator[DeviceArray]:
    array = to_device(np.full((2, 8), 3, np.float32))
    yield array
    array.close()


@pytest.fixture
def gamma() -> Iterator[DeviceArray]:
    array = to_device(np.ones(8, np.float32))
    yield array
    array.close()


def memory_of(result: DeviceArray) -> int:
    return result.address


# ---- reuse --------------------------------------------------------------------------------------


def test_memory_is_handed_out_again_at_once_on_the_same_stream(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    first = rms_norm(x, gamma, stream=stream)
    places = {memory_of(array) for array in first}
    del first
    assert stream.pool.stats() == (1024, 1024, 2, None)
    for _ in range(5):
        again = rms_norm(x, gamma, stream=stream)
        assert {memory_of(array) for array in again} == places
        assert stream.pool.stats() == (1024, 0, 2, None)
        del again
    stream.synchronize()


def test_memory_in_use_is_not_handed_out(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    results = [rms_norm(x, gamma, stream=stream).y for _ in range(20)]
    assert len({memory_of(y) for y in results}) == 20
    stream.synchronize()
    for y in results:
        np.testing.assert_allclose(y.numpy(), 1, rtol=1e-3)


@pytest.mark.parametrize(
    "view",
    [
        lambda y: y[1:, ::2],
        lambda y: y.T,
        lambda y: y.reshape(16),
        lambda y: y.buffer,
        lambda y: DeviceArray(y.buffer, (2, 8), np.float32),
    ],
)
def test_whatever_looks_at_memory_keeps_it_on_loan(
    view: Callable[[DeviceArray], DeviceArray | Buffer],
    x: DeviceArray,
    gamma: DeviceArray,
    stream: Stream,
) -> None:
    y = rms_norm(x, gamma, stream=stream).y
    place = memory_of(y)
    kept = view(y)
    del y
    others = [rms_norm(x, gamma, stream=stream).y for _ in range(3)]
    assert place not in {memory_of(other) for other in others}
    del kept
    assert memory_of(rms_norm(x, gamma, stream=stream).y) == place
    stream.synchronize()


def test_memory_that_another_stream_uses_waits_for_it(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    y = rms_norm(x, gamma, stream=stream).y
    place = memory_of(y)
    with Stream() as other, stream.record() as event:
        other.wait(event)
        z = rms_norm(y, gamma, stream=other).y
        del y
        taken = [array for _ in range(3) for array in rms_norm(x, gamma, stream=stream)]
        assert place not in {memory_of(array) for array in taken}
        other.synchronize()
        np.testing.assert_allclose(z.numpy(), 1, rtol=1e-3)
        del z
    stream.synchronize()


def test_memory_that_another_stream_has_passed_goes_round_again(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    y = rms_norm(x, gamma, stream=stream).y
    place = memory_of(y)
    with Stream() as other, Event() as written:
        other.wait(stream.record(written))
        rms_norm(y, gamma, stream=other)
        other.synchronize()
        stream.synchronize()
        del y
    assert place in {memory_of(array) for array in rms_norm(x, gamma, stream=stream)}
    stream.synchronize()


def test_what_is_copied_at_once_never_gets_memory_of_queued_work(
    x: DeviceArray, gamma: DeviceArray, device: Device
) -> None:
    default = Stream.default(device)
    for _ in range(5):
        place = memory_of(queued := rms_norm(x, gamma).y)
        del queued
        # Its arguments are copied to the device before the stream has passed what is queued.
        y, _ = rms_norm(np.full((2, 8), 7, np.float32), np.ones(8, np.float32))
        np.testing.assert_allclose(y, 1, rtol=1e-3)
        assert place
    default.synchronize()


def test_a_closed_result_goes_back_to_cann(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    result = rms_norm(x, gamma, stream=stream)
    result.y.close()
    stream.synchronize()
    assert result.y.closed
    assert stream.pool.stats().reserved == 512
    del result
    assert stream.pool.stats() == (512, 512, 2, None)


def test_closing_the_buffer_of_a_result_closes_the_result(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    result = rms_norm(x, gamma, stream=stream)
    stream.synchronize()
    buffer = result.y.buffer
    assert (buffer.address, buffer.nbytes) == (result.y.address, 512)
    buffer.close()
    assert result.y.closed
    assert stream.pool.stats().reserved == 512
    with pytest.raises(InvalidArgumentError, match="memory was given back"):
        rms_norm(result.y, gamma, stream=stream)
    # Losing the buffer, or leaving its memory to the array, closes nothing.
    del buffer, result
    result = rms_norm(x, gamma, stream=stream)
    assert result.y.buffer.nbytes == 512
    assert not result.y.closed
    stream.synchronize()


def test_empty_results_hold_nothing(gamma: DeviceArray, stream: Stream) -> None:
    x = DeviceArray.empty((0, 8), np.float32)
    for _ in range(3):
        assert rms_norm(x, gamma, stream=stream).y.shape == (0, 8)
    assert stream.pool.stats() == (0, 0, 0, None)
    stream.synchronize()


# ---- controls -----------------------------------------------------------------------------------


def test_trimming_gives_back_what_is_not_in_use(
    x: DeviceArray, gamma: DeviceArray, stream: Stream, device: Device
) -> None:
    free = device.memory_info().free
    kept = rms_norm(x, gamma, stream=stream).y
    assert stream.pool.trim() == 512
    assert stream.pool.stats() == (512, 0, 2, None)
    stream.synchronize()
    del kept
    assert stream.pool.trim() == 512
    assert stream.pool.trim() == 0
    stream.workspace.trim()
    assert device.memory_info().free == free


def test_the_cap_holds_whatever_is_asked(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    stream.pool.cap = 1024
    kept = rms_norm(x, gamma, stream=stream)
    with pytest.raises(OutOfMemoryError) as caught:
        rms_norm(x, gamma, stream=stream)
    assert str(caught.value) == (
        "a result of 512 bytes does not fit the stream's pool, which holds 1024 of at most 1024.\n"
        "Hint: release results, or raise Stream.pool.cap."
    )
    del kept, caught
    # Cached memory is freed for a new request.
    wide = DeviceArray.empty((1, 200), np.float32)
    with pytest.raises(OutOfMemoryError):
        rms_norm(wide, wide[0], stream=stream)
    stream.pool.cap = None
    assert rms_norm(wide, wide[0], stream=stream).y.shape == (1, 200)
    stream.synchronize()


def test_a_pool_can_be_switched_off(x: DeviceArray, gamma: DeviceArray, stream: Stream) -> None:
    stream.pool.enabled = False
    asked = 0
    for _ in range(3):
        rms_norm(x, gamma, stream=stream)
        stream.synchronize()
        reserved, cached, allocations, _ = stream.pool.stats()
        assert (reserved, cached) == (0, 0)
        assert allocations >= asked + 2
        asked = allocations


def test_an_environment_variable_switches_all_of_them_off(run_python: Run) -> None:
    code = (
        "import numpy as np, pyaclnn\n"
        "x = pyaclnn.to_device(np.ones((2, 8), np.float32))\n"
        "with pyaclnn.Stream() as stream:\n"
        "    for _ in range(3): pyaclnn.rms_norm(x, x[0], stream=stream); stream.synchronize()\n"
        "    print(stream.pool.enabled, stream.pool.stats().allocations)\n"
    )
    assert run_python(code).stdout == "True 2\n"
    assert run_python(code, PYACLNN_CACHING="0").stdout == "False 6\n"


def test_a_pool_makes_room_when_the_device_is_full(device: Device, stream: Stream) -> None:
    total = device.memory_info().total
    sizes = [total // 8 * 5, total // 8 * 4]
    layouts = [Layout.dense(device._context, np.dtype(np.uint8), (size,)) for size in sizes]
    stream.pool._take(layouts[0], device)
    assert stream.pool.stats().cached == sizes[0]
    kept = stream.pool._take(layouts[1], device)
    assert stream.pool.stats() == (sizes[1], 0, 2, None)
    with pytest.raises(OutOfMemoryError, match="207001"):
        stream.pool._take(layouts[0], device)
    assert not kept.closed


def test_a_closed_stream_keeps_nothing(x: DeviceArray, gamma: DeviceArray, device: Device) -> None:
    free, before = device.memory_info().free, live_handles()
    with Stream() as own:
        y = rms_norm(x, gamma, stream=own).y
        rms_norm(x, gamma, stream=own)
    np.testing.assert_allclose(y.numpy(), 1, rtol=1e-3)
    del y
    assert (device.memory_info().free, live_handles()) == (free, before)


def test_what_other_streams_keep_idle_is_given_back_before_memory_runs_out(
    stream: Stream, device: Device
) -> None:
    x = to_device(np.ones((256, 1024), np.float32))
    with Stream() as other:
        for queue in (stream, other):
            rms_norm(x, x[0], stream=queue)
            queue.synchronize()
        stream.pool.trim()
        assert other.pool.stats().cached > x.nbytes
        free, total = device.memory_info()
        with mock.faults(f"memory={total - free + 4096}"):
            result = rms_norm(x, x[0], stream=stream)
            stream.synchronize()
        assert other.pool.stats().cached == 0
        del result


def test_a_smaller_cap_gives_back_what_is_idle(stream: Stream) -> None:
    x = to_device(np.ones((4, 8), np.float32))
    rms_norm(x, x[0], stream=stream)
    stream.synchronize()
    assert stream.pool.stats().reserved
    stream.pool.cap = 1
    assert stream.pool.stats().reserved == 0
    stream.pool.cap = None


def test_what_was_used_longest_ago_is_given_back_first(stream: Stream) -> None:
    source = to_device(np.ones((4, 1024), np.int32))
    often, seldom = (source[:rows].astype(np.float32, stream) for rows in (4, 2))
    stream.synchronize()
    for part in (often[:1], seldom, often[1:2]):
        part.fill_bytes(0, stream)
    del part, often, seldom
    stream.synchronize()
    stream.pool._give_back(1)
    assert stream.pool.stats().cached == source.nbytes


def test_trim_frees_no_block_that_is_handed_out_meanwhile(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    results = [rms_norm(x, gamma, stream=stream).rstd for _ in range(100)]
    stream.synchronize()
    taken: list[DeviceArray] = []

    def take(phase: str, _: dict[str, int]) -> None:
        if phase == "start":  # where other threads may run too
            taken.extend(rms_norm(x, gamma, stream=stream))

    threshold = gc.get_threshold()
    gc.callbacks.append(take)
    gc.set_threshold(1)
    try:
        results.clear()
        stream.pool.trim()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(take)
    stream.synchronize()
    assert taken
    assert all(
        np.allclose(array.numpy(), wanted)
        for array, wanted in zip(taken, [1, 1 / 3] * (len(taken) // 2), strict=True)
    )
