# SPDX-License-Identifier: Apache-2.0
"""Device arrays of a known content, copies from device to device, and writing to a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn import DeviceArray, empty_like, full, ones, pinned_empty, to_device, zeros
from pyaclnn.base.errors import ContextError, InvalidArgumentError
from pyaclnn.runtime.device import Device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.runtime.stream import Stream

DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.bool_]


def counting(shape: tuple[int, ...]) -> NDArray[Any]:
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda kind: np.dtype(kind).name)
@pytest.mark.parametrize("shape", [(2, 3), (0, 4), ()], ids=str)
def test_content_is_that_of_numpys_namesakes(shape: tuple[int, ...], dtype: Any) -> None:
    for ours, numpys in ((zeros, np.zeros), (ones, np.ones)):
        made = ours(shape, dtype).numpy()
        assert made.dtype == dtype
        assert made.shape == shape
        assert (made == numpys(shape, dtype)).all()
    assert (full(shape, 1, dtype).numpy() == np.full(shape, 1, dtype)).all()


def test_float32_is_meant_unless_another_dtype_is_named() -> None:
    assert {array.dtype for array in (zeros(2), ones(2), full(2, 7))} == {np.dtype(np.float32)}


@pytest.mark.parametrize(("value", "dtype"), [("x", np.float32), (300, np.int8), (1j, np.float32)])
def test_what_the_dtype_cannot_hold_is_refused(value: Any, dtype: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"full\(\): 'fill_value' is .*can hold"):
        full(3, value, dtype)


@pytest.mark.parametrize(
    ("routine", "make"),
    [
        ("zeros", zeros),
        ("ones", ones),
        ("full", lambda shape, dtype, place=None: full(shape, 1, dtype, place)),
    ],
)
def test_what_refuses_is_the_routine_that_was_called(routine: str, make: Any) -> None:
    for arguments, name in (((-1, "f4"), "shape"), ((2, "x"), "dtype"), ((2, "f4", 1), "device")):
        with pytest.raises(InvalidArgumentError, match=rf"^{routine}\(\): '{name}' is "):
            make(*arguments)
    with pytest.raises(InvalidArgumentError, match=rf"^{routine}\(\): "):
        make(2**62, "f8")
    with pytest.raises(InvalidArgumentError, match=r"^empty_like\(\): 'dtype' is 'x'"):
        empty_like(zeros(2), "x")


def test_an_array_like_another_is_contiguous_and_of_its_device(device: Device) -> None:
    view = to_device(counting((4, 6)))[:, ::2]
    like = empty_like(view)
    assert (like.shape, like.dtype, like.device) == ((4, 3), view.dtype, device)
    assert like.is_contiguous
    assert empty_like(view, np.float16).dtype == np.float16
    with pytest.raises(InvalidArgumentError, match="'array' is a list; it must be a DeviceArray"):
        empty_like([1])  # type: ignore[arg-type]


class TestCopies:
    def test_a_copy_has_memory_of_its_own(self) -> None:
        array = to_device(counting((4, 6)))
        copy = array[1:3].copy()
        array.fill_bytes(0)
        assert (copy.numpy() == counting((4, 6))[1:3]).all()

    @pytest.mark.parametrize("queued", [False, True])
    @pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "bool"])
    def test_a_copy_of_a_view_with_gaps_has_none(
        self, dtype: str, queued: bool, stream: Stream
    ) -> None:
        host = (counting((4, 6)) % 7).astype(dtype)
        copy = to_device(host).T[1::2].copy(stream if queued else None)
        assert copy.is_contiguous
        assert (copy.numpy(stream) == host.T[1::2]).all()

    def test_a_view_with_gaps_goes_to_another_device(self, device: Device) -> None:
        with Device(1) as other:
            there = to_device(counting((4, 6)), device)[:, ::2].to_device(other)
            assert there.device is other
            assert (there.numpy() == counting((4, 6))[:, ::2]).all()
            there.close()

    def test_a_copy_can_be_queued(self, stream: Stream) -> None:
        array = to_device(counting((4, 6)))
        copy = array.copy(stream)
        del array  # the queued copy keeps it
        assert (copy.numpy(stream) == counting((4, 6))).all()

    def test_what_is_still_to_be_written_is_not_copied(self, stream: Stream) -> None:
        target = DeviceArray.empty((4,), np.int32)
        host = pinned_empty((4,), np.int32)
        host[:] = 3
        target.copy_from(host, stream)
        with pytest.raises(ContextError, match="has still to write this array"):
            target.copy()
        stream.synchronize()
        assert target.copy().numpy().tolist() == [3, 3, 3, 3]

    def test_it_goes_from_one_device_to_another(self, device: Device) -> None:
        with Device(1) as other:
            there = DeviceArray.empty((4, 6), np.int32, other)
            there.copy_from(to_device(counting((4, 6)), device))
            assert (there.numpy() == counting((4, 6))).all()
            there.close()

    def test_shapes_dtypes_and_gaps_are_refused(self) -> None:
        array = to_device(counting((4, 6)))
        with pytest.raises(InvalidArgumentError, match=r"int32 of shape \(6, 4\); it must be"):
            array.copy_from(to_device(counting((6, 4))))
        with pytest.raises(InvalidArgumentError, match="it must be a contiguous device array"):
            to_device(counting((4, 3))).copy_from(array[:, :3])


class TestWritingToAPart:
    @pytest.mark.parametrize("index", [0, slice(1, 3), (2, slice(1, 4)), ..., (3, 5)], ids=str)
    def test_it_is_numpys(self, index: Any) -> None:
        array, expected = to_device(counting((4, 6))), counting((4, 6))
        part = -expected[index]
        array[index] = part
        expected[index] = part
        assert (array.numpy() == expected).all()
        array[index] = 9
        expected[index] = 9
        assert (array.numpy() == expected).all()

    def test_a_row_is_written_to_each(self) -> None:
        array = to_device(counting((4, 6)))
        array[1:3] = np.arange(6, dtype=np.int32)
        assert (array.numpy()[1:3] == np.arange(6)).all()

    def test_another_device_array_is_copied(self) -> None:
        array = to_device(counting((4, 6)))
        array[0] = array[3]
        assert (array.numpy()[0] == counting((4, 6))[3]).all()

    def test_other_dtypes_and_shapes_are_refused(self) -> None:
        array = to_device(counting((4, 6)))
        with pytest.raises(InvalidArgumentError, match="it must be int32"):
            array[0] = np.ones(6)
        with pytest.raises(InvalidArgumentError, match="what can be broadcast to"):
            array[0] = np.ones(5, np.int32)
