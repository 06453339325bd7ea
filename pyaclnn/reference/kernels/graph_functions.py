# SPDX-License-Identifier: Apache-2.0
"""Operators of graphs for which aclnn has no operator of the same arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "cdist",
    "cdist_backward",
    "gru",
    "gru_backward",
    "lp_powers",
    "lstm",
    "lstm_backward",
    "matrix_product",
    "reduced",
    "relaid",
    "singular_values",
    "swapped",
]

Array = Any
_CUBE = 16


def swapped(x: Array, swap: bool) -> Array:
    """Return a matrix, or stack of matrices, transposed if asked for."""
    return np.swapaxes(x, -1, -2) if swap else x


def matrix_product(x1: Array, x2: Array, bias: Array, swap1: bool, swap2: bool) -> Array:
    """Multiply matrices in float32, integers as integers."""
    wide = [x.astype(np.int64 if x.dtype.kind in "iu" else np.float32) for x in (x1, x2)]
    product = swapped(wide[0], swap1) @ swapped(wide[1], swap2)
    return product if bias is None else product + bias


def reduced(function: Any, x: Array, axes: Any, keep: bool) -> Array:
    """Reduce along axes: a number, numbers, a tensor of numbers, or none for all of them."""
    chosen = tuple(int(axis) for axis in np.reshape(axes, -1)) or None
    wide = x.astype(np.float32) if x.dtype.kind not in "iub" else x
    return function(wide, axis=chosen, keepdims=bool(keep))


def cdist(x1: Array, x2: Array, p: float) -> Array:
    """Return the p-norms of the differences of all pairs of rows."""
    apart = np.abs(x1.astype(np.float64) - x2.astype(np.float64))
    if p == 0:
        return (apart != 0).sum(-1)
    return apart.max(-1) if np.isinf(p) else (apart**p).sum(-1) ** (1 / p)


def cdist_backward(gradient: Array, x1: Array, x2: Array, apart: Array, p: float) -> Array:
    """Return the gradient of `cdist` by its first rows; all tensors have a pair's elements last."""
    difference = x1.astype(np.float64) - x2
    if np.isinf(p):
        slope = np.sign(difference) * (np.abs(difference) == apart)
    else:
        powers = np.where(apart > 0, apart, 1).astype(np.float64) ** (p - 1)
        slope = np.sign(difference) * np.abs(difference) ** (p - 1) / powers if p else 0 * apart
    return (gradient * slope * (apart > 0)).sum(-2)


def lp_powers(x: Array, p: float, axes: Any, keep: bool) -> Array:
    """Return the sums of powers that a p-norm is the root of; the largest, smallest or a count."""
    wide = np.abs(x.astype(np.float64))
    if np.isinf(p):
        return (wide.max if p > 0 else wide.min)(axis=axes, keepdims=keep)
    return (wide**p if p else wide != 0).sum(axis=axes, keepdims=keep)


def singular_values(x: Array, full: bool, vectors: bool, outputs: list[Array]) -> list[Array]:
    """Return singular values in descending order, and the vectors of both sides as columns."""
    if not vectors:
        values = np.linalg.svd(x.astype(np.float64), compute_uv=False)
        return [values, *(np.zeros(each.shape) for each in outputs[1:])]
    left, values, right = np.linalg.svd(x.astype(np.float64), full_matrices=full)
    return [values, left, swapped(right, swap=True)]


def relaid(x: Array, source: str, target: str, out: Array) -> Array:
    """Return a tensor in another format: dense, FRACTAL_NZ, or NC1HWC0.

    Raises:
        NotImplementedError: Another format is asked for.
    """
    plain = ("ND", "NCHW", "NCDHW")
    if source == target or {source, target} <= {*plain}:
        return x
    if source in plain and target == "FRACTAL_NZ":
        return _fractal(x, out.shape[-1])
    if source == "FRACTAL_NZ" and target in plain:
        return _dense(x, *out.shape[-2:])
    if source in plain and target == "NC1HWC0":
        batch, blocks, height, width, block = out.shape
        padded = np.zeros((batch, blocks * block, height, width), x.dtype)
        padded[:, : x.shape[1]] = x
        return np.moveaxis(padded.reshape(batch, blocks, block, height, width), 2, -1)
    if source == "NC1HWC0" and target in plain:
        channels = np.moveaxis(x, -1, 2).reshape(x.shape[0], -1, *x.shape[2:4])
        return channels[:, : out.shape[1]]
    raise NotImplementedError(f"a tensor of format {source} as {target}")


