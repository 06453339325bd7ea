# SPDX-License-Identifier: Apache-2.0
"""A plan runs on other arrays than it was made of: which fit, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.base.errors import AclError, InvalidArgumentError
from pyaclnn.calling.plan import plan
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.handle import live_handles

from .plan_arguments import equal, fresh_eps, random

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.runtime.stream import Stream


@pytest.mark.parametrize("cached", [False, True])
def test_other_arrays_stay_until_others_are_given(
    x: DeviceArray, gamma: DeviceArray, stream: Stream, cached: bool
) -> None:
    eps, other = fresh_eps(), random(3, 8)
    if cached:
        rms_norm(x, gamma, eps, stream=stream)
    with plan(rms_norm, x, gamma, eps, stream=stream) as ready:
        assert ready.repeatable is not cached
        expected = [rms_norm(array, gamma, eps, stream=stream) for array in (x, other)]
        for array, result in ((other, expected[1]), (x, expected[0])):
            cases: list[dict[str, Any]] = [{"x": array}, {}]
            for arrays in cases:
                ready.run(**arrays)
                stream.synchronize()
                equal(ready.results, result)
        y, rstd = DeviceArray.empty((3, 8), np.float32), DeviceArray.empty((3, 1), np.float32)
        results = ready.run(x=other, y=y, rstd=rstd)
        stream.synchronize()
        assert results == (y, rstd) == ready.results
        equal(results, expected[1])


def test_what_was_bound_lives_until_the_stream_has_passed_it(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    before = live_handles()["device memory"]
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        other = random(3, 8)
        expected = rms_norm(other, gamma, 1e-4, stream=stream).y
        ready.run(x=other)
        del other
        ready.run(x=x, y=DeviceArray.empty((3, 8), np.float32))
        stream.synchronize()
        assert expected.shape == (3, 8)
    del expected, ready
    stream.pool.trim()
    assert live_handles()["device memory"] == before


REFUSED: dict[str, tuple[Callable[[DeviceArray], dict[str, Any]], str, str]] = {
    "unknown name": (lambda x: {"z": x}, "z", "one of x, gamma, y, rstd"),
    "other shape": (lambda x: {"x": x[:1]}, "x", "an open array of layout"),
    "other dtype": (
        lambda _: {"x": to_device(np.ones((3, 8), np.float16))}, "x", "an open array of layout",
    ),
    "other strides": (
        lambda _: {"x": DeviceArray.empty((8, 3), np.float32).T}, "x", "an open array of layout",
    ),
    "other offset": (
        lambda _: {"x": DeviceArray.empty((4, 8), np.float32)[1:]}, "x", "an open array of layout",
    ),
    "host array": (lambda _: {"x": np.ones((3, 8), np.float32)}, "x", "an open array of layout"),
    "None": (lambda _: {"x": None}, "x", "an open array of layout"),
    "closed": (lambda _: {"x": closed(random(3, 8))}, "x", "an open array of layout"),
    "a result as input": (
        lambda x: {"x": x, "y": x}, "y", "an array apart from all others",
    ),
    "one good, one bad": (
        lambda _: {"x": random(3, 8), "gamma": random(9)}, "gamma", "an open array of layout",
    ),
}  # fmt: skip


def closed(array: DeviceArray) -> DeviceArray:
    array.close()
    return array


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", REFUSED)
def test_arrays_that_do_not_fit_are_refused_and_change_nothing(
    case: str, x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    arrays, argument, expected = REFUSED[case]
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        ready.run()
        stream.synchronize()
        before = [array.numpy() for array in ready.results]
        given = arrays(x)
        with pytest.raises(InvalidArgumentError) as caught:
            ready.run(**given)
        assert caught.value.argument == argument
        assert expected in (caught.value.expected or "")
        ready.run()
        stream.synchronize()
        for array, known in zip(ready.results, before, strict=True):
            np.testing.assert_array_equal(array.numpy(), known)


def test_arrays_of_any_origin_take_each_others_place(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    # A result of another operator lies in a block of the pool, x in one of its own.
    result = rms_norm(x, gamma, stream=stream).y
    larger = DeviceArray.empty((9, 8), np.float32)
    larger.copy_from(np.ones((9, 8), np.float32))
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        for array in (result, larger[:3], x):
            ready.run(x=array)
            stream.synchronize()
            assert ready.results.y.numpy().all()


def test_a_result_is_never_bound_over_an_input(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        y = ready.results.y
        for arrays in ({"x": y}, {"y": x}, {"x": y, "y": y}):
            with pytest.raises(InvalidArgumentError, match="shares memory with"):
                ready.run(**arrays)  # type: ignore[arg-type]  # none is the stream
        # Memory is compared by its bytes where it may have several owners.
        borrowed = DeviceArray(Buffer.borrow(y.address, y.nbytes), (3, 8), np.float32)
        with pytest.raises(InvalidArgumentError, match=r"'\w+' is an array that shares memory"):
            ready.run(x=borrowed)
        # Changing places is fine: what counts is how things stand in the end.
        results = ready.run(x=y, y=x)
        assert results.y is x
        stream.synchronize()
        del borrowed


def test_arrays_are_bound_all_or_none(x: DeviceArray, gamma: DeviceArray, stream: Stream) -> None:
    others: dict[str, Any] = {"x": random(3, 8), "gamma": random(8)}
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        ready.run()
        stream.synchronize()
        expected = ready.results.y.numpy()
        with mock.faults("aclSetTensorAddr:2=561000"), pytest.raises(AclError, match="561000"):
            ready.run(**others)
        ready.run()
        stream.synchronize()
        assert np.array_equal(ready.results.y.numpy(), expected)
        ready.run(**others)
        stream.synchronize()
        assert not np.array_equal(ready.results.y.numpy(), expected)
        # Where they cannot even be taken back, nobody knows what a run would use.
        with mock.faults("aclSetTensorAddr:2+=561000"), pytest.raises(AclError, match="561000"):
            ready.run(x=x, gamma=gamma)
        assert ready.closed
