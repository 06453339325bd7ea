# SPDX-License-Identifier: Apache-2.0
"""Device arrays that do not belong together are refused by the whole message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.ops import layer_norm, rms_norm, rms_norm_grad
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

f32 = np.float32


def z(*shape: int) -> Any:
    return np.zeros(shape, f32)


@pytest.fixture
def x() -> Iterator[DeviceArray]:
    array = to_device(z(2, 4))
    yield array
    array.close()


def test_host_and_device_arrays_do_not_mix(x: DeviceArray) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        rms_norm_grad(x, x, z(2), z(4))
    assert str(caught.value) == (
        "rms_norm_grad(): 'rstd' is a NumPy array, while others are device arrays (host: 'rstd', "
        "'gamma'; device: 'dy', 'x'); it must be of the same kind as the others.\n"
        "Hint: copy with to_device() or .numpy(); nothing is copied behind your back."
    )


def test_arrays_of_two_devices_do_not_mix(x: DeviceArray) -> None:
    with Device(1) as other:
        gamma = to_device(z(4), other)
        with pytest.raises(InvalidArgumentError) as caught:
            rms_norm(x, gamma)
        gamma.close()
    assert str(caught.value) == (
        "rms_norm(): 'gamma' is on device 1; it must be on device 0, like 'x'."
    )


def test_a_stream_of_another_device_is_refused(x: DeviceArray) -> None:
    with Device(1) as other, Stream(other) as stream:
        with pytest.raises(InvalidArgumentError) as caught:
            layer_norm(x, 4, stream=stream)
        assert str(caught.value) == (
            f"layer_norm(): 'stream' is {stream!r}; it must be an open Stream of device 0, where "
            "the arrays are, or None."
        )
    with pytest.raises(InvalidArgumentError) as caught:
        layer_norm(z(2, 4), 4, stream=stream)
    assert str(caught.value) == (
        "layer_norm(): 'stream' is <Stream on device 1, closed>; it must be an open Stream, or "
        "None."
    )


def test_an_array_whose_memory_is_gone_is_refused(x: DeviceArray) -> None:
    x.close()
    with pytest.raises(InvalidArgumentError) as caught:
        layer_norm(x, 4)
    assert str(caught.value) == (
        "layer_norm(): 'input' is a device array whose memory was given back; it must be an open "
        "device array."
    )


def test_outputs_of_rms_norm_are_contiguous_on_a_device(x: DeviceArray) -> None:
    target = DeviceArray.empty((4, 2), f32).T
    with pytest.raises(InvalidArgumentError) as caught:
        rms_norm(x, x[0], out=(target, None))
    assert str(caught.value) == (
        "rms_norm(): 'out: y' is not contiguous (strides (4, 8)); it must be contiguous."
    )