def _fractal(x: Array, block: int) -> Array:
    """Return matrices as FRACTAL_NZ: blocks of 16 rows by ``block`` columns, column by column."""
    *stack, rows, columns = x.shape
    padded = np.zeros((*stack, -(-rows // _CUBE) * _CUBE, -(-columns // block) * block), x.dtype)
    padded[..., :rows, :columns] = x
    parts = padded.reshape(*stack, -1, _CUBE, padded.shape[-1] // block, block)
    return np.moveaxis(parts, -2, -4)


def _dense(x: Array, rows: int, columns: int) -> Array:
    """Return matrices of FRACTAL_NZ row by row: the inverse of `_fractal`."""
    parts = np.moveaxis(x, -4, -2)
    whole = parts.reshape(*parts.shape[:-4], parts.shape[-4] * _CUBE, -1)
    return whole[..., :rows, :columns]


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _masks(live: Array, steps: int) -> Array:
    """Return the mask of each step of sequences; without one, all steps count."""
    return [True] * steps if live is None or not live.ndim else live != 0


def lstm(
    x: Array, w: Array, b: Array, first_h: Array, first_c: Array, order: str, forget_bias: float,
    live: Array = None,
) -> tuple[Array, ...]:  # fmt: skip
    """Run one layer of an LSTM over time, as DynamicRNN does.

    Args:
        x: Inputs, (time, batch, features).
        w: Weights of inputs and state together, (features + hidden, 4 * hidden).
        b: Bias, (4 * hidden,).
        first_h: First output, (1, batch, hidden), or None for zeros.
        first_c: First state, likewise.
        order: Order of the gates in ``w``, such as ``"ijfo"``.
        forget_bias: Number that is added to the forget gate.
        live: Mask of the outputs, 0 behind the end of a sequence, where the state stays as it is;
            None for sequences of one length.

    Returns:
        Outputs, last outputs, states, and the gates i, j, f, o and tanh of the states, each
        (time, batch, hidden).
    """
    hidden = w.shape[1] // 4
    wide = np.float32
    state = np.zeros((x.shape[1], hidden), wide)
    h = state if first_h is None else first_h.reshape(state.shape).astype(wide)
    c = state if first_c is None else first_c.reshape(state.shape).astype(wide)
    steps = []
    for each, mask in zip(x.astype(wide), _masks(live, len(x)), strict=True):
        parts = np.split(np.concatenate([each, h], -1) @ w.astype(wide) + b.astype(wide), 4, -1)
        gate = dict(zip(order, parts, strict=True))
        i, j = _sigmoid(gate["i"]), np.tanh(gate["j"])
        f, o = _sigmoid(gate["f"] + forget_bias), _sigmoid(gate["o"])
        c = np.where(mask, f * c + i * j, c)
        h = np.where(mask, o * np.tanh(c), h)
        steps.append((np.where(mask, h, 0), h, c, i, j, f, o, np.tanh(c)))
    return tuple(np.stack(each) for each in zip(*steps, strict=True))


def gru(
    x: Array, weights: tuple[Array, Array], biases: tuple[Array, Array], first_h: Array, order: str
) -> tuple[Array, ...]:
    """Run one layer of a GRU over time, as DynamicGRUV2 does with its reset after the product.

    Args:
        x: Inputs, (time, batch, features).
        weights: Weights of inputs and of the state, (features, 3 * hidden), (hidden, 3 * hidden).
        biases: Biases of both, (3 * hidden,), or None.
        first_h: First output, (1, batch, hidden), or None for zeros.
        order: Order of the gates, ``"zrh"`` or ``"rzh"``.

    Returns:
        Outputs, last outputs, the gates z, r, h, and the state's part of h.
    """
    wide = np.float32
    of_x, of_h = (each.astype(wide) for each in weights)
    b_x, b_h = (np.zeros(1, wide) if each is None else each.astype(wide) for each in biases)
    h = np.zeros((x.shape[1], of_h.shape[0]), wide)
    h = h if first_h is None else first_h.reshape(h.shape).astype(wide)
    steps = []
    for each in x.astype(wide):
        from_x = dict(zip(order, np.split(each @ of_x + b_x, 3, -1), strict=True))
        from_h = dict(zip(order, np.split(h @ of_h + b_h, 3, -1), strict=True))
        z, r = (_sigmoid(from_x[gate] + from_h[gate]) for gate in "zr")
        new = np.tanh(from_x["h"] + r * from_h["h"])
        h = (1 - z) * new + z * h
        steps.append((h, h, z, r, new, from_h["h"]))
    return tuple(np.stack(part) for part in zip(*steps, strict=True))


def _behind(first: Array, later: Array) -> Array:
    """Return the states before each step: the first one, and all of them but the last."""
    return np.concatenate([first.reshape(1, *later.shape[1:]), later[:-1]]).astype(np.float32)


def lstm_backward(
    x: Array, w: Array, first: tuple[Array, Array], states: tuple[Array, ...],
    gradients: tuple[Array, Array, Array], gates: tuple[Array, ...], order: str,
    live: Array = None,
) -> tuple[Array, ...]:  # fmt: skip
    """Return the gradients of `lstm`, as DynamicRNNGrad does.

    Args:
        x: Inputs, (time, batch, features).
        w: Weights, (features + hidden, 4 * hidden).
        first: First output and state.
        states: Outputs and states of all steps.
        gradients: Of the outputs, of the last output, of the last state.
        gates: i, j, f, o and tanh of the states, as `lstm` returned them.
        order: Order of the gates in ``w``.
        live: Mask of the outputs, as `lstm` has it.

    Returns:
        Gradients of the weights, bias, inputs, first output and first state.
    """
    h, c = (_behind(one, all_) for one, all_ in zip(first, states, strict=True))
    i, j, f, o, squashed = (gate.astype(np.float32) for gate in gates)
    dy, dh, dc = (each.astype(np.float32) for each in gradients)
    dh, dc = dh.reshape(dy.shape[1:]), dc.reshape(dy.shape[1:])
    features = x.shape[-1]
    dw, db, dx = np.zeros(w.shape, np.float32), np.zeros(w.shape[1], np.float32), []
    for t, mask in reversed([*enumerate(_masks(live, len(x)))]):
        kept_h, kept_c = np.where(mask, 0, dh), np.where(mask, 0, dc)
        dh = np.where(mask, dy[t] + dh, 0)
        dc = np.where(mask, dc, 0) + dh * o[t] * (1 - squashed[t] ** 2)
        parts = {
            "i": dc * j[t] * i[t] * (1 - i[t]),
            "j": dc * i[t] * (1 - j[t] ** 2),
            "f": dc * c[t] * f[t] * (1 - f[t]),
            "o": dh * squashed[t] * o[t] * (1 - o[t]),
        }
        gate = np.concatenate([parts[letter] for letter in order], -1)
        both = gate @ w.astype(np.float32).T
        dx.append(both[:, :features])
        dh, dc = both[:, features:] + kept_h, dc * f[t] + kept_c
        dw += np.concatenate([x[t], h[t]], -1).T @ gate
        db += gate.sum(0)
    return dw, db, np.stack(dx[::-1]), dh, dc


def gru_backward(
    x: Array, weights: tuple[Array, Array], first_h: Array, h: Array,
    gradients: tuple[Array, Array], gates: tuple[Array, ...], order: str,
) -> tuple[Array, ...]:  # fmt: skip
    """Return the gradients of `gru`, as DynamicGRUV2Grad does.

    Args:
        x: Inputs, (time, batch, features).
        weights: Weights of inputs and of the state.
        first_h: First output.
        h: Outputs of all steps.
        gradients: Of the outputs, of the last output.
        gates: z, r, h and the state's part of h, as `gru` returned them.
        order: Order of the gates in the weights.

    Returns:
        Gradients of the weights of inputs and state, of their biases, of the inputs, and of the
        first output.
    """
    of_x, of_h = (each.astype(np.float32) for each in weights)
    before = _behind(first_h, h)
    z, r, new, from_h = (gate.astype(np.float32) for gate in gates)
    dy, dh = (each.astype(np.float32) for each in gradients)
    dh = dh.reshape(dy.shape[1:])
    found = [np.zeros(each.shape, np.float32) for each in (of_x, of_h, of_x[0], of_h[0])]
    dx = []
    for t in reversed(range(len(x))):
        dh = dy[t] + dh
        part = dh * (1 - z[t]) * (1 - new[t] ** 2)
        parts = {
            "z": dh * (before[t] - new[t]) * z[t] * (1 - z[t]),
            "r": part * from_h[t] * r[t] * (1 - r[t]),
            "h": part,
        }
        gate_x = np.concatenate([parts[letter] for letter in order], -1)
        gate_h = np.concatenate([(parts | {"h": part * r[t]})[letter] for letter in order], -1)
        dx.append(gate_x @ of_x.T)
        dh = dh * z[t] + gate_h @ of_h.T
        each = (x[t].T @ gate_x, before[t].T @ gate_h, gate_x.sum(0), gate_h.sum(0))
        found = [total + one for total, one in zip(found, each, strict=True)]
    return (*found, np.stack(dx[::-1]), dh)
