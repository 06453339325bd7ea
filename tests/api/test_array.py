# SPDX-License-Identifier: Apache-2.0
"""Device arrays mean what NumPy arrays mean, and move data only where it is written."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as nps

from pyaclnn.base.errors import ContextError, InvalidArgumentError, OutOfMemoryError
from pyaclnn.calling.by_name import op
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.pinned import is_pinned, pinned_empty
from pyaclnn.runtime.stream import Stream

DTYPES = [
    np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64, np.bool_, np.complex64, np.complex128,
]  # fmt: skip

ON_DEVICE = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def counting(shape: tuple[int, ...]) -> Any:
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


@pytest.mark.sampled(25)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 0), (1, 2, 3, 1, 2)])
def test_data_goes_to_the_device_and_comes_back(dtype: Any, shape: tuple[int, ...]) -> None:
    host = np.asarray(counting(shape)).astype(dtype)
    array = to_device(host)
    assert (array.shape, array.dtype, array.ndim) == (shape, host.dtype, host.ndim)
    assert (array.size, array.itemsize, array.nbytes) == (host.size, host.itemsize, host.nbytes)
    assert array.is_contiguous
    back = array.numpy()
    assert back.dtype == host.dtype
    np.testing.assert_array_equal(back, host)
    back[...] = 0  # a writable array of its own


def test_an_array_of_more_axes_than_cann_takes_moves_data_and_no_operator_takes_it() -> None:
    host = counting((1,) * 25 + (3,))
    array = to_device(host)
    np.testing.assert_array_equal(array.numpy(), host)
    np.testing.assert_array_equal(array.reshape(3).numpy(), host.reshape(3))
    with pytest.raises(InvalidArgumentError, match="26 axes; it must be one of at most 25"):
        op("aclnnAbs")(array)


@ON_DEVICE
@given(st.data())
def test_views_are_those_of_numpy(data: st.DataObject) -> None:
    shape = data.draw(nps.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    host = counting(shape)
    array = to_device(host)
    for _ in range(data.draw(st.integers(1, 3), "steps")):
        if data.draw(st.booleans(), "transpose"):
            axes = data.draw(st.permutations(range(host.ndim)))
            host, array = host.transpose(axes), array.transpose(*axes)
        else:
            index = data.draw(
                nps.basic_indices(host.shape, allow_newaxis=True, allow_ellipsis=True).filter(
                    _goes_forward
                )
            )
            host, array = np.asarray(host[index]), array[index]
        assert array.shape == host.shape
        np.testing.assert_array_equal(array.numpy(), host)
    assert array.is_contiguous == host.flags.c_contiguous


def _goes_forward(index: Any) -> bool:
    entries = index if isinstance(index, tuple) else (index,)
    return all(not isinstance(e, slice) or e.step is None or e.step > 0 for e in entries)


def test_views_share_the_buffer() -> None:
    array = to_device(counting((4, 6)))
    view = array[1:3, ::2]
    assert view.buffer is array.buffer
    assert (view.strides, view.offset) == ((24, 8), 24)
    array.fill_bytes(0)
    np.testing.assert_array_equal(view.numpy(), np.zeros((2, 3), np.int32))
    assert len(view) == 2


NOT_AN_ARRAY: Any = [1]

REFUSALS: list[tuple[Any, str]] = [
    (lambda a: a[::-1], "a slice with a positive step: CANN has no negative strides"),
    (lambda a: a[[0, 1]], "integers, slices, ... or None: other indices would copy"),
    (lambda a: a[True], "integers, slices, ... or None: other indices would copy"),
    (lambda a: a[np.array([0])], "integers, slices, ... or None: other indices would copy"),
    (lambda a: a.transpose(0), "a permutation of the 2 axes, or nothing"),
    (lambda a: a.reshape(5, 5), "a shape of 24 elements"),
    (lambda a: a.T.reshape(24), "contiguous"),
    (lambda a: DeviceArray(a.buffer, (25,), np.int32), "at least 100 bytes long"),
    # One element too far, from the start or from an offset, and of the smallest elements one byte.
    (lambda a: DeviceArray(a.buffer, (97,), np.int8), "at least 97 bytes long"),
    (lambda a: DeviceArray(a.buffer, (24,), np.int32, offset=4), "at least 100 bytes long"),
    (lambda a: DeviceArray(a.buffer, (96,), np.int8, offset=1), "at least 97 bytes long"),
    (lambda a: DeviceArray(a.buffer, (1,), np.bool_, offset=96), "at least 97 bytes long"),
    (lambda a: DeviceArray(a.buffer, (1,), np.int8, offset=-1), "a multiple of 1 bytes, 0 or more"),
    (lambda a: DeviceArray(a.buffer, (2,), np.int32, (-4,)), "1 multiples of 4 bytes"),
    (lambda a: DeviceArray(a.buffer, (2,), np.int32, (3,)), "1 multiples of 4 bytes"),
    (lambda a: DeviceArray(a.buffer, (2,), np.int32, (4, 4)), "1 multiples of 4 bytes"),
    (lambda a: DeviceArray(a.buffer, (2,), np.int32, offset=2), "a multiple of 4 bytes, 0 or more"),
    (lambda a: DeviceArray(a.buffer, (2,), np.int32, offset=-4), "a multiple of 4 bytes"),
    (lambda _: DeviceArray.empty((-1,), np.int32), "an integer, or a tuple of integers"),
    (lambda _: DeviceArray.empty((1,), "S1"), "one of float32"),
    (lambda _: to_device(NOT_AN_ARRAY), "a NumPy array"),
    (lambda a: a.copy_from(NOT_AN_ARRAY), "a NumPy array"),
    (lambda a: a.copy_from(np.zeros((4, 6))), r"int32 of shape \(4, 6\), like the device array"),
    (lambda a: a.copy_from(np.zeros((6, 4), np.int32).T), "C-contiguous"),
    (lambda a: a[:, ::2].copy_from(np.zeros((4, 3), np.int32)), "a contiguous device array"),
    (lambda a: a[:, ::2].fill_bytes(0), "a contiguous device array"),
    (lambda a: a.fill_bytes(256), "a byte, 0 to 255"),
    (lambda _: Buffer(-1), "a number of bytes, 0 or more"),
    (lambda _: Buffer.borrow(0, 4), "the device address of 4 bytes"),
]


@pytest.mark.parametrize(("action", "expected"), REFUSALS)
def test_what_cannot_be_is_refused_and_says_what_could(action: Any, expected: str) -> None:
    array = to_device(counting((4, 6)))
    with pytest.raises(InvalidArgumentError, match=rf"it must be {expected}") as caught:
        action(array)
    assert caught.value.argument is not None


@pytest.mark.parametrize(
    ("shape", "dtype", "offset"),
    [
        ((24,), np.int32, 0),
        ((23,), np.int32, 4),
        ((96,), np.int8, 0),
        ((1,), np.int8, 95),
        ((0,), np.int8, 96),
        ((48,), np.int16, 0),
    ],
)
def test_an_array_may_end_with_the_last_byte_of_its_buffer(
    shape: tuple[int, ...], dtype: type, offset: int
) -> None:
    whole = np.arange(96, dtype=np.int8)
    array = DeviceArray(to_device(whole).buffer, shape, dtype, offset=offset)
    np.testing.assert_array_equal(array.numpy(), whole[offset:].view(dtype)[: shape[0]])


def test_an_index_beyond_the_end_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        to_device(counting((2,)))[2]


def test_numpy_does_not_convert_a_device_array_behind_your_back() -> None:
    array = to_device(counting((2,)))
    with pytest.raises(InvalidArgumentError) as caught:
        np.asarray(array)
    assert str(caught.value) == (
        "numpy.asarray(): 'self' is a DeviceArray, whose data is not in host memory; it must be a "
        "NumPy array.\nHint: copy it to the host with .numpy(), after synchronizing the stream; "
        "pyaclnn.array_api has functions that compute on the device."
    )
    found: Any = np.add(array, 1)
    np.testing.assert_array_equal(found.numpy(Stream.default()), [1, 2])


def test_repr_does_not_touch_the_device() -> None:
    array = to_device(counting((2, 3)))
    text = "<DeviceArray int32, shape (2, 3), strides (12, 4), offset 0, device 0"
    assert repr(array) == f"{text}>"
    array.close()
    assert repr(array) == f"{text}, closed>"
    with pytest.raises(ContextError, match="the memory of this DeviceArray was given back"):
        array.numpy()


def test_asynchronous_copies_need_pinned_memory_and_happen_in_stream_order(stream: Stream) -> None:
    source, target = pinned_empty((3, 4), np.float32), pinned_empty((3, 4), np.float32)
    source[...] = np.arange(12).reshape(3, 4)
    target[...] = -1
    array = to_device(source, stream=stream)
    array.copy_to(target, stream)
    assert (target == -1).all()
    stream.synchronize()
    np.testing.assert_array_equal(target, source)
    with pytest.raises(InvalidArgumentError) as caught:
        array.copy_from(np.zeros((3, 4), np.float32), stream)
    assert str(caught.value) == (
        "copy_from(): 'host' is ordinary host memory, given together with a stream; it must be "
        "made by pinned_empty().\n"
        "Hint: for ordinary memory CANN would wait for the stream behind your back; pin it, or "
        "leave the stream out and synchronize yourself."
    )


def test_memory_in_flight_outlives_its_python_objects(stream: Stream) -> None:
    target = pinned_empty(4, np.int32)
    source = pinned_empty(4, np.int32)
    source[:] = [1, 2, 3, 4]
    array = to_device(source, stream=stream)
    del source
    array.copy_to(target, stream)
    array.close()
    stream.synchronize()
    np.testing.assert_array_equal(target, [1, 2, 3, 4])


def test_pinned_memory_is_told_from_ordinary_memory() -> None:
    pinned = pinned_empty((2, 3), ml_dtypes.bfloat16)
    assert pinned.dtype == ml_dtypes.bfloat16
    assert is_pinned(pinned)
    assert is_pinned(pinned[1:, ::2].T)
    assert is_pinned(pinned_empty((0, 3), np.float32))
    assert not is_pinned(pinned.copy())


@pytest.mark.pyaclnn(contract=False)
def test_fill_bytes_on_a_stream_happens_when_the_stream_comes_there(stream: Stream) -> None:
    array = to_device(np.ones(4, np.int8))
    array.fill_bytes(255, stream)
    with pytest.raises(ContextError, match="has still to write"):
        array.numpy()
    stream.synchronize()
    np.testing.assert_array_equal(array.numpy(), -1)


def test_a_copy_onto_a_read_only_array_is_refused() -> None:
    host = np.zeros(4, np.int8)
    host.flags.writeable = False
    with pytest.raises(InvalidArgumentError, match="'host' is read-only; it must be writable"):
        to_device(host).copy_to(host)


def test_too_much_memory_is_an_out_of_memory_error() -> None:
    with pytest.raises(OutOfMemoryError) as caught:
        DeviceArray.empty((1 << 50,), np.float32)
    assert caught.value.name == "ACL_ERROR_RT_MEMORY_ALLOCATION"
    assert caught.value.arguments["size"] == str(4 << 50)


def test_borrowed_device_memory_is_used_and_not_freed() -> None:
    owned = to_device(np.arange(6, dtype=np.float32))
    borrowed = Buffer.borrow(owned.buffer.address, owned.nbytes, owner=owned)
    view = DeviceArray(borrowed, (2, 3), np.float32)
    del owned
    np.testing.assert_array_equal(view.numpy(), [[0, 1, 2], [3, 4, 5]])
    assert not borrowed.owned


@pytest.mark.parametrize("address", [None, 0, -1, 2**64, "7"])
def test_memory_is_borrowed_by_its_address(address: int) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"'address' is .*; it must be (a|the) device addr"
    ):
        Buffer.borrow(address, 64)
