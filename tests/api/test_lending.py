# SPDX-License-Identifier: Apache-2.0
"""Device arrays that other libraries look at where they are, by DLPack."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn import DeviceArray, Stream, from_dlpack, pinned_empty, to_device
from pyaclnn.base.errors import ContextError
from pyaclnn.cann import raw

if TYPE_CHECKING:
    from pyaclnn.runtime.device import Device

NUMBERS = np.arange(24, dtype=np.float32).reshape(4, 6)
DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.uint8, np.int64, np.bool_]


def used(device: Device) -> int:
    gc.collect()
    free, total = device.memory_info()
    return total - free


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda kind: np.dtype(kind).name)
def test_it_comes_back_as_it_went(dtype: Any, device: Device) -> None:
    array = to_device(NUMBERS.astype(dtype), device)
    for given in (array, array[1:3], array.T, array[::2, 1:5:3], array[:0]):
        seen = from_dlpack(given)
        assert (seen.shape, seen.dtype) == (given.shape, given.dtype)
        if given.size:
            assert (seen.address, seen.strides) == (given.address, given.strides)
        assert (seen.numpy() == given.numpy()).all()


def test_it_says_where_it_is(device: Device) -> None:
    assert to_device(NUMBERS, device).__dlpack_device__() == (12, 0)


def test_the_memory_lives_as_long_as_somebody_looks_at_it(device: Device) -> None:
    before = used(device)
    array = DeviceArray.empty(1 << 20, np.float32, device)
    array.fill_bytes(0)
    taken, not_taken = from_dlpack(array), array.__dlpack__()
    del array
    assert used(device) >= before + (1 << 22)
    del not_taken
    assert used(device) >= before + (1 << 22)
    del taken
    assert used(device) == before


def queued(stream: Stream) -> DeviceArray:
    """An array that is written when its stream comes to it."""
    array = DeviceArray.empty(NUMBERS.shape, np.float32, stream.device)
    array.fill_bytes(0)
    host = pinned_empty(NUMBERS.shape, np.float32)
    host[:] = NUMBERS
    array.copy_from(host, stream)
    return array


def test_without_a_stream_it_is_written_when_it_is_lent(stream: Stream) -> None:
    seen = from_dlpack(queued(stream))
    assert (seen.numpy() == NUMBERS).all()


@pytest.mark.parametrize("ordered", [True, False])
def test_the_stream_of_whoever_takes_it_waits_for_what_is_queued(
    stream: Stream, device: Device, *, ordered: bool
) -> None:
    with Stream(device) as theirs:
        array = queued(stream)
        handle = raw.address_of(theirs.pointer) if ordered else -1
        capsule = array.__dlpack__(stream=handle)
        theirs.synchronize()
        assert stream.is_done() == ordered
        stream.synchronize()
        assert (array.numpy() == NUMBERS).all()
        del capsule


def test_with_minus_one_nothing_is_waited_for(stream: Stream) -> None:
    array = queued(stream)
    capsule = array.__dlpack__(stream=-1)
    with pytest.raises(ContextError, match="has still to write this array"):
        array.numpy()
    stream.synchronize()
    del capsule


@pytest.mark.parametrize(
    "wish", [{"dl_device": (1, 0)}, {"dl_device": (12, 1)}, {"copy": True}], ids=str
)
def test_elsewhere_and_copies_are_refused(wish: dict[str, Any], device: Device) -> None:
    with pytest.raises(BufferError, match=r"on device 0 of type 12 or 21; it is copied by"):
        to_device(NUMBERS, device).__dlpack__(**wish)


def test_the_newer_type_of_device_is_understood(device: Device) -> None:
    array = to_device(NUMBERS, device)
    assert array.__dlpack__(dl_device=(21, 0), max_version=(1, 1)) is not None


def test_numpy_says_that_it_is_elsewhere(device: Device) -> None:
    with pytest.raises((BufferError, RuntimeError, TypeError), match="device"):
        np.from_dlpack(to_device(NUMBERS, device))  # type: ignore[arg-type]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="it has no reason then")
def test_numpy_is_told_how_to_copy(device: Device) -> None:
    with pytest.raises(BufferError, match=r"this one is on a device, and \.numpy\(\) copies it"):
        np.from_dlpack(to_device(NUMBERS, device))  # type: ignore[arg-type]


def test_pytorch_without_an_npu_is_told_what_to_do(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    space: dict[str, Any] = {"__name__": "torch.utils.dlpack"}
    exec("def from_dlpack(x): return x.__dlpack__(max_version=(1, 0))", space)  # noqa: S102
    array = to_device(NUMBERS, device)
    monkeypatch.delitem(sys.modules, "torch_npu", raising=False)
    with pytest.raises(BufferError, match=r"torch\.from_numpy\(x\.numpy\(\)\) copies"):
        space["from_dlpack"](array)
    monkeypatch.setitem(sys.modules, "torch_npu", sys)
    assert space["from_dlpack"](array) is not None


def test_pytorch_for_the_host_says_what_to_do(torch: Any, device: Device) -> None:
    if "torch_npu" not in sys.modules:
        with pytest.raises(BufferError, match=r"torch\.from_numpy\(x\.numpy\(\)\) copies"):
            torch.from_dlpack(to_device(NUMBERS, device))


def test_a_closed_array_is_not_lent(device: Device) -> None:
    array = to_device(NUMBERS, device)
    array.close()
    with pytest.raises(ContextError, match="was given back"):
        array.__dlpack__()


def test_what_others_hold_at_the_end_of_the_process_is_theirs() -> None:
    script = """
import ctypes, sys
import numpy as np
import pyaclnn
kept = [pyaclnn.ones(4).__dlpack__() for _ in range(2)]
sys.modules["somebody"] = kept  # one to be dropped late, one that C holds for ever
ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(kept[0]), b"used_dltensor")
ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept[0]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYACLNN_BACKEND": "mock"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
