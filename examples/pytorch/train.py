# SPDX-License-Identifier: Apache-2.0
"""Train a small network with PyTorch: nothing here knows that the NPU is simulated.

On the simulated NPU, where torch-npu is installed, and on the CPU, which gives the same losses::

    pyaclnn mock run -- python examples/pytorch/train.py npu --losses npu.json
    python examples/pytorch/train.py cpu --losses cpu.json
    python examples/pytorch/plot.py npu.json cpu.json losses.png
"""

import argparse
import json
from pathlib import Path

import torch
from torch import nn

parser = argparse.ArgumentParser(description="Train a small network.")
parser.add_argument("device", help="where: npu or cpu")
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--losses", type=Path, help="a file for the losses, as JSON")
options = parser.parse_args()

torch.manual_seed(0)
network = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 1))
inputs = torch.randn(128, 16)
targets = inputs[:, :4].prod(dim=1, keepdim=True).tanh()

network = network.to(options.device)
inputs, targets = inputs.to(options.device), targets.to(options.device)
optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
losses = []
for step in range(options.steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(network(inputs), targets)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 10 == 0 or step == options.steps - 1:
        print(f"step {step:3}: loss {losses[-1]:.6f}")

if options.losses:
    options.losses.write_text(json.dumps(losses), encoding="utf-8")
