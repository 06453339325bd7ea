# SPDX-License-Identifier: Apache-2.0
"""A device in this process, tensors on it, and calls with named arguments."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.facts.chips import find_chip
from pyaclnn.mock.device.device import Device
from pyaclnn.mock.protocol.batch import Run
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, FORMATS, numpy_dtype
from pyaclnn.mock.protocol.memory import DeviceMemory
from pyaclnn.mock.protocol.values import Call, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pyaclnn.mock.protocol.wire import CheckReply, Reply

BASE = 0x1200_0000_0000
MEMORY_BYTES = 96 << 20
WORKSPACE = BASE + (64 << 20)
POISON = np.float32(-77.0)


TOLERANCE = {DATA_TYPES["FLOAT"]: 2e-5, DATA_TYPES["FLOAT16"]: 4e-3, DATA_TYPES["BF16"]: 3e-2}


def numbers(seed: int, *dims: int) -> NDArray[Any]:
    """Numbers that every type holds exactly."""
    return np.random.default_rng(seed).integers(-16, 17, dims) / 8.0


def row_major(dims: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous tensor."""
    strides: list[int] = []
    step = 1
    for dim in reversed(dims):
        strides.append(step)
        step *= dim
    return tuple(reversed(strides))


def tensor(
    *dims: int,
    data_type: int = DATA_TYPES["FLOAT"],
    form: int = FORMATS["ND"],
    strides: tuple[int, ...] | None = None,
    offset: int = 0,
    address: int = BASE,
) -> Tensor:
    """A descriptor; contiguous float32 unless told otherwise."""
    return Tensor(data_type, form, dims, strides or row_major(dims), offset, dims, address)


@dataclass
class Bench:
    """A device of one chip with some memory."""

    soc_name: str = "Ascend910B3"
    release: str | None = None
    device: Device = field(init=False)
    _next: int = BASE + 4096

    def __post_init__(self) -> None:
        descriptor = os.memfd_create("device-memory")
        os.ftruncate(descriptor, MEMORY_BYTES)
        self._host = mmap.mmap(descriptor, MEMORY_BYTES)
        memory = DeviceMemory(descriptor, BASE, MEMORY_BYTES)
        os.close(descriptor)
        self.device = Device(find_chip(self.soc_name), memory, self.release)

    def close(self) -> None:
        self.device.memory.close()
        self._host.close()

    def clear(self) -> None:
        """Use the memory of all tensors again."""
        self._next = BASE + 4096

    def bytes_at(self, address: int, size: int) -> bytes:
        start = address - BASE
        return self._host[start : start + size]

    def empty(
        self,
        *dims: int,
        data_type: int = DATA_TYPES["FLOAT"],
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
    ) -> Tensor:
        """Reserve device memory for a tensor and fill the whole storage with -77."""
        steps = strides or row_major(dims)
        span = (
            offset + 1 + sum(max(dim - 1, 0) * step for dim, step in zip(dims, steps, strict=True))
        )
        address = self._next
        self._next += -(-span * max(8, numpy_dtype(data_type).itemsize) // 512) * 512
        storage: NDArray[Any] = np.ndarray(
            (span,), numpy_dtype(data_type), self._host, address - BASE
        )
        storage[...] = POISON
        return Tensor(data_type, FORMATS["ND"], dims, steps, offset, (span,), address)

    def put(
        self,
        values: NDArray[Any],
        data_type: int = DATA_TYPES["FLOAT"],
        strides: tuple[int, ...] | None = None,
        offset: int = 0,
    ) -> Tensor:
        """Place values on the device."""
        made = self.empty(*values.shape, data_type=data_type, strides=strides, offset=offset)
        self._array(made, made.dims, made.strides)[...] = values
        return made

    def write(self, placed: Tensor, index: Any, number: ArrayLike) -> None:
        """Place a number in one element of a tensor, or several in several."""
        self._array(placed, placed.dims, placed.strides)[index] = number

    def array(self, placed: Tensor) -> NDArray[Any]:
        """Copy a tensor off the device, as it is."""
        return np.array(self._array(placed, placed.dims, placed.strides))

    def get(self, placed: Tensor) -> NDArray[Any]:
        """Copy a tensor off the device, as float64."""
        return self._array(placed, placed.dims, placed.strides).astype(np.float64)

    def fetch(self, arguments: Mapping[str, Value], *names: str) -> list[NDArray[Any]]:
        """Copy the named tensors of a call off the device, as float64."""
        arrays = []
        for name in names:
            value = arguments[name]
            assert isinstance(value, Tensor)
            arrays.append(self.get(value))
        return arrays

    def storage(self, placed: Tensor) -> NDArray[Any]:
        """Copy the whole storage behind a tensor off the device, as float64."""
        whole = Tensor(
            placed.data_type, FORMATS["ND"], placed.storage_dims, (1,), 0, (), placed.address
        )
        return self._array(whole, whole.dims, whole.strides).astype(np.float64)

    def _array(
        self, placed: Tensor, dims: tuple[int, ...], strides: tuple[int, ...]
    ) -> NDArray[Any]:
        dtype = numpy_dtype(placed.data_type)
        if 0 in dims:
            return np.empty(dims, dtype)
        start = placed.address - BASE + placed.offset * dtype.itemsize
        steps = tuple(step * dtype.itemsize for step in strides)
        array: NDArray[Any] = np.ndarray(dims, dtype, self._host, start, steps)
        return array

    def check(self, operator: str, arguments: Mapping[str, Value], flags: int = 0) -> CheckReply:
        return self.device.check(Call(operator, flags, dict(arguments)))

    def run(self, operator: str, arguments: Mapping[str, Value], flags: int = 0) -> Reply:
        """Phase 1, which must succeed, and the kernels with the workspace it asks for."""
        checked = self.check(operator, arguments, flags)
        assert (checked.status, checked.text) == (0, "")
        call = Call(operator, flags, dict(arguments))
        return self.device.run(Run(WORKSPACE, checked.workspace_size, call))

    def launch(self, operator: str, arguments: Mapping[str, Value], flags: int = 0) -> None:
        """`run` that must succeed."""
        reply = self.run(operator, arguments, flags)
        assert (reply.status, reply.text) == (0, "")
