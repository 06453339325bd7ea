# SPDX-License-Identifier: Apache-2.0
"""A layer norm and its gradients, from NumPy arrays to NumPy arrays.

It runs on the simulated NPU; remove the line with ``select_backend`` to run it on an NPU.
"""

import numpy as np

import pyaclnn

pyaclnn.select_backend("mock")  # remove this line on a machine with an NPU

rng = np.random.default_rng(0)
x = rng.normal(size=(32, 256)).astype(np.float32)
weight = rng.normal(size=256).astype(np.float32)
bias = rng.normal(size=256).astype(np.float32)

forward = pyaclnn.layer_norm(x, 256, weight, bias)
print(f"backend: {pyaclnn.backend().name}")
print(f"mean of the rows of out, before weight and bias: {forward.mean[0, 0]:+.4f} is taken out")

# The gradient of sum(out * upstream) with respect to every input of the forward.
upstream = rng.normal(size=x.shape).astype(np.float32)
gradients = pyaclnn.layer_norm_backward(upstream, x, 256, forward.mean, forward.rstd, weight, bias)
print(f"grad_input {gradients.grad_input.shape}, grad_weight {gradients.grad_weight.shape}")

# A gradient nobody needs is neither computed nor allocated.
only_input = pyaclnn.layer_norm_backward(
    upstream, x, 256, forward.mean, forward.rstd, weight, output_mask=(True, False, False)
)
assert only_input.grad_weight is None
assert np.array_equal(only_input.grad_input, gradients.grad_input)

# Check one number by hand: a step along weight[7] changes the loss by grad_weight[7] per unit.
step = np.zeros_like(weight)
step[7] = 0.5
moved = pyaclnn.layer_norm(x, 256, weight + step, bias).out
change = float(((moved - forward.out) * upstream).sum())
print(f"predicted change {0.5 * gradients.grad_weight[7]:+.4f}, measured {change:+.4f}")
assert np.isclose(change, 0.5 * gradients.grad_weight[7], atol=1e-2)
