# SPDX-License-Identifier: Apache-2.0
"""Networks that train or generate on the NPU and on the CPU: every public function is a case.

A case takes the device and returns results by name, on which both must agree. Dropout draws other
numbers on an NPU: `_Dropout` replays on the CPU the masks that an NPU has drawn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Callable

    Results = dict[str, torch.Tensor]

BATCH, LENGTH, WIDTH, HEADS, WORDS = 2, 12, 32, 4, 50


def _random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _words(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(1, WORDS, shape, generator=torch.Generator().manual_seed(seed))


def _gradients(model: nn.Module) -> Results:
    named = ((name, weight.grad) for name, weight in model.named_parameters())
    return {f"gradient of {name}": value for name, value in named if value is not None}


class Block(nn.Module):  # type: ignore[misc]  # its types are not read
    """Pre-norm transformer block with causal attention."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(dropout)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attend, then transform each position."""
        batch, length, _ = x.shape
        heads = self.qkv(self.norms[0](x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        query, key, value = heads
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + functional.dropout(
            self.out(attended.transpose(1, 2).reshape(x.shape)), self.dropout, self.training
        )
        return x + self.mlp(self.norms[1](x))


class Gpt(nn.Module):  # type: ignore[misc]  # its types are not read
    """Decoder of two blocks whose output layer shares the weights of its embedding."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block(dropout) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """Return the logits of the next words."""
        places = torch.arange(words.shape[1], device=words.device)
        return self.head(self.norm(self.blocks(self.words(words) + self.places(places))))


def _trained(
    model: nn.Module,
    loss_of: Callable[[], torch.Tensor],
    steps: int = 3,
    optimizer: type[torch.optim.Optimizer] = torch.optim.AdamW,
    **options: Any,
) -> Results:
    """Train, and return the losses and the last gradients."""
    optimizing, losses = optimizer(model.parameters(), **options), []
    for _ in range(steps):
        optimizing.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizing.step()
        losses.append(loss.detach())
    return {"losses": torch.stack(losses), **_gradients(model)}


def _gpt(device: str, dropout: float = 0.0, **options: Any) -> Results:
    torch.manual_seed(0)
    model, words = Gpt(dropout).to(device), _words(BATCH, LENGTH + 1).to(device)

    def loss() -> torch.Tensor:
        logits = model(words[:, :-1])
        return functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())

    return _trained(model, loss, **options)


def gpt(device: str) -> Results:
    return _gpt(device)


def gpt_with_fused_adamw(device: str) -> Results:
    return _gpt(device, fused=True)


class _Dropout(TorchFunctionMode):  # type: ignore[misc]  # as above
    """Record the masks of dropout on an NPU, or replay them on the CPU."""

    masks: ClassVar[list[torch.Tensor]] = []

    def __init__(self, device: str) -> None:
        super().__init__()
        self._replayed = iter(self.masks) if device == "cpu" else None

    def __torch_function__(
        self, function: Any, _types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Intercept dropout, alone and inside attention."""
        called = {
            functional.dropout: self._dropout,
            functional.scaled_dot_product_attention: self._attention,
        }.get(function, function)
        return called(*args, **(kwargs or {}))

    def _dropout(
        self, x: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> torch.Tensor:
        if not (p and training):
            return x
        if self._replayed is not None:
            return x * next(self._replayed) / (1 - p)
        state = torch.npu.get_rng_state()
        self.masks.append((functional.dropout(torch.ones_like(x), p) != 0).cpu())
        torch.npu.set_rng_state(state)
        return functional.dropout(x, p, inplace=inplace)

    def _attention(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        dropout_p: float = 0.0,
        **options: Any,
    ) -> torch.Tensor:
        attention = functional.scaled_dot_product_attention
        if not dropout_p:
            return attention(query, key, value, attn_mask, **options)
        # Its product with the identity is the matrix of weights.
        identity = torch.eye(key.shape[-2], device=key.device).expand(*key.shape[:-1], -1)
        if self._replayed is not None:
            weights = attention(query, key, identity, attn_mask, **options)
            return weights * next(self._replayed) / (1 - dropout_p) @ value
        state = torch.npu.get_rng_state()
        weights = attention(query, key, identity, attn_mask, dropout_p, **options)
        self.masks.append((weights != 0).cpu())
        torch.npu.set_rng_state(state)
        return attention(query, key, value, attn_mask, dropout_p, **options)


def gpt_with_dropout(device: str) -> Results:
    with _Dropout(device):
        found = _gpt(device, 0.2)
    share = torch.cat([mask.flatten() for mask in _Dropout.masks]).float().mean()
    assert abs(share - 0.8) < 0.02  # 5 deviations of 15000 draws
    return found


class Residual(nn.Module):  # type: ignore[misc]  # its types are not read
    """Residual block that halves the image."""

    def __init__(self, channels: int, out: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, out, 3, stride=2, padding=1, bias=False)
        self.second = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(out) for _ in range(3))
        self.short = nn.Conv2d(channels, out, 1, stride=2, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add the convolved image to the shortened one."""
        inner = functional.relu(self.norms[0](self.first(x)), inplace=True)
        return functional.relu(self.norms[1](self.second(inner)) + self.norms[2](self.short(x)))


def resnet(device: str) -> Results:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 7, stride=2, padding=3, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
        Residual(8, 8),
        Residual(8, 16),
        nn.AdaptiveAvgPool2d((1, 1)),
        nn.Flatten(),
        nn.Linear(16, 10),
    ).to(device)
    images, labels = _random(4, 3, 32, 32).to(device), torch.arange(4).to(device)
    found = _trained(
        model,
        lambda: functional.cross_entropy(model(images), labels),
        optimizer=torch.optim.SGD,
        lr=0.05,
        momentum=0.9,
    )
    statistics = {name: value.float() for name, value in model.named_buffers()}
    model.eval()
    with torch.no_grad():
        return {**found, **statistics, "evaluated": model(images)}


def lstm(device: str) -> Results:
    torch.manual_seed(0)
    embedding, recurrent = nn.Embedding(WORDS, 8), nn.LSTM(8, 16, 2, batch_first=True)
    head = nn.Linear(16, WORDS)
    model = nn.ModuleList((embedding, recurrent, head)).to(device)
    words = _words(BATCH, LENGTH + 1).to(device)

    def loss() -> torch.Tensor:
        out, _ = recurrent(embedding(words[:, :-1]))
        return functional.cross_entropy(head(out).transpose(1, 2), words[:, 1:])

    return _trained(model, loss)


def embedding_bag(device: str) -> Results:
    torch.manual_seed(0)
    bag, head = nn.EmbeddingBag(WORDS, 8), nn.Linear(8, 3)
    model = nn.ModuleList((bag, head)).to(device)
    words, starts = _words(20).to(device), torch.tensor([0, 4, 11, 15]).to(device)
    labels = torch.tensor([0, 2, 1, 1]).to(device)
    return _trained(model, lambda: functional.cross_entropy(head(bag(words, starts)), labels))


def sparse_gradients(device: str) -> Results:
    """Gradients of an embedding that hold its rows alone, with words that repeat."""
    torch.manual_seed(0)
    table = nn.Embedding(WORDS, WIDTH, sparse=True).to(device)
    steps = torch.optim.SGD(table.parameters(), lr=0.1)
    found: Results = {}
    for seed in range(3):
        steps.zero_grad()
        table(_words(BATCH, LENGTH, seed=seed).to(device)).square().sum().backward()
        gradient = table.weight.grad.coalesce()
        found[f"rows {seed}"] = gradient.indices()
        found[f"values {seed}"] = gradient.values()
        steps.step()
    places = torch.tensor([[1, 0, 1], [2, 3, 2]])
    cells = torch.sparse_coo_tensor(places, _random(3, WIDTH), (2, 4, WIDTH), check_invariants=True)
    doubled = cells.to(device) * 2
    return {**found, "weight": table.weight, "cells": doubled.to_dense()}


def scaled_gradients(device: str) -> Results:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler(device, init_scale=2.0**18)
    x, wanted = _random(20, 16).to(device), _random(20, 4, seed=5).to(device)
    losses, scales = [], []
    for _ in range(4):
        optimizer.zero_grad()
        with torch.autocast(device, torch.bfloat16):
            loss = functional.mse_loss(model(x).float(), wanted)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach())
        scales.append(scaler.get_scale())
    return {"losses": torch.stack(losses).bfloat16(), "scales": torch.tensor(scales)}


def generation(device: str) -> Results:
    """Sample words from the largest probabilities; each device draws numbers of its own."""
    torch.manual_seed(0)
    model = Gpt().to(device).eval()
    words = _words(BATCH, 3).to(device)
    with torch.no_grad():
        while words.shape[1] < LENGTH:
            logits = model(words)[:, -1] / 0.8
            least = torch.topk(logits, 5).values[:, -1:]
            chances = functional.softmax(logits.masked_fill(logits < least, -torch.inf), -1)
            drawn = torch.multinomial(chances, 1)
            assert (chances.gather(1, drawn) > 0).all()
            words = torch.cat([words, drawn], 1)
        greedy = _words(BATCH, 3).to(device)
        while greedy.shape[1] < LENGTH:
            greedy = torch.cat([greedy, model(greedy)[:, -1:].argmax(-1)], 1)
    assert words.shape == (BATCH, LENGTH)
    return {"greedy": greedy, "logits": model(greedy).detach()}


def quantized_product(device: str) -> Results:
    """Multiply int8 by the scales of rows and columns, plain weights and those in blocks."""
    generator = torch.Generator().manual_seed(0)
    x, weight = (
        torch.randint(-9, 10, dims, dtype=torch.int8, generator=generator)
        for dims in ((6, WIDTH), (WIDTH, 16))
    )
    rows, columns = _random(6).abs(), _random(16, seed=1).abs()
    if device == "cpu":
        product = (x.float() @ weight.float() * columns * rows[:, None]).to(torch.bfloat16)
        return {"plain": product, "blocks": product}
    npu: Any = import_module("torch_npu")
    x, weight, rows, columns = (each.to(device) for each in (x, weight, rows, columns))
    weights = {"plain": weight, "blocks": npu.npu_format_cast(weight, 29)}
    scaled = {"pertoken_scale": rows, "output_dtype": torch.bfloat16}
    return {
        name: npu.npu_quant_matmul(x, each, columns, **scaled) for name, each in weights.items()
    }
