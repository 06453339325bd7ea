# SPDX-License-Identifier: Apache-2.0
"""Plans: phase 1 once, phase 2 as often as wanted, with the results of the operator itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.calling import plan as plans
from pyaclnn.calling.launch import launch
from pyaclnn.calling.plan import Plan, plan
from pyaclnn.errors import AclError, ContextError, InvalidArgumentError
from pyaclnn.ops import layer_norm, layer_norm_backward, rms_norm, rms_norm_grad
from pyaclnn.runtime.array import DeviceArray, to_device
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.handle import live_handles
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RANDOM = np.random.default_rng(5)


def random(*shape: int) -> DeviceArray:
    return to_device(RANDOM.standard_normal(shape).astype(np.float32))


@pytest.fixture
def x(stream: Stream) -> Iterator[DeviceArray]:
    array = random(3, 8)
    yield array
    array.close()
    stream.synchronize()


@pytest.fixture
def gamma(stream: Stream) -> Iterator[DeviceArray]:
    array = random(8)
    yield array
    array.close()
    stream.synchronize()


def fresh_eps(_seen: list[float] = [1e-4]) -> float:  # noqa: B006  # it counts
    """Return an epsilon that no call had so far, so that phase 1 is not answered by the cache."""
    _seen[0] *= 1.0001
    return _seen[0]


def equal(results: Any, others: Any) -> None:
    for one, other in zip(results, others, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


# Each operator with its arguments, on arrays of these shapes.
OPERATORS: dict[str, Callable[..., tuple[Any, tuple[Any, ...], dict[str, Any]]]] = {
    "layer_norm": lambda: (layer_norm, (random(3, 8), 8, random(8), random(8), fresh_eps()), {}),
    "layer_norm without weights": lambda: (layer_norm, (random(3, 8), 8), {"eps": fresh_eps()}),
    "layer_norm_backward": lambda: (
        layer_norm_backward,
        (random(3, 9), random(3, 9), 9, random(3), random(3), random(9), random(9)),
        {},
    ),
    "layer_norm_backward, masked": lambda: (
        layer_norm_backward,
        (random(3, 8), random(3, 8), 8, random(3), random(3)),
        {"output_mask": (True, False, True)},
    ),
    "rms_norm": lambda: (rms_norm, (random(3, 8), random(8), fresh_eps()), {}),
    "rms_norm_grad": lambda: (
        rms_norm_grad,
        (random(3, 8), random(3, 8), random(3), random(8)),
        {},
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_plan_gives_what_the_operator_gives(name: str, stream: Stream) -> None:
    operator, arguments, options = OPERATORS[name]()
    with plan(operator, *arguments, **options, stream=stream) as ready:
        for result in ready.results:
            if result is not None:
                result.fill_bytes(255)
        results = ready.run()
        assert results is ready.results
        expected = operator(*arguments, **options, stream=stream)
        stream.synchronize()
        assert type(results) is type(expected)
        assert [r is None for r in results] == [e is None for e in expected]
        equal(*([a for a in array if a is not None] for array in (results, expected)))


@pytest.mark.pyaclnn(contract=False)
def test_a_plan_is_asynchronous(x: DeviceArray, gamma: DeviceArray, stream: Stream) -> None:
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        ready.run()
        with pytest.raises(ContextError, match="has still to write"):
            ready.results.y.numpy()
        stream.synchronize()
        assert ready.results.y.numpy().all()


def test_a_plan_writes_to_arrays_given_for_it(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    y = DeviceArray.empty((3, 8), np.float32)
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream, out=(y, None)) as ready:
        assert ready.run().y is y


def test_a_plan_of_a_call_that_cann_has_cached_does_both_phases_a_run(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    eps = fresh_eps()
    with plan(rms_norm, x, gamma, eps, stream=stream) as first:
        assert first.repeatable
        assert repr(first) == "<Plan of aclnnRmsNorm, repeatable>"
    rms_norm(x, gamma, eps, stream=stream)
    with plan(rms_norm, x, gamma, eps, stream=stream) as second:
        assert not second.repeatable
        assert repr(second) == "<Plan of aclnnRmsNorm, both phases a run>"
        before = second.run(), rms_norm(x, gamma, eps, stream=stream)
        other = random(3, 8)
        stream.synchronize()
        equal(*before)
        again = second.run(x=other), rms_norm(other, gamma, eps, stream=stream)
        stream.synchronize()
        equal(*again)
    assert repr(second) == "<Plan of aclnnRmsNorm, closed>"


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
                ready.run(**arrays)
        # Memory is compared by its bytes where it may have several owners.
        borrowed = DeviceArray(Buffer.borrow(y.address, y.nbytes), (3, 8), np.float32)
        with pytest.raises(InvalidArgumentError, match=r"'\w+' is an array that shares memory"):
            ready.run(x=borrowed)
        # Changing places is fine: what counts is how things stand in the end.
        results = ready.run(x=y, y=x)
        assert results.y is x
        stream.synchronize()
        del borrowed


def test_a_plan_runs_on_two_streams(x: DeviceArray, gamma: DeviceArray, stream: Stream) -> None:
    with (
        Stream() as other,
        plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as one,
        plan(rms_norm, x, gamma, fresh_eps(), stream=other) as two,
    ):
        for ready in (one, two):
            for queue in (None, other, stream):
                for array in ready.results:
                    array.fill_bytes(0)
                ready.run(stream=queue)
                stream.synchronize()
                other.synchronize()
                assert ready.results.y.numpy().all()


def test_a_closed_plan_says_so_and_gives_everything_back(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    for cached in (False, True):
        eps = fresh_eps()
        if cached:
            rms_norm(x, gamma, eps, stream=stream)
        ready = plan(rms_norm, x, gamma, eps, stream=stream)
        assert ("plan" in live_handles()) is not cached
        ready.run()
        ready.close()
        ready.close()
        assert ready.closed
        assert "plan" not in live_handles()
        cases: list[dict[str, Any]] = [{}, {"x": x}, {"nothing": x}]
        for arrays in cases:
            with pytest.raises(ContextError) as caught:
                ready.run(**arrays)
            assert str(caught.value) == (
                "this plan is closed.\nHint: make another one, or close it later."
            )
    stream.synchronize()


def test_a_plan_that_is_forgotten_is_given_back(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    ready = plan(rms_norm, x, gamma, fresh_eps(), stream=stream)
    ready.run()
    del ready
    assert "plan" not in live_handles()
    stream.synchronize()


def test_streams_that_do_not_fit_are_refused(
    x: DeviceArray, gamma: DeviceArray, stream: Stream, device: Device
) -> None:
    strange: list[Any] = [7, "s", device, object(), stream.pointer, True]
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        for given in strange:
            with pytest.raises(InvalidArgumentError, match=r"Plan.run\(\): 'stream' is"):
                ready.run(stream=given)
        with Stream() as gone:
            pass
        with pytest.raises(InvalidArgumentError, match="must be an open Stream of device 0"):
            ready.run(stream=gone)
        with (
            Device(1) as second,
            Stream(second) as other,
            pytest.raises(InvalidArgumentError, match="must be an open Stream of device 0"),
        ):
            ready.run(stream=other)


def test_a_plan_outlives_its_stream_but_needs_another_one(
    x: DeviceArray, gamma: DeviceArray, stream: Stream
) -> None:
    with Stream() as own:
        ready = plan(rms_norm, x, gamma, fresh_eps(), stream=own)
        ready.run()
    with pytest.raises(InvalidArgumentError, match=r"Plan.run\(\): 'stream' is <Stream .* closed>"):
        ready.run()
    ready.run(stream=stream)
    stream.synchronize()
    ready.close()


def test_an_array_that_is_closed_afterwards_is_refused(gamma: DeviceArray, stream: Stream) -> None:
    x = random(3, 8)
    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        ready.run()
        x.close()
        with pytest.raises(ContextError, match="memory of an argument was given back"):
            ready.run()
        ready.run(x=random(3, 8))
        stream.synchronize()


def test_a_plan_tells_its_workspace(stream: Stream) -> None:
    arrays = [random(64, 64), random(64, 64), random(64), random(64)]
    with plan(rms_norm_grad, *arrays, stream=stream) as ready:
        assert isinstance(ready, Plan)
        assert ready.workspace_size >= 0
        ready.run()
        assert stream.workspace.stats().size >= ready.workspace_size
        stream.synchronize()


def test_a_failure_of_a_run_is_raised_once_and_the_plan_goes_on(
    x: DeviceArray, gamma: DeviceArray, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[object] = []

    def fail(*arguments: object) -> int:
        runs.append(arguments)
        with pytest.raises(AclError):
            launch("aclnnRmsNorm", None, None, 1e-6, None, None, stream=stream)
        return 161001

    with plan(rms_norm, x, gamma, fresh_eps(), stream=stream) as ready:
        with monkeypatch.context() as patch:
            patch.setattr(plans, "_run", fail)
            with pytest.raises(AclError, match="161001"):
                ready.run()
        assert len(runs) == 1
        ready.run()
        stream.synchronize()


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
