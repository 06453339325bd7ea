# SPDX-License-Identifier: Apache-2.0
"""Tensors of other libraries: taken as NumPy's on the host, on a device looked at in place."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn import Empty, aclnn, batch_norm, from_dlpack, rms_norm
from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.runtime.device import Device

HOST, NPU, NPU_TOO = 1, 12, 21


class Wire(ctypes.Structure):
    """``DLManagedTensor``."""

    _fields_ = (
        ("data", ctypes.c_uint64),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, Destructor)


class Tensor:
    """Exporter of another library, which expects its memory to be returned."""

    def __init__(self, kind: int, address: int, shape: tuple[int, ...], **fields: Any) -> None:
        self.released = 0
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        strides = fields.pop("strides", None)
        self._strides = None if strides is None else (ctypes.c_int64 * len(shape))(*strides)
        told = {"code": 2, "bits": 32, "lanes": 1, "device": (kind, 0), **fields}
        self._wire = Wire(data=address, ndim=len(shape))
        for name, value in told.items():
            setattr(self._wire, name, (ctypes.c_int32 * 2)(*value) if name == "device" else value)
        self._wire.shape = ctypes.addressof(self._shape)
        if self._strides is not None:
            self._wire.strides = ctypes.addressof(self._strides)
        self._destructor = Destructor(self._release)

    def _release(self, _capsule: int) -> None:
        self.released += 1

    def __dlpack__(self) -> Any:
        return new_capsule(ctypes.addressof(self._wire), b"dltensor", self._destructor)


class Speaks:
    """An array that can be had by one protocol only."""

    def __init__(self, array: np.ndarray[Any, Any], protocol: str) -> None:
        self._array = array
        setattr(type(self), protocol, property(lambda self: getattr(self._array, protocol)))


class Unversioned:
    """An exporter of DLPack's first capsules, which do not say whether they may be written."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def __dlpack__(self) -> Any:
        return self._array.__dlpack__()


NUMBERS = np.arange(24.0, dtype=np.float32).reshape(4, 6)
ARRAYS = {
    "contiguous": NUMBERS,
    "transposed": NUMBERS.T,
    "part": NUMBERS[1:, ::2],
    "backwards": NUMBERS[::-1],
    "no axis": NUMBERS[0, 0, ...],
    "empty": NUMBERS[:0],
    "integers": NUMBERS.astype(np.int64),
    "float16": NUMBERS.astype(np.float16),
    "complex": NUMBERS.astype(np.complex64),
    "bool": NUMBERS > 3,
}


@pytest.mark.parametrize("protocol", ["__dlpack__", "__array_interface__"])
@pytest.mark.parametrize("name", ARRAYS)
def test_a_tensor_on_the_host_is_taken_as_numpys(name: str, protocol: str, device: Device) -> None:
    kind = type("Other", (Speaks,), {})
    array = to_device(kind(ARRAYS[name], protocol), device)
    assert (array.shape, array.dtype) == (ARRAYS[name].shape, ARRAYS[name].dtype)
    np.testing.assert_array_equal(array.numpy(), ARRAYS[name])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", ["__dlpack__", "__array_interface__"])
@pytest.mark.parametrize("name", ["contiguous", "transposed", "part", "empty", "float16"])
def test_an_operator_takes_it_as_numpys(name: str, protocol: str, device: Device) -> None:
    assert device.id == 0
    array = ARRAYS[name]
    gamma = np.ones(array.shape[-1:], array.dtype)
    kind: Any = type("Other", (Speaks,), {})
    x, weight = kind(array, protocol), kind(gamma, protocol)
    for _ in range(3):  # no call is taken for one that is known already
        y = rms_norm(x, weight).y
        np.testing.assert_array_equal(y, rms_norm(array, gamma).y)
    known = weakref.ref(x)
    del x
    gc.collect()
    assert known() is None
    y = rms_norm(kind(array, protocol), weight).y
    np.testing.assert_array_equal(y, rms_norm(array, gamma).y)


@pytest.mark.parametrize("protocol", ["__dlpack__", "__array_interface__"])
def test_an_operator_that_is_called_by_name_takes_it_too(protocol: str, device: Device) -> None:
    assert device.id == 0
    kind: Any = type("Other", (Speaks,), {})
    x = kind(NUMBERS, protocol)
    for other in (x, NUMBERS):
        found = aclnn.add(x, other, 2.0)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, 3 * NUMBERS)
    joined = aclnn.cat([x, NUMBERS], 0, Empty((8, 6), np.float32))
    np.testing.assert_array_equal(joined, np.concatenate([NUMBERS, NUMBERS]))


