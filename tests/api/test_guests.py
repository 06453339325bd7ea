# SPDX-License-Identifier: Apache-2.0
"""A device of somebody else: what was used is given back, and a reset leaves nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

HOST = """
import gc
import numpy as np
import pyaclnn
from pyaclnn import mock, raw

pyaclnn.select_backend("mock")
assert raw.aclInit(raw.NULL) == 0
ROWS = np.arange(1, 17, dtype=np.float32).reshape(2, 8)

def use_numpy():
    pyaclnn.rms_norm(ROWS, ROWS[0])

def use_default_stream():
    x = pyaclnn.to_device(ROWS)
    y = pyaclnn.rms_norm(x, x[0]).y
    pyaclnn.Device.current().synchronize()
    y.numpy()
    return x, y

def use_borrowed_stream():
    slot = raw.ffi.new("void **")
    assert raw.aclrtCreateStream(slot) == 0
    x = pyaclnn.to_device(ROWS)
    with pyaclnn.Stream.borrow(slot[0]) as stream:
        y = pyaclnn.rms_norm(x, x[0], stream=stream).y
        y.numpy(stream=stream)
    assert raw.aclrtDestroyStream(slot[0]) == 0
    return x, y

def use_own_stream():
    x = pyaclnn.to_device(ROWS)
    with pyaclnn.Stream() as stream:
        y = pyaclnn.rms_norm(x, x[0], stream=stream).y
        y.numpy(stream=stream)
    return x, y

def use_much():
    for _ in range(200):
        use_default_stream()
"""
USES = ["use_numpy", "use_default_stream", "use_borrowed_stream", "use_own_stream", "use_much"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("use", USES)
def test_after_the_last_use_everything_is_given_back_and_cycles_are_silent(
    use: str, run_python: Run
) -> None:
    done = run_python(
        HOST
        + f"""
for _ in range(3):
    assert raw.aclrtSetDevice(0) == 0
    {use}()
    assert pyaclnn.live_handles() == {{}}, pyaclnn.live_handles()
    assert raw.aclrtResetDevice(0) == 0
assert raw.aclFinalize() == 0
assert not mock.violations()
"""
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.exhaustive
def test_what_was_borrowed_goes_back_with_the_statement_though_streams_stay_open(
    run_python: Run,
) -> None:
    done = run_python(
        HOST
        + """
try:
    with pyaclnn.borrowed():
        raise AssertionError
except pyaclnn.ContextError as error:
    assert "no device is current" in str(error)
assert raw.aclrtSetDevice(0) == 0
known = pyaclnn.Device.current()
free = lambda: known.memory_info().free
own, before = pyaclnn.Stream(), free()
for _ in range(2):
    with pyaclnn.borrowed() as device:
        assert not device.owned
        use_default_stream(), use_borrowed_stream()
        x = pyaclnn.to_device(ROWS)
        pyaclnn.rms_norm(x, x[0], stream=own).y.numpy(stream=own)
        gc.collect()
        del x
        assert free() < before, "nothing was kept: nothing is shown"
    assert free() == before, before - free()
own.close()
del known, device
assert pyaclnn.live_handles() == {}, pyaclnn.live_handles()
assert raw.aclrtResetDevice(0) == 0
assert not mock.violations(), mock.violations()
"""
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.exhaustive
@pytest.mark.parametrize("use", ["use_default_stream", "use_borrowed_stream", "use_own_stream"])
def test_what_outlives_a_reset_frees_nothing_of_those_who_come_after(
    use: str, run_python: Run
) -> None:
    done = run_python(
        HOST
        + f"""
assert raw.aclrtSetDevice(0) == 0
old = {use}()
addresses = {{array.address for array in old}}
assert raw.aclrtResetDevice(0) == 0
assert raw.aclrtSetDevice(0) == 0
new = [pyaclnn.to_device(ROWS * n) for n in range(8)]
assert addresses & {{array.address for array in new}}, "no address comes back: nothing is shown"
mock.clear_violations()  # of a reset with memory alive, which is the host's doing
del old
gc.collect()
for n, array in enumerate(new):
    assert np.array_equal(array.numpy(), ROWS * n)
del new, array
assert pyaclnn.live_handles() == {{}}, pyaclnn.live_handles()
assert raw.aclrtResetDevice(0) == 0
assert not mock.violations(), mock.violations()
"""
    )
    assert done.returncode == 0, done.stderr
