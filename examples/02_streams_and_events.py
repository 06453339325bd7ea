# SPDX-License-Identifier: Apache-2.0
"""Arrays that stay on the device, two streams, and an event that orders them.

It runs on the simulated NPU; remove the line with ``select_backend`` to run it on an NPU.
"""

import numpy as np

import pyaclnn

pyaclnn.select_backend("mock")  # remove this line on a machine with an NPU

rng = np.random.default_rng(1)

with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as first, pyaclnn.Stream(device) as second:
    x = pyaclnn.to_device(rng.normal(size=(64, 512)).astype(np.float16), device)
    gamma = pyaclnn.to_device(np.ones(512, np.float16), device)
    dy = pyaclnn.to_device(rng.normal(size=(64, 512)).astype(np.float16), device)

    # Queued, not waited for: y and rstd hold garbage until `first` has passed this point.
    y, rstd = pyaclnn.rms_norm(x, gamma, stream=first)
    with first.record() as forward_is_done:
        # `second` may start only when rstd is there; the host waits for nothing.
        second.wait(forward_is_done)
        dx, dgamma = pyaclnn.rms_norm_grad(dy, x, rstd, gamma, stream=second)

    # A view shares the memory of its array: the first half of the rows, no copy.
    head = dx[:32]
    second.synchronize()
    print(f"dgamma: {dgamma.dtype} {dgamma.shape}; head of dx: {head.shape}, {head.strides}")
    assert np.array_equal(head.numpy(), dx.numpy()[:32])

    # Pinned host memory makes a copy asynchronous.
    landing = pyaclnn.pinned_empty(y.shape, y.dtype)
    y.copy_to(landing, stream=first)
    first.synchronize()
    rms = np.sqrt((landing.astype(np.float64) ** 2).mean(axis=-1))
    print(f"rms of the normalized rows: {rms.min():.4f} to {rms.max():.4f}")
    assert np.allclose(rms, 1, atol=1e-2)
