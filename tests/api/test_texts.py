# SPDX-License-Identifier: Apache-2.0
"""Messages about nearly valid arguments: they suggest a correction; nothing is silently ignored."""

from __future__ import annotations

import copy
import ctypes
import pickle
from array import array
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn import ops
from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.event import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.stream import Stream


@pytest.mark.parametrize("way", [pickle.dumps, copy.deepcopy])
def test_an_array_is_copied_by_way_of_the_host(
    device: Device, way: Callable[[object], object]
) -> None:
    array = to_device(np.ones(4, np.float32), device)
    with pytest.raises(TypeError, match=r"its data is in device memory; .* \.numpy\(\), and back"):
        way(array)


@pytest.mark.parametrize("way", [pickle.dumps, copy.deepcopy, copy.copy])
def test_what_stands_for_a_c_object_is_called_by_its_class(
    device: Device, way: Callable[[object], object]
) -> None:
    words = "this Event stands for one C object and cannot be copied or pickled"
    with Event(device) as event, pytest.raises(TypeError, match=f"^{words}$"):
        way(event)


@pytest.mark.parametrize("name", ["pool", "workspace"])
def test_a_mistyped_setting_is_an_error(stream: Stream, name: str) -> None:
    settings = getattr(stream, name)
    with pytest.raises(AttributeError, match="kap"):
        settings.kap = 1 << 20


@pytest.mark.parametrize(
    ("host", "given", "hint"),
    [
        (np.ones(3, ">f4"), ">f4", "convert it: host.astype(np.float32)."),
        (np.float32(3), "a NumPy scalar of float32", "make one: np.asarray(host, np.float32)."),
        ([1.0], "a list", "make one: np.asarray(host, np.float32)."),
        (array("f", [1.0]), "an array", "make one: np.asarray(host)."),
        (memoryview(bytearray(4)), "a memoryview", "make one: np.asarray(host)."),
        ((ctypes.c_float * 4)(), "a c_float_Array_4", "make one: np.asarray(host)."),
        (b"1234", "a bytes", "say what the bytes are: np.frombuffer(host, np.float32)."),
        (
            np.ones(3).__dlpack__(),
            "a PyCapsule",
            "hand over the tensor itself, and not what its __dlpack__() has returned.",
        ),
    ],
)
def test_what_is_nearly_an_array_is_told_how_to_become_one(
    device: Device, host: Any, given: str, hint: str
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        to_device(host, device)
    assert str(caught.value).startswith(f"to_device(): 'host' is {given}; it must be ")
    assert str(caught.value).endswith(f"\nHint: {hint}")


@pytest.mark.parametrize(
    ("dtype", "given", "hint"),
    [
        (np.float32, "float64", "host.astype(np.float32)"),
        (np.float32, ">f4", "host.astype(np.float32)"),
        (ml_dtypes.bfloat16, "float32", "host.astype(ml_dtypes.bfloat16)"),
    ],
)
def test_another_dtype_is_told_how_to_be_converted(
    device: Device, dtype: Any, given: str, hint: str
) -> None:
    target = DeviceArray.empty(4, dtype, device)
    with pytest.raises(InvalidArgumentError, match=r"like the device array|byte order") as caught:
        target.copy_from(np.ones(4, given))
    assert str(caught.value).endswith(f"\nHint: convert it: {hint}.")


@pytest.mark.parametrize(
    ("dtype", "hint"),
    [
        ("float64", "convert it: x.astype(np.float32)."),
        ("complex64", "take a part of it: x.real.astype(np.float32)."),
        ("U1", "it holds text; if that is numbers, x.astype(np.float32) reads them."),
        ("S1", "it holds text; if that is numbers, x.astype(np.float32) reads them."),
        (
            "O",
            "it holds Python objects, as of rows of different lengths: make these one.",
        ),
        ("M8[s]", "it holds times, which are no numbers until you choose a unit and an origin."),
    ],
)
def test_what_a_conversion_would_lose_or_not_do_is_not_advised(dtype: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        rms_norm(np.zeros(4, dtype), W)
    assert str(caught.value).endswith(f"\nHint: {hint}")


def test_an_operator_says_it_of_what_can_be_no_key_too() -> None:
    with pytest.raises(InvalidArgumentError, match=r"make one: np\.asarray\(x\)"):
        rms_norm(memoryview(bytearray(4)), W)  # type: ignore[call-overload]  # that is the point


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mean", r".*aclnn.* \.numpy\(\) copies"),
        ("tolist", r"\.numpy\(\) copies it to the host"),
        ("item", r"float\(x\), int\(x\) and bool\(x\) read the only element"),
        ("cpu", r"\.numpy\(\) copies it to the host"),
        ("contiguous", r"\.is_contiguous and \.strides describe it"),
    ],
)
def test_what_other_arrays_have_is_told_the_way(device: Device, name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=rf"no '{name}'; {hint}"):
        getattr(to_device(W, device), name)


