# SPDX-License-Identifier: Apache-2.0
"""The pool of a stream: memory of results is handed out again, in stream order, and never too soon.

The workspace of a stream, which only grows, and never under work that is still queued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.array import DeviceArray, to_device
from pyaclnn.buffer import Buffer
from pyaclnn.errors import InvalidArgumentError, OutOfMemoryError
from pyaclnn.event import Event
from pyaclnn.handle import live_handles
from pyaclnn.layout import Layout
from pyaclnn.ops import layer_norm_backward, rms_norm
from pyaclnn.stream import Stream

if TYPE_CHECKING:
    import subprocess

    from pyaclnn.device import Device

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
        "Hint: let go of results, or raise Stream.pool.cap."
    )
    del kept, caught
    # What is only cached makes way for what is needed.
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
    layouts = [Layout.dense(device.context, np.dtype(np.uint8), (size,)) for size in sizes]
    stream.pool.take(layouts[0], device)
    assert stream.pool.stats().cached == sizes[0]
    kept = stream.pool.take(layouts[1], device)
    assert stream.pool.stats() == (sizes[1], 0, 2, None)
    with pytest.raises(OutOfMemoryError, match="207001"):
        stream.pool.take(layouts[0], device)
    assert not kept.closed


def test_a_closed_stream_keeps_nothing(x: DeviceArray, gamma: DeviceArray, device: Device) -> None:
    free, before = device.memory_info().free, live_handles()
    with Stream() as own:
        y = rms_norm(x, gamma, stream=own).y
        rms_norm(x, gamma, stream=own)
    np.testing.assert_allclose(y.numpy(), 1, rtol=1e-3)
    del y
    assert (device.memory_info().free, live_handles()) == (free, before)


# ---- workspace ----------------------------------------------------------------------------------


def arguments(rows: int, columns: int = 64) -> tuple[DeviceArray, ...]:
    host = np.random.default_rng(1).standard_normal((rows, columns)).astype(np.float32)
    statistics = np.ones(rows, np.float32)
    return tuple(to_device(array) for array in (host, host + 1, statistics, statistics))


def backward(stream: Stream, rows: int) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    grad, x, mean, rstd = arguments(rows)
    results = layer_norm_backward(grad, x, 64, mean, rstd, stream=stream)
    stream.synchronize()
    return [array.numpy() for array in results]


def test_a_workspace_grows_while_work_that_uses_it_is_queued(
    stream: Stream, device: Device
) -> None:
    cases = [(rows, arguments(rows)) for rows in (2, 64, 1024, 4)]
    results, sizes = [], []
    for _, (grad, x, mean, rstd) in cases:
        results.append(layer_norm_backward(grad, x, 64, mean, rstd, stream=stream))
        sizes.append(stream.workspace.stats().size)
    assert sizes == sorted(sizes)
    assert stream.workspace.stats().grown >= 1
    stream.synchronize()
    for (rows, _), result in zip(cases, results, strict=True):
        with Stream(device) as alone:
            for one, expected in zip(result, backward(alone, rows), strict=True):
                np.testing.assert_array_equal(one.numpy(), expected)


def test_a_trimmed_workspace_comes_back_when_it_is_needed(stream: Stream) -> None:
    backward(stream, 64)
    size = stream.workspace.stats().size
    assert size > 0
    assert live_handles()["workspace"] == 1
    stream.workspace.trim()
    assert stream.workspace.stats().size == 0
    assert "workspace" not in live_handles()
    backward(stream, 64)
    assert stream.workspace.stats().size == size


def test_trimming_waits_for_queued_work(stream: Stream) -> None:
    grad, x, mean, rstd = arguments(64)
    result = layer_norm_backward(grad, x, 64, mean, rstd, stream=stream)
    stream.workspace.trim()
    assert live_handles()["workspace"] == 1
    stream.synchronize()
    assert "workspace" not in live_handles()
    assert np.isfinite(result.grad_weight.numpy()).all()


def test_the_cap_of_a_workspace_holds(stream: Stream) -> None:
    stream.workspace.cap = 1
    with pytest.raises(OutOfMemoryError, match=r"raise Stream\.workspace\.cap, or give a larger"):
        backward(stream, 64)
    assert stream.workspace.stats() == (0, 0, 1)
    stream.workspace.cap = None
    backward(stream, 64)


def test_a_buffer_of_the_caller_is_used_and_no_other(stream: Stream, device: Device) -> None:
    backward(stream, 64)
    size = stream.workspace.stats().size
    with Buffer(size) as own:
        stream.workspace.use(own)
        assert stream.workspace.stats().size == size
        assert "workspace" not in live_handles()
        expected = backward(stream, 64)
        stream.workspace.trim()
        assert stream.workspace.stats().size == size
        with Buffer(1) as tiny:
            stream.workspace.use(tiny)
            with pytest.raises(OutOfMemoryError, match="not 1"):
                backward(stream, 64)
        stream.workspace.use(None)
        for one, other in zip(backward(stream, 64), expected, strict=True):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(InvalidArgumentError, match="an open buffer of device 0"):
        stream.workspace.use(own)
    assert device.id == 0


def test_a_buffer_that_is_closed_stays_the_workspace(stream: Stream) -> None:
    expected = backward(stream, 64)
    own = Buffer(stream.workspace.stats().size)
    stream.workspace.use(own)
    backward(stream, 64)
    own.close()
    for one, other in zip(backward(stream, 64), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert live_handles()["device memory"]
    stream.workspace.use(None)
    stream.synchronize()


def test_a_buffer_is_the_workspace_of_one_stream(stream: Stream) -> None:
    with Buffer(1 << 25) as own, Stream() as other:
        stream.workspace.use(own)
        stream.workspace.use(own)
        with pytest.raises(InvalidArgumentError, match="the workspace of another stream"):
            other.workspace.use(own)
        stream.workspace.use(None)
        stream.synchronize()
        other.workspace.use(own)
        backward(other, 64)


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
