# SPDX-License-Identifier: Apache-2.0
"""A guest in a process that already uses the NPU: its device, its stream, its memory.

A framework would hand over its stream's address; here the "host application" is the C interface
itself, called through ``pyaclnn.raw``. pyaclnn destroys, frees and finalises nothing of the host's.

It runs on the simulated NPU; remove the line with ``select_backend`` to run it on an NPU.
"""

import numpy as np

import pyaclnn
from pyaclnn import raw

pyaclnn.select_backend("mock")  # remove this line on a machine with an NPU


def must(status: int) -> None:
    """Stop if a C function of the host application failed."""
    if status:
        raise SystemExit(f"host application: CANN answered {status}")


# ---- the host application: initialises, opens the device, makes a stream and memory -------------
must(raw.aclInit(raw.ffi.NULL))
must(raw.aclrtSetDevice(0))
stream_out = raw.ffi.new("aclrtStream *")
must(raw.aclrtCreateStream(stream_out))
memory_out = raw.ffi.new("void **")
must(raw.aclrtMalloc(memory_out, 8 * 64 * 4, raw.ACL_MEM_MALLOC_HUGE_FIRST))
stream_address = int(raw.ffi.cast("uintptr_t", stream_out[0]))
memory_address = int(raw.ffi.cast("uintptr_t", memory_out[0]))

# ---- the guest -------------------------------------------------------------------------------
device = pyaclnn.Device.current()
assert device is not None
assert not device.owned
stream = pyaclnn.Stream.borrow(stream_address, device)
x = pyaclnn.DeviceArray(
    pyaclnn.Buffer.borrow(memory_address, 8 * 64 * 4, device), (8, 64), np.float32
)
x.copy_from(np.random.default_rng(2).normal(size=(8, 64)).astype(np.float32))
gamma = pyaclnn.to_device(np.full(64, 2, np.float32), device)
y, rstd = pyaclnn.rms_norm(x, gamma, stream=stream)
stream.synchronize()
rms = np.sqrt((y.numpy() ** 2).mean(axis=-1))
print(f"rms of y: {rms.round(3)}")
assert np.allclose(rms, 2, atol=1e-3)
for mine in (y, rstd, gamma, stream):
    mine.close()

# ---- the host application goes on: everything of its own is still there -------------------------
must(raw.aclrtSynchronizeStream(stream_out[0]))
must(raw.aclrtFree(memory_out[0]))
must(raw.aclrtDestroyStream(stream_out[0]))
must(raw.aclrtResetDevice(0))
must(raw.aclFinalize())
print("the host application ended in its own time")
