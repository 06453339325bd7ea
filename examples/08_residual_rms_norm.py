# SPDX-License-Identifier: Apache-2.0
"""A residual block's RMS norm, forward in one operator, and its gradient through another.

CANN has no gradient of ``add_rms_norm``: that of ``rms_norm`` is taken at the sum, which the
forward operator returns. It runs on the simulated NPU; remove the
line with ``select_backend`` to run it on an NPU.
"""

import numpy as np

import pyaclnn

pyaclnn.select_backend("mock")  # remove this line on a machine with an NPU

rng = np.random.default_rng(7)
hidden, branch, upstream, onward = (rng.normal(size=(4, 32)).astype(np.float32) for _ in range(4))
gamma = rng.normal(1, 0.1, 32).astype(np.float32)

with pyaclnn.Device(0) as device, pyaclnn.Stream(device) as stream:
    x1, x2, dy, dsum, g = (
        pyaclnn.to_device(array, device) for array in (hidden, branch, upstream, onward, gamma)
    )
    # x = x1 + x2 goes on to the next block, y into this one.
    y, rstd, x = pyaclnn.add_rms_norm(x1, x2, g, 1e-6, stream=stream)
    dx, dgamma = pyaclnn.rms_norm_grad(dy, x, rstd, g, stream=stream)
    stream.synchronize()
    # Gradients through y and through x; both summands have the same gradient.
    found = dx.numpy() + onward
    print(f"y {y.shape}, gradient of each summand {found.shape}, of gamma {dgamma.shape}")
    of_gamma = dgamma.numpy()


def loss(first: np.ndarray, scale: np.ndarray) -> float:
    """Compute the differentiated function in float64."""
    total = first + branch.astype(np.float64)
    norm = total / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-6) * scale
    return float((norm * upstream + total * onward).sum())


def slope(of: np.ndarray, place: tuple[int, ...], *, scale: bool) -> float:
    """The derivative of the loss by one element."""
    values = []
    for step in (1e-4, -1e-4):
        moved = of.astype(np.float64)
        moved[place] += step
        values.append(loss(hidden, moved) if scale else loss(moved, gamma))
    return (values[0] - values[1]) / 2e-4


NEAR = 1e-3
for place in ((0, 0), (1, 17), (3, 31)):
    assert abs(found[place] - slope(hidden, place, scale=False)) < NEAR
    assert abs(of_gamma[place[1]] - slope(gamma, place[1:], scale=True)) < NEAR
print("both agree with finite differences of the forward formula")
