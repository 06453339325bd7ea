# SPDX-License-Identifier: Apache-2.0
"""Compositions of PyTorch's functions that operators without one of their own are compared with."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import torch
import torch.nn.functional

F = torch.nn.functional
aten = torch.ops.aten


def grad(function: Any, gradient: Any, *tensors: Any) -> Any:
    """The gradients of a function by tensors, by automatic differentiation."""
    leaves = [tensor.double().requires_grad_() for tensor in tensors]
    found = torch.autograd.grad(function(*leaves), leaves, gradient.double())
    made = tuple(each.to(tensor.dtype) for each, tensor in zip(found, tensors, strict=True))
    return made[0] if len(made) == 1 else made


grad_of = grad


def bnsd(x: Any, layout: str, heads: int) -> Any:
    """A tensor of a layout as batch, heads, sequence, elements."""
    if layout in ("BSH", "SBH"):
        x = x.unflatten(2, (heads, -1))
    return (
        {"SBH": x.permute(1, 2, 0, 3), "BNSD": x}.get(layout, x.transpose(1, 2))
        if x.ndim == 4
        else x
    )


def back(x: Any, layout: str) -> Any:
    """The inverse of `bnsd`."""
    if layout == "BNSD":
        return x
    x = x.permute(2, 0, 1, 3) if layout == "SBH" else x.transpose(1, 2)
    return x.flatten(2) if layout in ("BSH", "SBH") else x.contiguous()


def sdpa(
    q: Any,
    k: Any,
    v: Any,
    layout: str,
    heads: int,
    few: int,
    scale: float,
    allowed: Any = None,
    shift: Any = None,
) -> Any:
    """PyTorch's attention; ``allowed`` is true where a key counts, ``shift`` is added to scores."""
    q, k, v = bnsd(q, layout, heads), bnsd(k, layout, few), bnsd(v, layout, few)
    bias = torch.zeros(q.shape[2], k.shape[2], dtype=q.dtype)
    if allowed is not None:
        bias = bias.masked_fill(~allowed, -torch.inf)
    if shift is not None:
        bias = bias + shift.to(q.dtype)
    y = F.scaled_dot_product_attention(q, k, v, bias, scale=scale, enable_gqa=True)
    return back(y, layout)


def scored(
    q: Any, k: Any, layout: str, heads: int, few: int, scale: float, allowed: Any = None
) -> Any:
    """The scores of attention."""
    q, k = bnsd(q, layout, heads), bnsd(k, layout, few).repeat_interleave(heads // few, 1)
    scores = q @ k.mT * scale
    return scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)


def flash(
    q: Any, k: Any, v: Any, layout: str, heads: int, few: int, scale: float, allowed: Any = None
) -> Any:
    """The results of FlashAttentionScore."""
    scores = scored(q, k, layout, heads, few, scale, allowed)
    top = scores.amax(-1, keepdim=True)
    total = (scores - top).exp().sum(-1, keepdim=True)
    spread = (x.expand(*x.shape[:-1], 8).contiguous() for x in (top, total))
    return *spread, None, sdpa(q, k, v, layout, heads, few, scale, allowed)


def lower(q: int, k: int, shift: int = 0) -> Any:
    """Where a key is not later than a query."""
    return torch.ones(q, k).tril(shift) != 0


def flash_grad(
    q: Any,
    k: Any,
    v: Any,
    dy: Any,
    layout: str,
    heads: int,
    few: int,
    scale: float,
    allowed: Any = None,
) -> Any:
    found = grad(lambda a, b, c: sdpa(a, b, c, layout, heads, few, scale, allowed), dy, q, k, v)
    return *found, torch.zeros(0)


def adamw(
    var: Any, m: Any, v: Any, g: Any, step: int, lr: float, betas: Any, decay: float, eps: float
) -> Any:
    """One step of PyTorch's optimizer from moments at an earlier one."""
    p = torch.nn.Parameter(var.clone())
    optimizer = torch.optim.AdamW([p], lr=lr, betas=betas, weight_decay=decay, eps=eps)
    optimizer.state[p] = {
        "step": torch.tensor(float(step - 1)),
        "exp_avg": m.clone(),
        "exp_avg_sq": v.clone(),
    }
    p.grad = g.clone()
    optimizer.step()
    state = optimizer.state[p]
    return p.detach(), state["exp_avg"], state["exp_avg_sq"]


