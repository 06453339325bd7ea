# SPDX-License-Identifier: Apache-2.0
"""The workspace of a stream, which only grows, and never under work that is still queued.

It can be given back, and be the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.base.errors import InvalidArgumentError, OutOfMemoryError
from pyaclnn.ops import layer_norm_backward
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.handle import live_handles
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from pyaclnn.runtime.array import DeviceArray
    from pyaclnn.runtime.device import Device


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
