# SPDX-License-Identifier: Apache-2.0
"""Two ranks of PyTorch over HCCL, forked from a process that has imported it.

It stands alone: ``python torch_ranks.py FOLDER``. Each rank writes what it has received to
``FOLDER/RANK.json``.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import torch
import torch_npu  # noqa: F401  # registers the device
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

import pyaclnn.torch

RANKS, ROWS, WIDTH = 2, 8, 6


def _exchanged(rank: int, device: str) -> dict[str, Any]:
    """Return the results of every operation, on tensors that identify their rank."""
    mine = (torch.arange(4.0) + 10 * rank).to(device)
    found: dict[str, torch.Tensor] = {}
    for name in ("SUM", "MAX", "MIN", "PRODUCT"):
        found[f"all_reduce {name}"] = mine.clone()
        operation = getattr(distributed.ReduceOp, name)
        distributed.all_reduce(found[f"all_reduce {name}"], op=operation)
    found["all_reduce bfloat16"] = mine.bfloat16()
    distributed.all_reduce(found["all_reduce bfloat16"])
    found["broadcast"] = mine.clone()
    distributed.broadcast(found["broadcast"], src=1)
    found["all_gather"] = torch.empty(2 * 4, device=device)
    distributed.all_gather_into_tensor(found["all_gather"], mine)
    found["reduce_scatter"] = torch.empty(2, device=device)
    distributed.reduce_scatter_tensor(found["reduce_scatter"], mine)
    found["all_to_all"] = torch.empty(4, device=device)
    distributed.all_to_all_single(found["all_to_all"], mine)
    found["reduce"] = mine.clone()
    distributed.reduce(found["reduce"], dst=0)
    distributed.barrier()
    graph, given = torch.npu.NPUGraph(), torch.zeros(4, device=device)
    with torch.npu.graph(graph):
        found["captured"] = given * 2
        distributed.all_reduce(found["captured"])
    given.copy_(mine)
    graph.replay()
    found["message"] = mine.clone()
    if rank == 0:
        distributed.send(mine, dst=1)
    else:
        distributed.recv(found["message"], src=0)
    found["batch"], other = torch.empty(4, device=device), 1 - rank
    batch = [
        distributed.P2POp(distributed.isend, mine, other),
        distributed.P2POp(distributed.irecv, found["batch"], other),
    ]
    for work in distributed.batch_isend_irecv(batch):
        work.wait()
    return {name: tensor.float().cpu().tolist() for name, tensor in found.items()}


def gradients(device: str, rank: int, ranks: int, norms: Any = nn) -> dict[str, list[float]]:
    """Return gradients of a small network over a rank's rows; with several ranks, their mean."""
    torch.manual_seed(3)
    layers = (norms.LayerNorm(WIDTH), norms.RMSNorm(WIDTH, eps=1e-6), nn.Linear(WIDTH, 1))
    network = nn.Sequential(*layers).to(device)
    rows = torch.randn(ROWS, WIDTH).chunk(ranks)[rank].to(device)
    model = DistributedDataParallel(network) if ranks > 1 else network
    model(rows).square().mean().backward()
    return {
        name: parameter.grad.flatten().cpu().tolist()
        for name, parameter in network.named_parameters()
        if parameter.grad is not None
    }


def _be(rank: int, folder: Path) -> None:
    device = f"npu:{rank}"
    try:
        torch.npu.set_device(device)
        distributed.init_process_group(
            "hccl", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS
        )
        answer: dict[str, Any] = _exchanged(rank, device)
        answer["gradients"] = gradients(device, rank, RANKS)
        answer["gradients of pyaclnn"] = gradients(device, rank, RANKS, pyaclnn.torch)
        distributed.destroy_process_group()
    except Exception:  # noqa: BLE001  # whatever it was, the test wants to know
        answer = {"failure": traceback.format_exc()}
    (folder / f"{rank}.json").write_text(json.dumps(answer), encoding="utf-8")


def main() -> None:
    """Fork the ranks, and wait for them."""
    folder = Path(sys.argv[1])
    for rank in range(RANKS):
        if os.fork() == 0:
            _be(rank, folder)
            # Another test covers the objects that torch-npu leaks at exit.
            os._exit(0)
    statuses = [os.wait()[1] for _ in range(RANKS)]
    (folder / "cpu.json").write_text(json.dumps(gradients("cpu", 0, 1)), encoding="utf-8")
    sys.exit(max(statuses))


if __name__ == "__main__":
    main()
