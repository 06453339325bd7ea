# SPDX-License-Identifier: Apache-2.0
"""A small network with a layer norm, trained on NumPy arrays.

It runs on the simulated NPU; remove the line with ``select_backend`` to run it on an NPU.
With a file name, such as ``loss.png``, it draws the loss (``pip install 'pyaclnn[plot]'``).
"""

import sys
from typing import NamedTuple

import numpy as np

import pyaclnn

pyaclnn.select_backend("mock")  # remove this line on a machine with an NPU

STEPS, RATE, EPS = 30, 0.1, 1e-5


class Network(NamedTuple):
    """The parameters: two matrices, and the scale and shift of the norm between them."""

    inward: np.ndarray
    scale: np.ndarray
    shift: np.ndarray
    outward: np.ndarray


def problem() -> tuple[Network, np.ndarray, np.ndarray]:
    """A network that knows nothing, inputs, and what it has to make of them."""
    rng = np.random.default_rng(9)
    inputs = rng.normal(size=(64, 4)).astype(np.float32)
    wanted = np.sin(inputs.sum(1, keepdims=True)).astype(np.float32)
    inward = rng.normal(0, 0.5, (4, 32)).astype(np.float32)
    outward = rng.normal(0, 0.2, (32, 1)).astype(np.float32)
    return (
        Network(inward, np.ones(32, np.float32), np.zeros(32, np.float32), outward),
        inputs,
        wanted,
    )


def step(network: Network, inputs: np.ndarray, wanted: np.ndarray) -> tuple[Network, float]:
    """One step of gradient descent on the mean square: the new network and the loss before."""
    hidden = inputs @ network.inward
    normed, mean, rstd = pyaclnn.layer_norm(hidden, 32, network.scale, network.shift, EPS)
    active = np.maximum(normed, 0)
    error = active @ network.outward - wanted

    of_output = 2 * error / error.size
    of_active = of_output @ network.outward.T
    of_hidden, of_scale, of_shift = pyaclnn.layer_norm_backward(
        of_active * (normed > 0), hidden, 32, mean, rstd, network.scale, network.shift
    )
    slopes = (inputs.T @ of_hidden, of_scale, of_shift, active.T @ of_output)
    better = (old - np.float32(RATE) * slope for old, slope in zip(network, slopes, strict=True))
    return Network(*better), float((error**2).mean())


def train() -> list[float]:
    """The loss before each step."""
    network, inputs, wanted = problem()
    losses = []
    for _ in range(STEPS):
        network, loss = step(network, inputs, wanted)
        losses.append(loss)
    return losses


if __name__ == "__main__":
    losses = train()
    print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} after {STEPS} steps")
    assert losses[-1] < losses[0] / 2
    if len(sys.argv) > 1:
        from matplotlib.figure import Figure  # it needs no display

        figure = Figure()
        axes = figure.subplots()
        axes.plot(losses)
        axes.set(xlabel="step", ylabel="loss")
        figure.savefig(sys.argv[1])
