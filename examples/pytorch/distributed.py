# SPDX-License-Identifier: Apache-2.0
"""Train on two NPUs, each with half of the batch, or on one device with all of it.

Nothing here knows that the NPUs are simulated; the losses are the same::

    pyaclnn mock run -- torchrun --nproc-per-node 2 examples/pytorch/distributed.py
    python examples/pytorch/distributed.py cpu
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ROWS, WIDTH, STEPS = 32, 16, 5


def train(device: str, rank: int, ranks: int) -> list[float]:
    """Give the loss of each step, over the rows of this rank."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1))
    network.to(device)
    x = torch.randn(ROWS, WIDTH).chunk(ranks)[rank].to(device)
    wanted = torch.randn(ROWS, 1).chunk(ranks)[rank].to(device)
    model = DistributedDataParallel(network) if ranks > 1 else network
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), wanted)
        loss.backward()  # with several ranks, gradients are their mean
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    """Be one rank, or the only one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("device", nargs="?", default="npu", choices=["npu", "cpu"])
    parser.add_argument("--losses", type=Path, help="file to write the mean losses to, as JSON")
    arguments = parser.parse_args()
    rank, ranks = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    device = arguments.device
    if device == "npu":
        import torch_npu  # noqa: PLC0415  # registers the device

        device = f"npu:{os.environ.get('LOCAL_RANK', '0')}"
        torch_npu.npu.set_device(device)  # torch.npu, which editors do not know
    if ranks > 1:
        torch.distributed.init_process_group("hccl")
    losses = torch.tensor(train(device, rank, ranks), device=device)
    if ranks > 1:
        torch.distributed.all_reduce(losses)
        torch.distributed.destroy_process_group()
    means = (losses.cpu() / ranks).tolist()
    if rank == 0:
        print(f"{ranks} on {arguments.device}: loss {means[0]:.6f} -> {means[-1]:.6f}")
        if arguments.losses:
            arguments.losses.write_text(json.dumps(means), encoding="utf-8")


if __name__ == "__main__":
    main()
