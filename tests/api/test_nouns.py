# SPDX-License-Identifier: Apache-2.0
"""Argument checks of devices, streams, events, buffers and arrays; NumPy integers are accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.calling.plan import plan
from pyaclnn.cann.library import select_backend
from pyaclnn.ops import layer_norm, rms_norm
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.event import Event
from pyaclnn.runtime.handle import live_handles
from pyaclnn.runtime.pinned import pinned_empty
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

f32 = np.float32


def z(*shape: int) -> Any:
    return np.zeros(shape, f32)


@pytest.fixture
def x() -> Iterator[DeviceArray]:
    array = to_device(z(2, 4))
    yield array
    array.close()


A_DEVICE = "a Device, or None"
BYTES = "a number of bytes, 0 or more, below 2**63"
EXTENT = "of at most 32 axes and less than 2**63 bytes"
CAP = "a number of bytes, 0 or more, or None for no limit"
SLICE = "a slice of integers"
NUMPY = "a NumPy array"
AN_EVENT = "an Event"


def setting(thing: Any, name: str, value: Any) -> None:
    setattr(thing, name, value)


# Operation; argument; its value; what it must be.
NOUNS: dict[str, tuple[Callable[[Any], Any], str, str, str]] = {
    "Event('x')": (lambda _: Event(ANY_TEXT), "device", "'x'", A_DEVICE),
    "Stream('x')": (lambda _: Stream(ANY_TEXT), "device", "'x'", A_DEVICE),
    "Stream(0)": (lambda _: Stream(ZERO), "device", "0", A_DEVICE),
    "Buffer(4, 0)": (lambda _: Buffer(4, ZERO), "device", "0", A_DEVICE),
    "Buffer(4, False)": (lambda _: Buffer(4, NO), "device", "False", A_DEVICE),
    "to_device, 'cpu'": (lambda _: to_device(z(2), CPU), "device", "'cpu'", A_DEVICE),
    "pinned_empty, 1": (lambda _: pinned_empty(2, f32, ONE), "device", "1", A_DEVICE),
    "empty, 'x'": (lambda _: DeviceArray.empty(2, f32, ANY_TEXT), "device", "'x'", A_DEVICE),
    "to_device, stream": (
        lambda _: to_device(z(2), stream=ONE), "stream", "1 (int)", "an open Stream, or None",
    ),
    "to_device, masked": (
        lambda _: to_device(np.ma.array(z(2))), "host", "a MaskedArray", NUMPY,
    ),
    "copy_from, masked": (
        lambda x: x.copy_from(np.ma.array(z(2, 4))), "host", "a MaskedArray", NUMPY,
    ),
    "wait(None)": (lambda _: Stream.default().wait(NONE), "event", "None", AN_EVENT),
    "record(1)": (lambda _: Stream.default().record(ONE), "event", "1", AN_EVENT),
    "elapsed_ms(1)": (lambda _: closed_event().elapsed_ms(ONE), "end", "1", AN_EVENT),
    "DeviceArray(None)": (lambda _: DeviceArray(NONE, 2, f32), "buffer", "None", "a Buffer"),
    "Device(1 << 40)": (
        lambda _: Device(1 << 40), "device_id", f"{1 << 40}", "an integer from 0 to 2147483647",
    ),
    "Device, context": (
        lambda _: Device(0, context=5), "context", "5", "an aclrtContext as a C pointer, or None",
    ),
    "Buffer(1 << 64)": (lambda _: Buffer(1 << 64), "nbytes", f"{1 << 64}", BYTES),
    "Buffer(True)": (lambda _: Buffer(True), "nbytes", "True", BYTES),
    "Buffer('4')": (lambda _: Buffer(FOUR_TEXT), "nbytes", "'4'", BYTES),
    "Buffer.borrow(1 << 64)": (
        lambda _: Buffer.borrow(1 << 64, 4),
        "address", f"{1 << 64}", "the device address of 4 bytes",
    ),
    "borrow(1 << 64)": (
        lambda _: Stream.borrow(1 << 64), "handle", f"{1 << 64}",
        "the address of an aclrtStream, or a C pointer to it",
    ),
    "empty, huge": (
        lambda _: DeviceArray.empty((1 << 62, 1 << 62), f32),
        "shape", f"({1 << 62}, {1 << 62})", EXTENT,
    ),
    "empty, 70 axes": (
        lambda _: DeviceArray.empty((1,) * 70, f32), "shape", "of 70 axes", EXTENT,
    ),
    "array, huge and empty": (
        lambda x: DeviceArray(x.buffer, (2**62, 2**62, 0), f32),
        "shape", f"({2**62}, {2**62}, 0)", EXTENT,
    ),
    "pinned, huge": (lambda _: pinned_empty(1 << 62, f32), "shape", f"({1 << 62},)", EXTENT),
    "array, strides": (
        lambda x: DeviceArray(x.buffer, (0,), f32, (1 << 66,)),
        "strides", f"({1 << 66},)", "1 multiples of 4 bytes, none negative",
    ),
    "select_backend(3)": (
        lambda _: select_backend(ONE), "choice", "1", "'cann', 'mock', or the path of a folder",
    ),
    "fill_bytes(1.0)": (lambda x: x.fill_bytes(1.0), "value", "1.0", "a byte, 0 to 255"),
    "fill_bytes(True)": (lambda x: x.fill_bytes(True), "value", "True", "a byte, 0 to 255"),
    "x['a':]": (lambda x: x["a":], "index", "slice('a', None, None)", SLICE),
    "x[:, :1.5]": (lambda x: x[:, :1.5], "index", "slice(None, 1.5, None)", SLICE),
    "x[::'a']": (lambda x: x[::"a"], "index", "slice(None, None, 'a')", SLICE),
    "reshape, huge": (
        lambda x: x.reshape(1 << 70), "shape", f"{1 << 70}", "a shape of 8 elements, as (2, 4) is",
    ),
    "pool cap": (lambda _: setting(Stream.default().pool, "cap", -1), "cap", "-1", CAP),
    "workspace cap": (lambda _: setting(Stream.default().workspace, "cap", "1"), "cap", "'1'", CAP),
    "workspace use": (
        lambda _: Stream.default().workspace.use(ONE), "buffer", "1", "an open buffer of device 0",
    ),
    "synchronize(True)": (
        lambda _: Stream.default().synchronize(True), "timeout", "True",
        "a number of seconds above 0 and at most 2147483, or None to wait without limit",
    ),
    "plan(3)": (
        lambda _: plan(ANY_OPERATOR), "operator", "3",
        "an operator of pyaclnn.ops or pyaclnn.aclnn, which its arguments follow",
    ),
    "plan, host": (
        lambda _: plan(rms_norm, z(2, 4), z(4)), "arguments", "NumPy arrays",
        "device arrays with work to do",
    ),
}  # fmt: skip
# Values of which the types say that they cannot be.
ANY_TEXT: Any = "x"
CPU: Any = "cpu"
FOUR_TEXT: Any = "4"
NO: Any = False
ZERO: Any = 0
ONE: Any = 1
NONE: Any = None
ANY_OPERATOR: Any = 3


def closed_event() -> Event:
    with Event() as event:
        return event


@pytest.mark.parametrize("action", NOUNS)
def test_a_noun_refuses_what_it_cannot_take(action: str, x: DeviceArray) -> None:
    act, argument, given, expected = NOUNS[action]
    before = live_handles()
    with pytest.raises(InvalidArgumentError) as caught:
        act(x)
    error = caught.value
    assert (error.argument, error.given, error.expected) == (argument, given, expected)
    assert f"'{argument}' is {given}; it must be {expected}." in str(error)
    assert live_handles() == before


def test_a_number_in_place_of_a_device_is_told_how_to_open_one() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        Buffer(4, ONE)
    assert str(caught.value) == (
        "Buffer(): 'device' is 1; it must be a Device, or None.\n"
        "Hint: open it with Device(1), and close it when it is no longer needed."
    )


def test_the_truth_of_many_elements_is_no_surprise_copy(x: DeviceArray) -> None:
    for array in (x, x[0], x[:0]):
        with pytest.raises(TypeError, match=r"copy it with \.numpy\(\)"):
            bool(array)


# ---- integers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array])
def test_integers_of_numpy_are_integers(kind: Any, device: Device) -> None:
    two, four = kind(2), kind(4)
    x = DeviceArray.empty((two, four), f32, device)
    x.fill_bytes(kind(0), Stream.default(device))
    assert x.shape == (2, 4)
    assert Buffer(four).nbytes == 4
    assert DeviceArray(x.buffer, two, f32, (four,), offset=four).address == x.address + 4
    assert pinned_empty(two, f32).shape == (2,)
    assert layer_norm(z(2, 4), four).out.shape == (2, 4)
    stream = Stream.default(device)
    stream.synchronize(timeout=kind(1) if kind is not np.array else np.float32(0.5))
    stream.pool.cap = kind(100)
    assert (stream.pool.cap, type(stream.pool.cap)) == (100, int)
    stream.pool.cap = None
    Device(kind(0), context=device.pointer).close()


@pytest.mark.parametrize("shape", [np.array([2, 4]), np.array([4]), [np.int32(4)], (np.int8(4),)])
def test_a_normalized_shape_may_be_made_with_numpy(shape: Any, x: DeviceArray) -> None:
    assert layer_norm(z(2, 4), shape).out.shape == (2, 4)
    for _ in range(2):
        layer_norm(x, shape)


def test_a_normalized_shape_of_other_numbers_is_refused() -> None:
    for shape in (np.array([4.0]), np.array([True]), np.array([[4]]), np.bool_(True)):
        with pytest.raises(InvalidArgumentError, match="'normalized_shape' is"):
            layer_norm(z(2, 4), shape)  # type: ignore[call-overload]  # that is the point
