# SPDX-License-Identifier: Apache-2.0
"""Expressions for which torch-npu calls single operators, as on chips that compile each of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch_cases import _backward, _given, _random

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch_cases import Results

_TABLE = Path(__file__).with_name("compiled_operators.txt")


def compiled_operators(device: str) -> Results:
    if device != "cpu":
        torch.npu.set_compile_mode(jit_compile=True)
    rows = _TABLE.read_text(encoding="utf-8").splitlines()
    return {
        f"{text} {part}": value
        for text in rows
        if not text.startswith("#")
        for part, value in _computed(text, device).items()
    }


def compiled_optimizers(device: str) -> Results:
    if device != "cpu":
        torch.npu.set_compile_mode(jit_compile=True)
    return {
        f"{optimizer.__name__} {name}": value
        for optimizer in (torch.optim.SGD, torch.optim.AdamW, torch.optim.RMSprop)
        for name, value in _trained(optimizer, device).items()
    }


def fused_operators(device: str) -> Results:
    """Functions of torch-npu, and what they are made of."""
    norm, rms = torch.nn.functional.layer_norm, torch.nn.functional.rms_norm
    functions: dict[str, Callable[..., torch.Tensor]]
    if device == "cpu":
        functions = {
            "rms": lambda x, y, g, b: rms(x, (5,), g, 1e-5),  # noqa: ARG005
            "rms of a sum": lambda x, y, g, b: rms((x + y).detach(), (5,), g.detach(), 1e-5) + b,
            "norm of a sum": lambda x, y, g, b: norm(x + y, (5,), g, b, 1e-5) + 2 * (x + y),
            "deep": lambda x, y, g, b: norm(0.3 * x + y, (5,), g, b, 1e-6),
        }
    else:
        import torch_npu as npu  # noqa: PLC0415  # on the CPU there is none

        torch.npu.set_compile_mode(jit_compile=True)

        def summed(*given: torch.Tensor) -> torch.Tensor:
            normed, _, _, total = npu.npu_add_layer_norm(*given, 1e-5, True)
            return normed + 2 * total

        functions = {
            "rms": lambda x, y, g, b: npu.npu_rms_norm(x, g, 1e-5)[0],  # noqa: ARG005
            "rms of a sum": lambda x, y, g, b: (
                npu.npu_add_rms_norm(x.detach(), y.detach(), g.detach(), 1e-5)[0] + b
            ),
            "norm of a sum": summed,
            "deep": lambda x, y, g, b: npu.npu_deep_norm(x, y, b, g, 0.3, 1e-6)[2],
        }
    found: Results = {}
    for name, function in functions.items():
        given = _random(2, 3, 5), _random(2, 3, 5, seed=1), _random(5, seed=2), _random(5, seed=3)
        leaves = [each.to(device).requires_grad_() for each in given]
        out = function(*leaves)
        out.backward(_random(2, 3, 5, seed=9).to(device))
        slopes = {f"{name} by {i}": each.grad for i, each in enumerate(leaves)}
        found |= {name: out, **{key: slope for key, slope in slopes.items() if slope is not None}}
    return found


def rotary_embedding(device: str) -> Results:
    if device != "cpu":
        torch.npu.set_compile_mode(jit_compile=True)

    def turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        if device != "cpu":
            import torch_npu  # noqa: PLC0415  # on the CPU there is none

            return torch_npu.npu_rotary_mul(x, cos, sin)
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat([-b, a], -1) * sin

    angles = _random(1, 1, 5, 64, seed=1), _random(1, 1, 5, 64, seed=2)
    return _backward(turned, device, _random(2, 3, 5, 64), *angles)


def depthwise_convolution(device: str) -> Results:
    """By the operator of aclnn, and by the single one."""
    x, w, y = _random(2, 6, 5, 7), _random(12, 1, 3, 2, seed=1), _random(2, 12, 3, 5, seed=9)
    b, rule = _random(12, seed=2), ((2, 1), (1, 0), (1, 2))
    if device == "cpu":
        out = torch.nn.functional.conv2d(x.requires_grad_(), w.requires_grad_(), b, *rule, groups=6)
        out.backward(y)
        return {"out": out, "compiled": out, "by x": x.grad, "by w": w.grad}
    import torch_npu  # noqa: PLC0415  # on the CPU there is none

    x, w, b, y = (each.to(device) for each in (x, w, b, y))
    out = torch.ops.aten._conv_depthwise2d(x, w, (3, 2), b, *rule)
    torch.npu.set_compile_mode(jit_compile=True)
    compiled = torch.ops.aten._conv_depthwise2d(x, w, (3, 2), b, *rule)
    back = torch_npu._conv_depthwise2d_backward(y, x, w, (3, 2), *rule, (True, True))
    return {"out": out, "compiled": compiled, "by x": back[0], "by w": back[1]}


def _trained(optimizer: Any, device: str) -> Results:
    torch.manual_seed(0)
    module = torch.nn.Linear(8, 3).to(device)
    steps = optimizer(module.parameters(), lr=0.1)
    for _ in range(3):
        steps.zero_grad()
        module(_random(4, 8).to(device)).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        steps.step()
    return {name: weight.detach() for name, weight in module.named_parameters()}


def _computed(text: str, device: str) -> Results:
    """The value of an expression, and the gradients of the tensors in it."""
    leaves: dict[str, torch.Tensor] = {}

    def leaf(name: str, *shape: int) -> torch.Tensor:
        leaves[name] = _given(_random(*shape, seed=len(leaves)), device)
        return leaves[name]

    known: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "device": device}
    known |= {"x": leaf("x", 4, 8), "y": leaf("y", 4, 8), "image": leaf("image", 2, 3, 8, 8)}
    known |= {"volume": leaf("volume", 1, 2, 4, 6, 6), "classes": torch.arange(4).to(device)}
    known["i"] = torch.tensor([[0, 2], [1, 3], [2, 0], [3, 1]]).to(device)
    known["w"] = lambda *shape: leaf(f"weight {len(leaves)}", *shape)
    out = eval(text, known)  # noqa: S307  # our own table
    if out.requires_grad:
        out.backward(_random(out.numel(), seed=9).reshape(out.shape).to(device))
    gradients = {f"by {name}": each.grad for name, each in leaves.items() if each.grad is not None}
    return {"is": out, **gradients}
