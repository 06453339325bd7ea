# SPDX-License-Identifier: Apache-2.0
"""A call like one that was made before goes straight to the launcher, and is refused all the same.

What an operator refuses is said by its checks. They are asked here each time, beside the operator
itself, which has seen calls that are equal or nearly so: ``1 == True == 1.0``.
"""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from pyaclnn.base.errors import AclError, InvalidArgumentError
from pyaclnn.ops import layer_norm, layer_norm_backward, rms_norm, rms_norm_grad
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.runtime.array import DeviceArray

f32 = np.float32


class World:
    """Arrays and streams, good and bad, that calls are made of."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        def on(host: Any, device: Device | None = None) -> DeviceArray:
            array = to_device(host, device)
            stack.callback(array.close)
            return array

        other = stack.enter_context(Device(1))
        ones = np.ones((2, 4), f32)
        x, y, z = on(ones), on(ones), on(ones)
        row, column = on(ones[0]), on(ones[:, 0].copy())
        gone = on(ones)
        gone.close()
        wide = on(np.ones((2, 8), f32))
        with Stream() as closed:
            pass
        stream = stack.enter_context(Stream())
        foreign = stack.enter_context(Stream(other))
        self.good: dict[str, Any] = {
            "x": x, "y": y, "z": z, "row": row, "column": column, "stream": stream,
        }  # fmt: skip
        self.arrays: list[Any] = [
            x, y, z[:], gone, on(ones, other), wide[:, :4], wide[:, ::2], x.T, ones, None, [1.0], 1,
            on(ones.astype(np.float16)), on(ones.astype(np.int32)), on(np.ones((3, 4), f32)),
            np.ma.array(ones), stream,
        ]  # fmt: skip
        self.rows: list[Any] = [
            row, on(ones[0]), x[0], wide[0, ::2], column, gone[0], None, ones[0], on(ones[:1]), 4,
        ]  # fmt: skip
        self.numbers: list[Any] = [
            1, True, 1.0, f32(1), np.float64(1), np.int64(1), np.True_, "1", None, 0, False, -1,
            float("nan"), 1e39, 10**400, 1 + 0j, (1,), [1], 1e-5, np.array(1.0),
        ]  # fmt: skip
        self.shapes: list[Any] = [
            4, (4,), [4], 4.0, (4.0,), np.int64(4), (np.int8(4),), np.array([4]), np.array([4.0]),
            "4", (2, 4), [2, 4], 3, (), None, True, {4: 4}, {4}, iter([4]),
        ]  # fmt: skip
        self.masks: list[Any] = [
            (True, True, True), [True, True, True], (1, 1, 1), (1.0, True, True), (np.True_,) * 3,
            np.array([True] * 3), (True, True), (True, False, True), (0, 1, 1), None, "abc", True,
            (False, True, True), (False, False, False),
        ]  # fmt: skip
        self.streams: list[Any] = [
            stream, None, closed, foreign, 7, "s", other, object(), stream.pointer, stack, True,
        ]  # fmt: skip
        extra, statistics = on(ones), [on(np.ones((2, 1), f32)) for _ in range(2)]
        sums = [on(ones[0]) for _ in range(2)]
        self.out3: list[Any] = [
            None, (None,) * 3, [None] * 3, (extra, *statistics), [extra, *statistics],
            (extra, statistics[0], statistics[0]), (extra, *sums), (extra, None, None),
            (x, None, None), (x.T, None, None), (gone, None, None), (ones, None, None), (extra,),
            {"out": extra}, {extra: 1}, (extra, 1, 2), extra, "abc", iter((None,) * 3),
            (extra, extra[0], sums[0]), (wide[:, ::2], None, None), (wide[:, ::2], *sums),
        ]  # fmt: skip
        self.out2: list[Any] = [
            None, (None, None), [None, None], (extra, statistics[0]), [extra, statistics[0]],
            (extra, extra), (extra, sums[0]), [extra, sums[0]], (x, None), (gone, None), (extra,),
            (ones, None), {0: extra, 1: None}, (extra, 1), (None, row), (wide[:, ::2], None), extra,
        ]  # fmt: skip


@pytest.fixture(scope="module")
def world(device: Device) -> Iterator[World]:
    assert device.id == 0
    with contextlib.ExitStack() as stack:
        yield World(stack)


@pytest.fixture(autouse=True)
def _streams_come_to_rest(world: World) -> Iterator[None]:
    """The streams outlive the tests, so that recipes made in one are there in the next."""
    yield
    gc.collect()  # an error that was caught keeps the frames it went through
    for stream in world.streams:
        if isinstance(stream, Stream) and not stream.closed:
            stream.synchronize()
            stream.pool.trim()
            stream.workspace.trim()


# An operator; its arguments; where other values for each of them are found.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, str], dict[str, str]]] = {
    "layer_norm": (
        layer_norm,
        {"input": "x", "normalized_shape": "4", "weight": "row", "stream": "stream"},
        {
            "input": "arrays", "normalized_shape": "shapes", "weight": "rows", "bias": "rows",
            "eps": "numbers", "stream": "streams", "out": "out3",
        },
    ),
    "layer_norm_backward": (
        layer_norm_backward,
        {
            "grad_out": "x", "input": "y", "normalized_shape": "4", "mean": "column",
            "rstd": "column", "stream": "stream",
        },
        {
            "grad_out": "arrays", "input": "arrays", "normalized_shape": "shapes", "mean": "rows",
            "weight": "rows", "output_mask": "masks", "stream": "streams", "out": "out3",
        },
    ),
    "rms_norm": (
        rms_norm,
        {"x": "x", "gamma": "row", "stream": "stream"},
        {
            "x": "arrays", "gamma": "rows", "epsilon": "numbers", "stream": "streams",
            "out": "out2",
        },
    ),
    "rms_norm_grad": (
        rms_norm_grad,
        {"dy": "x", "x": "y", "rstd": "column", "gamma": "row", "stream": "stream"},
        {
            "dy": "arrays", "x": "arrays", "rstd": "rows", "gamma": "rows", "stream": "streams",
            "out": "out2",
        },
    ),
}  # fmt: skip


def outcome(action: Callable[..., Any], arguments: dict[str, Any]) -> object:
    try:
        action(**arguments)
    except InvalidArgumentError as error:
        return str(error)
    except AclError as error:
        return type(error)
    return "accepted"


def agree(operator: Any, arguments: dict[str, Any]) -> None:
    """The checks alone, and the operator that remembers, say the same; the second time as well."""
    if any(hasattr(value, "__next__") for value in arguments.values()):
        return
    said = outcome(operator.prepare, arguments)
    for _ in range(2):
        assert outcome(operator, arguments) == said


def base(world: World, given: dict[str, str]) -> dict[str, Any]:
    return {name: 4 if value == "4" else world.good[value] for name, value in given.items()}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CALLS)
def test_each_value_in_each_place_is_judged_as_if_it_were_the_first(
    name: str, world: World
) -> None:
    operator, given_names, places = CALLS[name]
    good = base(world, given_names)
    for place, where in places.items():
        for value in getattr(world, where):
            operator(**good)
            agree(operator, {**good, place: value})
            # The other way round: what was just accepted is no excuse for its equals.
            for equal in getattr(world, where):
                agree(operator, {**good, place: equal})
        world.good["stream"].synchronize()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CALLS)
@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_run_of_calls_is_judged_call_by_call(
    name: str, world: World, device: Device, data: st.DataObject
) -> None:
    operator, given_names, places = CALLS[name]
    for _ in range(data.draw(st.integers(2, 6), "calls")):
        arguments = base(world, given_names)
        for place in data.draw(st.sets(st.sampled_from(sorted(places)), max_size=2), "places"):
            values = getattr(world, places[place])
            arguments[place] = values[data.draw(st.integers(0, len(values) - 1), place)]
        agree(operator, arguments)
        device.synchronize()  # the next call may write the same arrays on another stream


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", CALLS)
def test_what_cann_refuses_is_raised_once_and_not_tried_again(
    name: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator, given_names, _ = CALLS[name]
    good = base(world, given_names)
    for _ in range(2):
        operator(**good)
    prepare: Any = operator.prepare  # type: ignore[attr-defined]  # every operator has it
    call = prepare(**good)
    chosen = call.operator
    function: Callable[[Any, Any, int, bytes], int] = chosen.function
    asked: list[bytes] = []

    def without_arrays(timeline: Any, plan: Any, judged: int, message: bytes) -> int:
        asked.append(message)
        words = (
            bytes(8) if kind in "tw" else message[8 * place : 8 * place + 8]
            for place, kind in enumerate(chosen.kinds)
        )
        tail = message[8 * len(chosen.kinds) :]
        return function(timeline, plan, judged, b"".join(words) + tail)

    with monkeypatch.context() as patch:
        patch.setattr(chosen, "function", without_arrays)
        with pytest.raises(InvalidArgumentError, match="161001") as caught:
            operator(**good)
    assert len(asked) == 1
    assert caught.value.arguments
    operator(**good)
    world.good["stream"].synchronize()


def test_a_call_that_is_remembered_gives_what_the_first_one_gave(world: World) -> None:
    stream = world.good["stream"]
    for name, (operator, given_names, _) in CALLS.items():
        good = base(world, given_names)
        first, second = operator(**good), operator(**good)
        stream.synchronize()
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy(), err_msg=name)