def test_what_other_arrays_have_is_not_listed(device: Device) -> None:
    array = to_device(W, device)
    assert dir(array) == dir(DeviceArray)
    assert all(hasattr(array, name) for name in dir(array))
    assert {"mean", "cpu"}.isdisjoint(dir(array))
    assert {"shape", "numpy", "reshape", "__len__"} <= set(dir(array))


def test_what_no_array_has_is_not(device: Device) -> None:
    with pytest.raises(AttributeError, match=r"^'DeviceArray' object has no attribute 'shap'$"):
        getattr(to_device(W, device), "sh" + "ap")


def test_an_array_as_index_is_not_printed_as_a_whole(device: Device) -> None:
    with pytest.raises(InvalidArgumentError, match=r"'index' is an array of bool and shape \(4,\)"):
        to_device(W, device)[W > 0]


def test_a_device_array_where_one_of_the_host_is_wanted(device: Device) -> None:
    array = to_device(W, device)
    with pytest.raises(InvalidArgumentError, match=r"copied to the host by host\.numpy\(\)"):
        array.copy_to(array)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("index", [2**63, 2**64, -(2**63) - 1])
def test_an_index_beyond_everything_is_out_of_bounds(device: Device, index: int) -> None:
    array = to_device(np.ones(4, np.float32), device)
    with pytest.raises(IndexError):
        array[index]


def test_a_result_is_read_behind_the_stream_that_is_named(stream: Stream) -> None:
    x = to_device(np.full((2, 8), 3, np.float32), stream.device)
    y = rms_norm(x, to_device(np.ones(8, np.float32), stream.device), stream=stream).y
    np.testing.assert_allclose(y.numpy(stream=stream), 1, rtol=1e-3)
    assert not stream._timeline.busy


def test_a_result_is_not_read_behind_something_else(stream: Stream) -> None:
    x = to_device(np.ones(8, np.float32), stream.device)
    with pytest.raises(InvalidArgumentError, match=r"numpy\(\): 'stream' is 7"):
        x.numpy(stream=7)  # type: ignore[arg-type]  # that is the point


Z = np.zeros((2, 3, 4), np.float32)
W = np.ones(4, np.float32)
ORDER = "the order is layer_norm(input, normalized_shape, weight, bias, eps)."


@pytest.mark.parametrize(
    ("action", "given", "hint"),
    [
        (
            lambda: ops.layer_norm(Z, W, 4),  # type: ignore[call-overload]  # swapped
            "'normalized_shape' is an array of float32 and shape (4,); it must be an integer",
            f"'normalized_shape' and 'weight' are in each other's place; {ORDER}",
        ),
        (
            lambda: ops.layer_norm(4, Z),  # type: ignore[call-overload]  # swapped
            "'normalized_shape' is an array of float32 and shape (2, 3, 4); it must be an integer",
            f"'normalized_shape' and 'input' are in each other's place; {ORDER}",
        ),
        (
            lambda: ops.layer_norm(Z, W),  # type: ignore[call-overload]  # one is left out
            "'normalized_shape' is an array of float32 and shape (4,); it must be an integer",
            ORDER,
        ),
        (
            lambda: rms_norm(W, Z),
            "'gamma' is of shape (2, 3, 4); it must be of the shape of trailing axes of 'x'",
            "'x' and 'gamma' may be in each other's place.",
        ),
        (
            lambda: rms_norm(Z.astype(">f2"), W),
            "'x' is >f2; it must be of the machine's byte order, ",
            "convert it: x.astype(np.float16).",
        ),
        (
            lambda: rms_norm(Z, np.float32(1)),
            "'gamma' is a NumPy scalar of float32; it must be a NumPy array",
            "make one: np.asarray(gamma, np.float32).",
        ),
        (
            lambda: ops.embedding_renorm(Z[0].copy(), [1], 1.0),  # type: ignore[call-overload]
            "'indices' is a list; it must be a NumPy array",
            "make one: np.asarray(indices, np.int32).",
        ),
        (
            lambda: ops.add_rms_norm_cast(Z.tolist(), Z, W),  # type: ignore[call-overload]
            "'x1' is a list; it must be a NumPy array",
            "make one: np.asarray(x1, np.float16).",
        ),
    ],
)
def test_arguments_of_an_operator_that_nearly_fit_are_told_the_way(
    action: Callable[[], object], given: str, hint: str
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        action()
    assert given in str(caught.value)
    assert str(caught.value).endswith(f"\nHint: {hint}")