def half_rope(x: Any, cos: Any, sin: Any) -> Any:
    """A rotary embedding by complex numbers: element i and i + D/2 are a pair."""
    a, b = x.chunk(2, -1)
    c, s = cos[..., : a.shape[-1]], sin[..., : a.shape[-1]]
    return torch.cat([a * c - b * s, b * c + a * s], -1)


def pair_rope(x: Any, cos: Any, sin: Any) -> Any:
    """A rotary embedding whose pairs lie side by side."""
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.complex(
        cos[..., ::2], sin[..., ::2]
    )
    return torch.view_as_real(turned).flatten(-2)


def lstm_cell_grad(dh: Any, dc: Any, cx: Any, cy: Any, gates: Any) -> Any:
    """The gradients by gates before their functions, and by the state, at recorded gates."""
    i, f, g, o = gates.double().chunk(4, 1)
    raw = torch.cat([torch.logit(i), torch.logit(f), torch.atanh(g), torch.logit(o)], 1)

    def cell(raw: Any, cx: Any) -> Any:
        i, f, g, o = raw.chunk(4, 1)
        made = f.sigmoid() * cx + i.sigmoid() * g.tanh()
        # The recorded state is not that of these gates: its own gradient counts.
        state = cy.double() + made - made.detach()
        return torch.stack([o.sigmoid() * state.tanh(), made])

    made = grad(cell, torch.stack([dh, dc]), raw, cx)
    return made[0].float(), made[1]


def eights(x: Any) -> Any:
    """Eight integers of 4 bits in each of 32, the first one lowest."""
    shifts = 4 * torch.arange(8)
    words = ((x.long() & 15).unflatten(-1, (-1, 8)) << shifts).sum(-1)
    return (words - (words >> 31 << 32)).int()


def fours(x: Any) -> Any:
    """The inverse of `eights`."""
    numbers = x.unsqueeze(-1) >> 4 * torch.arange(8, dtype=torch.int32) & 15
    return ((numbers ^ 8) - 8).flatten(-2)


