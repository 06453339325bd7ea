# SPDX-License-Identifier: Apache-2.0
"""Tensors of other libraries in device memory, as arrays of this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.device import require_device
from pyaclnn.runtime.dlpack import device_tensor

if TYPE_CHECKING:
    from pyaclnn.runtime.device import Device
    from pyaclnn.runtime.dlpack import SpeaksDLPack

__all__ = ["from_dlpack"]


def from_dlpack(tensor: SpeaksDLPack, device: Device | None = None) -> DeviceArray:
    """Look at a tensor of another library, which lies on a device, where it is.

    Nothing is copied. The tensor's memory is kept as long as the array, and work queued with it,
    needs it. Work that the other library has queued is not waited for: launch on its stream, by
    `Stream.borrow`, or wait for it.

    Args:
        tensor: What speaks ``__dlpack__``, such as a tensor of torch-npu.
        device: Where it lies; the default device if None.

    Returns:
        An array of the same shape, dtype and strides.

    Raises:
        InvalidArgumentError: The tensor lies elsewhere, or is not one that CANN can take.
    """
    place = require_device("from_dlpack", device)
    found = device_tensor("from_dlpack", "tensor", tensor, place.id)
    buffer = Buffer.borrow(found.address, found.nbytes, place, owner=found.capsule)
    return DeviceArray(buffer, found.shape, found.dtype, found.strides)
