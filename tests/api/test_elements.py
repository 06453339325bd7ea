# SPDX-License-Identifier: Apache-2.0
"""Elements of a device array that are converted, and parts of it that are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn import DeviceArray, Stream, aclnn, to_device
from pyaclnn.base.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.runtime.device import Device

NUMBERS = np.arange(-12, 12, dtype=np.float32).reshape(4, 6) / 4
DTYPES = [np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.bool_, np.float32]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda kind: np.dtype(kind).name)
def test_astype_converts_as_numpy_does(dtype: Any, stream: Stream) -> None:
    found = to_device(NUMBERS).astype(dtype, stream)
    assert (found.dtype, found.is_contiguous) == (dtype, True)
    np.testing.assert_array_equal(found.numpy(stream), NUMBERS.astype(dtype))
    np.testing.assert_array_equal(found.astype(np.float32).numpy(Stream.default()), found.numpy())


@pytest.mark.parametrize("part", [np.s_[1:3], np.s_[:, ::2], np.s_[2, 3], np.s_[:0]], ids=repr)
def test_astype_takes_any_view(part: Any, stream: Stream) -> None:
    found = to_device(NUMBERS).T[part].astype(np.float16, stream)
    np.testing.assert_array_equal(found.numpy(stream), NUMBERS.T[part].astype(np.float16))


def test_astype_comes_after_what_is_still_to_be_written(stream: Stream) -> None:
    twice = aclnn.muls(to_device(NUMBERS), 2.0, stream=stream)
    found = twice.astype(np.float16)  # on another stream
    assert not stream.is_done()
    np.testing.assert_array_equal(found.numpy(Stream.default()), 2 * NUMBERS)


def test_astype_says_what_it_takes(device: Device) -> None:
    with pytest.raises(InvalidArgumentError, match=r"astype\(\): 'dtype' is \|O; it must be one"):
        to_device(NUMBERS, device).astype(object)


PARTS = [
    np.s_[1],
    np.s_[:, 1],
    np.s_[:, ::2],
    np.s_[1:3, 1:5:3],
    np.s_[2, 3],
    np.s_[:0],
    np.s_[...],
]
VALUES: dict[str, Callable[[Any], Any]] = {
    "a number": lambda _: 7,
    "what is broadcast": lambda part: part[..., -1:] * 3,
    "as it is": lambda part: part + 100,
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("index", PARTS, ids=repr)
def test_a_part_is_written_as_in_numpy(index: Any, kind: str, device: Device) -> None:
    expected, array = NUMBERS.copy(), to_device(NUMBERS, device)
    value = VALUES[kind](np.atleast_1d(NUMBERS[index]))
    value = value.reshape(()) if np.size(value) == 1 and kind != "a number" else value
    expected[index] = value
    array[index] = value
    np.testing.assert_array_equal(array.numpy(), expected)


@pytest.mark.parametrize(
    ("index", "source"),
    [
        (np.s_[0], np.s_[3]),
        (np.s_[0], np.s_[3, ::-1]),
        (np.s_[:, ::2], np.s_[:, 1::2]),
        (np.s_[1:3, :2], np.s_[2:, 4:]),
    ],
    ids=repr,
)
def test_a_part_of_another_array_is_written(index: Any, source: Any, device: Device) -> None:
    expected, array = NUMBERS.copy(), to_device(NUMBERS, device)
    values = np.ascontiguousarray(NUMBERS[source] * 3)
    expected[index] = values
    array[index] = to_device(values, device)
    np.testing.assert_array_equal(array.numpy(), expected)


def test_a_part_with_gaps_comes_after_what_is_still_to_be_written(stream: Stream) -> None:
    target = to_device(NUMBERS)
    source = DeviceArray.empty((4, 6), np.float32)
    source.fill_bytes(0)
    aclnn.muls(to_device(NUMBERS), 2.0, source, stream=stream)
    target[:, ::2] = source[:, ::2]
    expected = NUMBERS.copy()
    expected[:, ::2] *= 2
    np.testing.assert_array_equal(target.numpy(), expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (to_device, "'value' is float32 of shape (4, 6); it must be float32 of shape (4, 3)"),
        (np.copy, "'value' is of shape (4, 6); it must be what can be broadcast to (4, 3)"),
    ],
)
def test_what_does_not_fit_a_part_is_refused(value: Any, text: str, device: Device) -> None:
    array = to_device(NUMBERS, device)
    with pytest.raises(InvalidArgumentError) as caught:
        array[:, ::2] = value(NUMBERS)
    assert text in str(caught.value)
    np.testing.assert_array_equal(array.numpy(), NUMBERS)