def shared(x: Any, axis: int = -1) -> tuple[Any, Any]:
    """Blocks of 32 elements as float8 with a scale each, which come in pairs."""
    moved = torch.movedim(x, axis, -1)
    number = -(-moved.shape[-1] // 32)
    padded = F.pad(moved, (0, 32 * number - moved.shape[-1])).unflatten(-1, (number, 32))
    power = torch.floor(torch.log2(padded.abs().amax(-1, True))) - 8
    y = (padded / 2**power).to(torch.float8_e4m3fn).float().flatten(-2)[..., : moved.shape[-1]]
    scales = F.pad(power[..., 0], (0, number % 2), value=-127).unflatten(-1, (-1, 2))
    made = torch.movedim(y, -1, axis).numpy().astype(ml_dtypes.float8_e4m3fn)
    bits = (torch.movedim(scales, -2, axis % x.ndim) + 127).to(torch.uint8).numpy()
    return made, bits.view(ml_dtypes.float8_e8m0fnu)


def roi_align(
    x: Any, images: Any, boxes: Any, size: tuple[int, int], scale: float, sampling: int, half: bool
) -> Any:
    """Means of bilinear samples in the bins of boxes."""
    found = []
    for image, box in zip(images.tolist(), boxes, strict=True):
        left, top, right, bottom = (box * scale - half / 2).tolist()
        sides = [(top, bottom - top), (left, right - left)]
        places = [
            first
            + (torch.arange(bins * sampling) + 0.5)
            * (side if half else max(side, 1))
            / (bins * sampling)
            for (first, side), bins in zip(sides, size, strict=True)
        ]
        inside = [(p >= -1) & (p <= n) for p, n in zip(places, x.shape[2:], strict=True)]
        rows, columns = (2 * p / (n - 1) - 1 for p, n in zip(places, x.shape[2:], strict=True))
        grid = torch.stack(torch.meshgrid(columns, rows, indexing="xy"), -1)[None].to(x.dtype)
        sampled = F.grid_sample(
            x[int(image)][None], grid, padding_mode="border", align_corners=True
        )
        found.append(F.avg_pool2d(sampled * (inside[0][:, None] & inside[1]), sampling)[0])
    return torch.stack(found)


def deformable(value: Any, location: Any, weight: Any) -> Any:
    """Attention to samples of a map of 2 by 3 and one of 2 by 2, for one batch of two heads."""
    maps = []
    for level, (first, last, width) in enumerate(((0, 6, 3), (6, 10, 2))):
        image = value[0, first:last].movedim(0, -1).unflatten(-1, (2, width))
        grid = 2 * location[0, :, :, level].transpose(0, 1) - 1
        maps.append(F.grid_sample(image, grid, align_corners=False))
    samples = torch.stack(maps, -2).flatten(-2) * weight[0].transpose(0, 1).flatten(2)[:, None]
    return samples.sum(-1).flatten(0, 1).T[None]


def pinned(value: Any, expression: Any) -> Any:
    """A given value, with the derivatives of an expression."""
    return value + expression - expression.detach()


def lstm_run(x: Any, params: Any, hx: Any) -> Any:
    """Run PyTorch's cells: outputs, last states, and of each step i, g, f, o, h, c, tanh(c)."""
    h, c, steps = *(state[0] for state in hx), []
    for each in x:
        i, f, g, o = (
            F.linear(each, params[0], params[2]) + F.linear(h, params[1], params[3])
        ).chunk(4, -1)
        h, c = aten.lstm_cell(each, (h, c), *params)
        steps.append((i.sigmoid(), g.tanh(), f.sigmoid(), o.sigmoid(), h, c, c.tanh()))
    parts = [torch.stack(part) for part in zip(*steps, strict=True)]
    return (parts[4], h[None], c[None], *([part] for part in parts))


def lstm_slopes(x: Any, params: Any, hx: Any, saved: Any, slopes: Any) -> Any:
    """The gradients of an LSTM at the gates and states that a call names."""
    leaves = [each.double().requires_grad_() for each in (x, *hx, *params)]
    x, h, c, *weights = leaves
    h, c, ys = h[0], c[0], []
    for t, each in enumerate(x):
        i, g, f, o, at_h, at_c, squashed = (part[0][t].double() for part in saved)
        gates = F.linear(each, weights[0], weights[2]) + F.linear(h, weights[1], weights[3])
        of_i, of_f, of_g, of_o = gates.chunk(4, -1)
        i, f, o = (pinned(at.logit(), of).sigmoid() for at, of in ((i, of_i), (f, of_f), (o, of_o)))
        c = pinned(at_c, f * c + i * pinned(g.atanh(), of_g).tanh())
        h = pinned(at_h, o * pinned(squashed.atanh(), c).tanh())
        ys.append(h)
    loss = sum((a * b).sum() for a, b in zip((torch.stack(ys), h, c), slopes, strict=True))
    dx, dh, dc, *weights = (each.float() for each in torch.autograd.grad(loss, leaves))
    return dx, dh, dc, [*weights]


def gru_run(x: Any, params: Any, hx: Any) -> Any:
    """Run PyTorch's cells: outputs, last state, and of each step r, z, n, the state's n, h."""
    h, steps = hx[0], []
    for each in x:
        r, z, n = F.linear(each, params[0], params[2]).chunk(3, -1)
        of_r, of_z, of_n = F.linear(h, params[1], params[3]).chunk(3, -1)
        r, z = (r + of_r).sigmoid(), (z + of_z).sigmoid()
        h = aten.gru_cell(each, h, *params)
        steps.append((r, z, (n + r * of_n).tanh(), of_n, h))
    parts = [torch.stack(part) for part in zip(*steps, strict=True)]
    return (parts[4], h[None], *([part] for part in parts))


def gru_slopes(x: Any, params: Any, hx: Any, saved: Any, slopes: Any) -> Any:
    """The gradients of a GRU at the gates and states that a call names."""
    leaves = [each.double().requires_grad_() for each in (x, hx, *params)]
    x, h, *weights = leaves
    h, ys = h[0], []
    for t, each in enumerate(x):
        r, z, n, at_n, at_h = (part[0][t].double() for part in saved)
        of_x = F.linear(each, weights[0], weights[2]).chunk(3, -1)
        of_h = F.linear(h, weights[1], weights[3]).chunk(3, -1)
        r, z = (
            pinned(at.logit(), a + b).sigmoid()
            for at, a, b in zip((r, z), of_x[:2], of_h[:2], strict=True)
        )
        n = pinned(n.atanh(), of_x[2] + r * pinned(at_n, of_h[2])).tanh()
        h = pinned(at_h, (1 - z) * n + z * h)
        ys.append(h)
    loss = sum((a * b).sum() for a, b in zip((torch.stack(ys), h), slopes, strict=True))
    dx, dh, *weights = (each.float() for each in torch.autograd.grad(loss, leaves))
    return dx, dh, [*weights]
