# SPDX-License-Identifier: Apache-2.0
"""Expressions for which torch-npu calls single operators, as on chips that compile each of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch_cases import _given, _random

if TYPE_CHECKING:
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
