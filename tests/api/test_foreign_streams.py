# SPDX-License-Identifier: Apache-2.0
"""Streams of other libraries go wherever ``stream=`` is taken."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import Stream, StreamLike, aclnn, pinned_empty, plan, rms_norm, to_device
from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.cann import raw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.runtime.device import Device

ROWS = np.arange(16, dtype=np.float32).reshape(2, 8)
GAMMA = np.ones(8, np.float32)


class Theirs:
    """A stream of a library that speaks the protocol."""

    def __init__(self, handle: int, version: int = 0) -> None:
        self._said = version, handle

    def __acl_stream__(self) -> tuple[int, int]:
        return self._said


class Torchs:
    """A stream as PyTorch has it."""

    def __init__(self, handle: int, device_index: int = 0) -> None:
        self.npu_stream = handle
        self.device_index = device_index


@pytest.fixture(autouse=True)
def _what_was_queued_is_over(device: Device) -> Iterator[None]:
    """Who borrows a stream asks for those that were left."""
    yield
    gc.collect()
    device.synchronize()
    Stream.default(device).close()


KINDS: list[Callable[[int], Any]] = [Theirs, Torchs]


def pinned() -> np.ndarray[Any, Any]:
    array = pinned_empty(ROWS.shape, np.float32)
    array[...] = ROWS
    return array


USES: dict[str, Callable[[Any], Any]] = {
    "operator": lambda s: rms_norm(to_device(ROWS), to_device(GAMMA), stream=s).y,
    "operator by name": lambda s: aclnn.muls(to_device(ROWS), 2.0, stream=s),
    "operator on the host": lambda s: rms_norm(ROWS, GAMMA, stream=s),
    "copy to the device": lambda s: to_device(pinned(), stream=s),
    "copy of an array": lambda s: to_device(ROWS).copy(s),
    "fill": lambda s: to_device(ROWS).fill_bytes(0, s),
    "read": lambda s: to_device(ROWS).numpy(s),
    "borrow": lambda s: Stream.borrow(s).synchronize(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("use", USES)
def test_they_are_taken_wherever_a_stream_is(use: str, kind: Any, stream: Stream) -> None:
    theirs = kind(raw.address_of(stream.pointer))
    USES[use](theirs)
    stream.synchronize()


def test_work_is_queued_on_that_very_stream(stream: Stream) -> None:
    theirs = Theirs(raw.address_of(stream.pointer))
    array = to_device(ROWS)
    for _ in range(3):  # no call is taken for one that is known already
        y = rms_norm(array, to_device(GAMMA), stream=theirs).y
    assert not stream.is_done()
    stream.synchronize()
    expected = ROWS / np.sqrt((ROWS**2).mean(1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)


def test_a_plan_runs_on_it(stream: Stream) -> None:
    theirs = Theirs(raw.address_of(stream.pointer))
    array, weight = to_device(ROWS), to_device(GAMMA)
    with plan(rms_norm, array, weight, stream=theirs) as norm:
        y = norm.run(stream=theirs).y
        assert y.numpy(theirs)[1, 7] > 1


def test_a_stream_of_our_own_speaks_the_protocol(stream: Stream) -> None:
    assert isinstance(stream, StreamLike)
    assert stream.__acl_stream__() == (0, raw.address_of(stream.pointer))


def test_whom_it_is_borrowed_from_is_kept_as_long_as_it_is_borrowed(stream: Stream) -> None:
    theirs = Theirs(raw.address_of(stream.pointer))
    known = weakref.ref(theirs)
    with Stream.borrow(theirs) as borrowed:
        del theirs
        gc.collect()
        assert known() is not None
        rms_norm(to_device(ROWS), to_device(GAMMA), stream=borrowed)
    del borrowed
    gc.collect()
    assert known() is None


@pytest.mark.parametrize(
    ("theirs", "text"),
    [
        (Theirs(1, version=3), "a Theirs of version 3 of __acl_stream__; it must be of version 0"),
        (Torchs(1, device_index=1), "of device 1; it must be of device 0"),
        (Theirs(-1), "'handle' is -1; it must be the address of an aclrtStream"),
    ],
)
def test_what_does_not_fit_is_refused(theirs: Any, text: str, device: Device) -> None:
    array = to_device(ROWS, device)
    with pytest.raises(InvalidArgumentError, match=text):
        array.fill_bytes(0, theirs)