def test_called_by_name_it_is_refused_where_it_cannot_be_taken(device: Device) -> None:
    x: Any = Unversioned(NUMBERS)
    there = to_device(NUMBERS, device)
    on_device = Tensor(NPU, there.address, (4, 6))
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: aclnn.inplace_muls(x, 2.0), "'selfRef' is read-only"),
        (lambda: aclnn.muls(NUMBERS + 1, 2.0, x), "'out' is read-only"),
        (lambda: aclnn.muls(on_device, 2.0), r"pyaclnn.from_dlpack\(self\) looks at it"),
        (lambda: aclnn.add(x, there, 1.0), "NumPy array, while others are device arrays"),
        (lambda: aclnn.cat([x, 1.0], 0), r"'tensors\[1\]' is a float"),
    ]
    for call, text in calls:
        with pytest.raises(InvalidArgumentError, match=text):
            call()


def test_a_tensor_that_would_be_updated_in_place_is_refused(device: Device) -> None:
    assert device.id == 0
    mean: Any = Unversioned(np.zeros(3, np.float32))
    var = np.ones(3, np.float32)
    with pytest.raises(InvalidArgumentError, match="'running_mean' is read-only"):
        batch_norm(np.ones((2, 3, 4), np.float32), mean, var, training=True)


def test_bfloat16_is_read_although_numpy_has_no_word_for_it(device: Device) -> None:
    numbers = np.array([1.5, -2.0, 0.25], ml_dtypes.bfloat16)
    tensor = Tensor(HOST, numbers.ctypes.data, (3,), code=4, bits=16)
    array = to_device(tensor, device)
    assert array.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(array.numpy(), numbers)
    gc.collect()
    assert tensor.released == 1


def test_it_fills_an_array_that_is_there(device: Device) -> None:
    array = DeviceArray.empty((4, 6), np.float32, device)
    array.copy_from(type("Other", (Speaks,), {})(NUMBERS, "__dlpack__"))
    np.testing.assert_array_equal(array.numpy(), NUMBERS)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [NPU, NPU_TOO])
def test_a_tensor_on_the_device_is_looked_at_where_it_is(kind: int, device: Device) -> None:
    memory = to_device(NUMBERS, device)
    tensor = Tensor(kind, memory.address, (3, 4), strides=(1, 6), byte_offset=4)
    array = from_dlpack(tensor, device)
    np.testing.assert_array_equal(array.numpy(), NUMBERS.T[1:4])
    assert array.address == memory.address + 4
    gc.collect()
    assert tensor.released == 0
    array.close()
    del array
    gc.collect()
    assert tensor.released == 1


def test_queued_work_keeps_it(device: Device) -> None:
    memory = to_device(NUMBERS, device)
    tensor = Tensor(NPU, memory.address, (4, 6))
    with Stream(device) as stream:
        array = from_dlpack(tensor, device)
        weight = to_device(np.ones(6, np.float32), device)
        result = rms_norm(array, weight, stream=stream)[0]
        array.close()
        del array
        gc.collect()
        assert tensor.released == 0
        stream.synchronize()
        gc.collect()
        assert tensor.released == 1
        expected = NUMBERS / np.sqrt((NUMBERS**2).mean(1, keepdims=True) + 1e-6)
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5)


class Refuses:
    def __dlpack__(self) -> Any:
        raise BufferError("it wants a gradient")


REFUSED = {
    "refuses": (Refuses(), r"a Refuses that refuses to be exported \(it wants a gradient\)"),
    "elsewhere": (Tensor(2, 64, (1,)), "on a device of DLPack's type 2"),
    "npu": (Tensor(NPU, 64, (1,)), r"pyaclnn\.from_dlpack\(host\) looks at it where it is"),
    "four bits": (Tensor(HOST, 64, (1,), code=0, bits=4), "of DLPack's type 0 with 4 bits"),
    "vectors": (Tensor(HOST, 64, (1,), lanes=4), "of DLPack's type 2 with 32 bits"),
    "opaque": (Tensor(HOST, 64, (1,), code=3, bits=64), "of DLPack's type 3 with 64 bits"),
    "object": (object(), "an object; it must be a NumPy array"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_taken_says_why(name: str, device: Device) -> None:
    value, text = REFUSED[name]
    with pytest.raises(InvalidArgumentError, match=text):
        to_device(value, device)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (NUMBERS, "on device 0 of DLPack's type 1; it must be on device 0 of an NPU"),
        (Tensor(NPU, 64, (1,), device=(NPU, 1)), "on device 1 of DLPack's type 12"),
        ([1.0], "a list; it must be a tensor with __dlpack__"),
    ],
)
def test_what_does_not_lie_on_the_device_is_refused(tensor: Any, text: str, device: Device) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        from_dlpack(tensor, device)


def test_the_buffer_of_such_an_array_is_borrowed(device: Device) -> None:
    memory = to_device(NUMBERS, device)
    array = from_dlpack(Tensor(NPU, memory.address, (4, 6)), device)
    assert isinstance(array.buffer, Buffer)
    assert array.buffer.nbytes == NUMBERS.nbytes
    array.close()
    np.testing.assert_array_equal(memory.numpy(), NUMBERS)
