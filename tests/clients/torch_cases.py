# SPDX-License-Identifier: Apache-2.0
"""What PyTorch is asked to do, on the NPU and on the CPU alike: every public function is a case.

A case takes the device and gives what the two must agree on, by name. It runs in a process of its
own that `zygote` has forked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    Results = dict[str, torch.Tensor]

ROWS, WIDTH = 6, 48


def _random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    chance = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=chance).to(dtype)


def _given(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """A leaf on the device."""
    return tensor.to(device).requires_grad_()


def _backward(
    module: Callable[..., torch.Tensor], device: str, *given: torch.Tensor
) -> dict[str, torch.Tensor]:
    """The result of a function and its gradients, the gradient of the result being given."""
    leaves = [_given(tensor, device) for tensor in given]
    out = module(*leaves)
    out.backward(_random(*out.shape, dtype=out.dtype, seed=9).to(device))
    return {"out": out, **{f"gradient {i}": leaf.grad for i, leaf in enumerate(leaves)}}


def layer_norm(device: str) -> Results:
    norm = torch.nn.functional.layer_norm
    weights = 1 + _random(WIDTH, seed=1), _random(WIDTH, seed=2)
    return _backward(
        lambda x, w, b: norm(x, (WIDTH,), w, b), device, _random(ROWS, WIDTH), *weights
    )


def layer_norm_of_a_module(device: str) -> Results:
    module = torch.nn.LayerNorm((4, 12)).to(device)
    found = _backward(module, device, _random(2, ROWS, 4, 12))
    return {**found, "weight": module.weight.grad, "bias": module.bias.grad}


def layer_norm_of_a_view(device: str) -> Results:
    x = _random(WIDTH, ROWS).to(device).t()
    return {"out": torch.nn.functional.layer_norm(x, (WIDTH,))}


def layer_norm_in_float16(device: str) -> Results:
    return {
        "out": torch.nn.LayerNorm(WIDTH).half().to(device)(_random(ROWS, WIDTH).half().to(device))
    }


def layer_norm_in_bfloat16(device: str) -> Results:
    x = _random(ROWS, WIDTH, dtype=torch.bfloat16).to(device)
    return {"out": torch.nn.LayerNorm(WIDTH, dtype=torch.bfloat16).to(device)(x)}


def rms_norm(device: str) -> Results:
    def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        if x.device.type == "cpu":
            return torch.nn.functional.rms_norm(x, (WIDTH,), weight, 1e-6)
        import torch_npu  # noqa: PLC0415  # there is none of it on the CPU

        return torch_npu.npu_rms_norm(x, weight, 1e-6)[0]

    return _backward(norm, device, _random(ROWS, WIDTH), _random(WIDTH, seed=1))


def copies_and_streams(device: str) -> Results:
    x = _random(ROWS, WIDTH)
    if device == "cpu":
        return {"there and back": x, "normed": torch.nn.functional.layer_norm(x, (WIDTH,))}
    side, start, end = torch.npu.Stream(), torch.npu.Event(True), torch.npu.Event(True)
    pinned = x.pin_memory()
    with torch.npu.stream(side):
        start.record()
        there = pinned.to(device, non_blocking=True)
        end.record()
    torch.npu.current_stream().wait_event(end)
    normed = torch.nn.functional.layer_norm(there, (WIDTH,))
    back = there.clone().to("npu:1").cpu()
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) >= 0
    return {"there and back": back, "normed": normed}


def wrong_without_an_event(device: str) -> Results:
    """One stream reads what another one still writes."""
    x = _random(ROWS, WIDTH)
    if device == "cpu":
        return {"normed": torch.nn.functional.layer_norm(x, (WIDTH,))}
    side = torch.npu.Stream()
    there = x.pin_memory().to(device, non_blocking=True)
    with torch.npu.stream(side):
        normed = torch.nn.functional.layer_norm(there, (WIDTH,))
    torch.npu.synchronize()
    return {"normed": normed}


def wrong_memory_given_back(device: str) -> Results:
    """Memory that a stream still reads goes back to where the next tensor comes from."""
    x = _random(ROWS, WIDTH)
    if device == "cpu":
        return {"normed": torch.nn.functional.layer_norm(x, (WIDTH,))}
    side = torch.npu.Stream()
    there = x.to(device)
    with torch.npu.stream(side):
        normed = torch.nn.functional.layer_norm(there, (WIDTH,))
    del there  # without record_stream
    torch.nn.functional.layer_norm(_random(ROWS, WIDTH, seed=1).to(device), (WIDTH,))
    torch.npu.synchronize()
    return {"normed": normed}
