# SPDX-License-Identifier: Apache-2.0
"""Programs of PyTorch on the simulated NPU, against PyTorch on the CPU."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .measure import Comparison, Timing, take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["compare", "step"]

WIDTHS = {32: 4.0, 256: 2.5}
"""The width of a network -> the target of a training step."""
_CALLS = 200
_TRAINING = 0.2
"""Seconds of a sample of steps, which are made on end, with warm caches, as in a training."""


def compare(turns: int) -> Iterator[Comparison]:
    """Time training steps, and norms of ``pyaclnn.torch``.

    Run it as ``pyaclnn mock run -- python -m tests.benchmarks torch``, where torch-npu is
    installed.
    """
    import torch  # noqa: PLC0415  # the other benchmarks do without it
    import torch_npu  # noqa: F401, PLC0415  # as above

    for width, target in WIDTHS.items():
        ways = {place: step(torch, width, place) for place in ("npu", "cpu")}
        timings = take_turns(ways, turns, _TRAINING)
        case = f"training step, width {width}"
        yield Comparison(case, "npu", timings["npu"], "cpu", timings["cpu"], target)
    yield from _norms(torch, turns)


def step(torch: Any, width: int, place: str) -> Callable[[], object]:
    """Return what trains a network of two layers for a step."""
    torch.manual_seed(1)
    layers = [torch.nn.Linear(width, width), torch.nn.LayerNorm(width), torch.nn.GELU()]
    network = torch.nn.Sequential(*layers, torch.nn.Linear(width, width)).to(place)
    optimizer = torch.optim.AdamW(network.parameters())
    x = torch.randn(64, width).to(place)

    def run() -> None:
        optimizer.zero_grad()
        loss = (network(x) - x).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()

    return run


def _norms(torch: Any, turns: int) -> Iterator[Comparison]:
    import pyaclnn.torch  # noqa: PLC0415  # needs torch-npu

    x, weight, bias = (torch.randn(*shape).npu() for shape in ((8, 64), (64,), (64,)))
    ways = {
        "pyaclnn.torch": lambda: pyaclnn.torch.layer_norm(x, 64, weight, bias).sum().item(),
        "torch-npu": lambda: torch.nn.functional.layer_norm(x, (64,), weight, bias).sum().item(),
    }
    timings = take_turns(ways, turns)
    theirs = timings["torch-npu"]
    yield Comparison(
        "layer_norm 8x64", "pyaclnn.torch", timings["pyaclnn.torch"], "torch-npu", theirs, 1.0
    )
    queued = {
        "pyaclnn.torch": lambda: pyaclnn.torch.layer_norm(x, 64, weight, bias),
        "torch-npu": lambda: torch.nn.functional.layer_norm(x, (64,), weight, bias),
    }
    yield _host_cost("layer_norm 8x64, queued, host CPU", queued, torch.npu.synchronize, turns)


def _host_cost(
    case: str, ways: dict[str, Callable[[], object]], wait: Callable[[], object], turns: int
) -> Comparison:
    """Compare the CPU time that this process, with all its threads, takes for a call."""
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(turns):
        for name, way in ways.items():
            way()
            wait()
            begin = time.process_time()
            for _ in range(_CALLS):
                way()
            wait()
            samples[name].append((time.process_time() - begin) / _CALLS)
    (own, mine), (other, theirs) = samples.items()
    return Comparison(case, own, Timing(tuple(mine)), other, Timing(tuple(theirs)), 1.0)
