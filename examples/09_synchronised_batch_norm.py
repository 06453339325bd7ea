# SPDX-License-Identifier: Apache-2.0
"""Batch normalization of one batch that is spread over two devices, forward and backward.

Devices exchange statistics and sums, which are small, and never the batch. Here they go through the
host; a cluster would gather them. It runs on the simulated NPU; remove the line
with ``select_backend`` to run it on a machine with two NPUs.
"""

import numpy as np

import pyaclnn

pyaclnn.select_backend("mock")  # remove this line on a machine with an NPU

EPS, MOMENTUM = 1e-5, 0.1
rng = np.random.default_rng(8)
batch = rng.normal(3, 2, (6, 5, 4, 4)).astype(np.float32)
upstream = rng.normal(size=batch.shape).astype(np.float32)
weight, bias = rng.normal(1, 0.1, (2, 5)).astype(np.float32)
# One device has twice as much as the other.
shares, slopes = np.split(batch, [4]), np.split(upstream, [4])
counts = np.array([share.size / 5 for share in shares], np.float32)
running_mean, running_var = np.zeros(5, np.float32), np.ones(5, np.float32)

with (
    pyaclnn.Device(0) as first,
    pyaclnn.Device(1) as second,
    pyaclnn.Stream(first) as stream,
):
    devices = (first, second)
    x = [pyaclnn.to_device(share, on) for share, on in zip(shares, devices, strict=True)]
    dy = [pyaclnn.to_device(slope, on) for slope, on in zip(slopes, devices, strict=True)]

    # Forward: statistics of each share, those of the batch, and every share normalized with them.
    local = [pyaclnn.batch_norm_stats(share, EPS) for share in x]
    for device in devices:
        device.synchronize()
    means, inverses = (np.stack([own[part].numpy() for own in local]) for part in (0, 1))
    mean, invstd = pyaclnn.batch_norm_gather_stats_with_counts(
        *(batch, means, inverses, counts, running_mean, running_var),
        momentum=MOMENTUM,
        eps=EPS,
        stream=stream,
    )
    outputs, gradients, sums = [], [], []
    for share, slope, device in zip(x, dy, devices, strict=True):
        m, s, w, b = (pyaclnn.to_device(array, device) for array in (mean, invstd, weight, bias))
        outputs.append(pyaclnn.batch_norm_elemt(share, m, s, w, b, EPS))
        sums.append(pyaclnn.batch_norm_reduce_backward(slope, share, m, s, w))
        device.synchronize()

    # Backward: the sums of all shares are added up, and each share's gradient is made of them.
    total = [np.add(*(own[part].numpy() for own in sums)) for part in range(4)]
    for share, slope, device in zip(x, dy, devices, strict=True):
        there = [
            pyaclnn.to_device(array, device) for array in (mean, invstd, *total[:2], counts, weight)
        ]
        gradients.append(pyaclnn.batch_norm_elemt_backward(slope, share, *there))
        device.synchronize()
    output = np.concatenate([array.numpy() for array in outputs])
    of_input = np.concatenate([array.numpy() for array in gradients])

    # The whole batch on one device.
    alone_mean, alone_var = np.zeros(5, np.float32), np.ones(5, np.float32)
    whole = pyaclnn.batch_norm(
        *(batch, alone_mean, alone_var, weight, bias),
        training=True,
        momentum=MOMENTUM,
        eps=EPS,
        stream=stream,
    )
    back = pyaclnn.batch_norm_backward(
        *(upstream, batch, weight, alone_mean, alone_var, whole[1], whole[2]),
        training=True,
        eps=EPS,
        stream=stream,
    )

for name, found, expected in (
    ("output", output, whole.output),
    ("running mean", running_mean, alone_mean),
    ("running variance", running_var, alone_var),
    ("gradient of the input", of_input, back.grad_input),
    ("gradient of the weight", total[2], back.grad_weight),
    ("gradient of the bias", total[3], back.grad_bias),
):
    print(f"{name}: off by at most {np.abs(found - expected).max():.1e}")
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-4)
