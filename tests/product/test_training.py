# SPDX-License-Identifier: Apache-2.0
"""The example's network learns as PyTorch's does."""

from __future__ import annotations

import runpy
from typing import Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn.runtime.device import default_device

from .commands import ROOT

SCRIPT = ROOT / "examples" / "10_train_a_network.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    pyaclnn.select_backend("mock")
    default_device()  # it stays open
    return runpy.run_path(str(SCRIPT))


@pytest.mark.exhaustive
def test_the_loss_falls_as_that_of_pytorch_on_the_cpu(example: dict[str, Any], torch: Any) -> None:
    network, inputs, wanted = example["problem"]()
    x, y = (torch.from_numpy(array.astype(np.float64)) for array in (inputs, wanted))
    parameters = [torch.from_numpy(part.astype(np.float64)).requires_grad_() for part in network]
    inward, scale, shift, outward = parameters
    losses = []
    for _ in range(example["STEPS"]):
        hidden = torch.nn.functional.layer_norm(x @ inward, (32,), scale, shift, example["EPS"])
        loss = ((torch.relu(hidden) @ outward - y) ** 2).mean()
        slopes = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for part, slope in zip(parameters, slopes, strict=True):
                part.sub_(example["RATE"] * slope)
        losses.append(loss.item())

    np.testing.assert_allclose(example["train"](), losses, rtol=1e-4)
