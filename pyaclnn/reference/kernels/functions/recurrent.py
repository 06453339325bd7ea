# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: layers of LSTM and GRU, stacks of them, and their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.functions.basic import sigmoid
from pyaclnn.reference.kernels.kernel import KernelLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = Any
Rule = tuple[Any, int, bool]
"""Numbers of sequences that have each step, or None; directions; whether the batch is first."""


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

    Raises:
        KernelLimitError: An output is narrower than a state, as projections make it.
    """
    hidden = w.shape[1] // 4
    wide = np.float32
    state = np.zeros((x.shape[1], hidden), wide)
    if first_h is not None and first_h.shape[-1] < hidden:
        raise KernelLimitError(f"outputs of {first_h.shape}, where a state has {hidden} elements")
    h = state if first_h is None else first_h.reshape(state.shape).astype(wide)
    c = state if first_c is None else first_c.reshape(state.shape).astype(wide)
    steps = []
    for each, mask in zip(x.astype(wide), _masks(live, len(x)), strict=True):
        parts = np.split(np.concatenate([each, h], -1) @ w.astype(wide) + b.astype(wide), 4, -1)
        gate = dict(zip(order, parts, strict=True))
        i, j = sigmoid(gate["i"]), np.tanh(gate["j"])
        f, o = sigmoid(gate["f"] + forget_bias), sigmoid(gate["o"])
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
        z, r = (sigmoid(from_x[gate] + from_h[gate]) for gate in "zr")
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
        gradients: Gradients of the outputs, of the last output, of the last state.
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
        gradients: Gradients of the outputs, of the last output.
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


class _Stack:
    """Layers of one kind, in one direction or in both, whose parameters are in PyTorch's order.

    Args:
        x: Inputs; a matrix has the rows of one step after those of the one before.
        params: For each layer and direction the weights of inputs and of the state, and biases.
        firsts: First states, each (layers * directions, batch, hidden).
        rule: Number of the sequences that have each step, or None if all have all of them; number
            of directions; whether the first axis of the inputs is the batch.
    """

    def __init__(
        self, x: Array, params: Sequence[Array], firsts: Sequence[Array], rule: Rule
    ) -> None:
        (sizes, self.ways, self.batch_first), self.flat = rule, x.ndim != len("tbf")
        count, batch, hidden = firsts[0].shape
        if self.flat and sizes is not None and len(x) != len(sizes) * batch:
            raise KernelLimitError("input has only the steps that count; no facts say where h goes")
        x = x.reshape(-1, batch, x.shape[-1]) if self.flat else self.turned(x)
        self.x, self.firsts, self.live = x, firsts, None
        if sizes is not None:
            live = np.arange(batch) < np.asarray(sizes)[:, None]
            self.live = np.broadcast_to(live[..., None], (len(sizes), batch, hidden))
        each = len(params) // count
        self.params = [params[k * each : (k + 1) * each] for k in range(count)]

    def turned(self, x: Array) -> Array:
        """Exchange time and batch if the caller's tensors have the batch first."""
        return np.swapaxes(x, 0, 1) if self.batch_first else x

    def run(self, cell: Callable[..., Any]) -> tuple[Array, list[Any]]:
        """Return the outputs, and the results of each cell in the order of time."""
        x = self.x
        found: list[Any] = []
        for k, own in enumerate(self.params):
            if k and k % self.ways == 0:
                x = np.concatenate([part[0] for part in found[-self.ways :]], -1)
            turn = slice(None, None, -1 if k % self.ways else 1)
            live = None if self.live is None else self.live[turn]
            parts = cell(x[turn], own, [first[k] for first in self.firsts], live)
            found.append([part[turn] for part in parts])
        return np.concatenate([part[0] for part in found[-self.ways :]], -1), found

    def last(self, states: Sequence[Array]) -> Array:
        """Return the last state of each layer and direction."""
        return np.stack([s[0 if k % self.ways else -1] for k, s in enumerate(states)])

    def gradients(
        self, cell: Callable[..., Any], given: Sequence[Array], saved: Any, shape_of_x: Any
    ) -> tuple[Any, ...]:
        """Return the gradients of inputs in their shape, of first states, and a list of parameters.

        Args:
            cell: Function of a cell's inputs, parameters, first states, mask, the gradients of its
                outputs and last states, and what its run has saved, the outputs first.
            given: Gradients of the outputs and of the last states, or None for zeros.
            saved: Lists of what the runs of layers and directions have saved, the outputs first.
            shape_of_x: Shape of the inputs.
        """
        dy, *lasts = given
        saved = [*zip(*saved, strict=True)]
        shape = (*self.x.shape[:2], self.ways * self.firsts[0].shape[-1])
        if dy is None:
            dy = self.turned(np.zeros(shape, np.float32))
        dy = dy.reshape(shape) if self.flat else self.turned(dy)
        lasts = [np.zeros_like(self.firsts[0]) if last is None else last for last in lasts]
        states, weights, dx = [], [], None
        for k in reversed(range(len(self.params))):
            layer, way = divmod(k, self.ways)
            below = saved[(layer - 1) * self.ways : layer * self.ways]
            x = np.concatenate([part[0] for part in below], -1) if layer else self.x
            turn = slice(None, None, -1 if way else 1)
            own = x[turn], self.params[k], [first[k] for first in self.firsts]
            live = None if self.live is None else self.live[turn]
            part = np.split(dy, self.ways, -1)[way][turn]
            found = cell(*own, live, part, [d[k] for d in lasts], [s[turn] for s in saved[k]])
            dx = found[0][turn] if dx is None else dx + found[0][turn]
            states.append(found[1])
            weights.append(found[2])
            if way == 0:
                dy, dx = dx, None
        firsts = [np.stack(each) for each in zip(*states[::-1], strict=True)]
        dx = self.turned(dy).reshape(shape_of_x)
        return dx, *firsts, [weight for each in weights[::-1] for weight in each]


def _refuse_dropout(rate: float, layers: int) -> None:
    if rate and layers > 1:
        raise KernelLimitError("no facts say which numbers dropout between layers draws")


def _no_states(x: Array, params: Sequence[Array], has_bias: bool, rule: Rule) -> Array:
    """Return the zeros that a network starts from which is given no states."""
    sizes, _, batch_first = rule
    batch = sizes[0] if sizes is not None else x.shape[0 if batch_first else 1]
    count = len(params) // (4 if has_bias else 2)
    return np.zeros((count, int(batch), params[1].shape[1]), np.float32)


def _lstm_parameters(params: Sequence[Array]) -> tuple[Array, Array]:
    """Return PyTorch's parameters as `lstm` takes them."""
    w = np.concatenate(params[:2], 1).T
    return w, sum(params[2:], np.zeros(w.shape[1], np.float32))


def lstm_stack(
    x: Array, params: Sequence[Array], hx: Any, rule: Rule, bias: bool, dropout: float, train: bool
) -> tuple[Any, ...]:
    """Run LSTMs over time: outputs, last states, and i, j, f, o, h, c, tanh(c) of all if trained.

    Those are (time, batch, hidden), a list each of layers and directions.
    """
    hx = hx or [_no_states(x, params, bias, rule)] * 2
    _refuse_dropout(dropout if train else 0, len(hx[0]) // rule[1])
    stack = _Stack(x, params, hx, rule)
    y, cells = stack.run(
        lambda x, p, s, live: lstm(x, *_lstm_parameters(p), s[0], s[1], "ifjo", 0.0, live)
    )
    _, h, c, i, j, f, o, squashed = ([*part] for part in zip(*cells, strict=True))
    kept = (i, j, f, o, h, c, squashed) if train else (None,) * 7
    return (stack.turned(y), stack.last(h), stack.last(c), *kept)


def lstm_stack_backward(
    x: Array, params: Sequence[Array], hx: Sequence[Array], rule: Rule, gradients: Any, saved: Any
) -> tuple[Any, ...]:
    """Return the gradients of `lstm_stack`: of inputs, both states, and a list of parameters.

    Gradients are those of outputs and both last states, or None for zeros; saved are h, c, i, j, f,
    o and tanh(c).
    """

    def cell(
        x: Array, p: Any, first: Any, live: Array, dy: Array, lasts: Any, saved: Any
    ) -> tuple[Any, ...]:
        w, _ = _lstm_parameters(p)
        slopes = (dy, *lasts)
        found = lstm_backward(x, w, first, saved[:2], slopes, saved[2:], "ifjo", live)
        dw, db, dx, *states = found
        return dx, states, [dw[: x.shape[-1]].T, dw[x.shape[-1] :].T, db, db][: len(p)]

    return _Stack(x, params, hx, rule).gradients(cell, gradients, saved, x.shape)


def _gru_parameters(params: Sequence[Array]) -> tuple[Any, Any]:
    """Return PyTorch's parameters as `gru` takes them."""
    return (params[0].T, params[1].T), (*params[2:], None, None)[:2]


def _refuse_sizes(sizes: Array, batch: int) -> None:
    if sizes is not None and (np.asarray(sizes) != batch).any():
        raise KernelLimitError("sequences of a GRU must have one length here")


def gru_stack(
    x: Array, params: Sequence[Array], hx: Array, rule: Rule, dropout: float, train: bool
) -> tuple[Any, ...]:
    """Run GRUs over time: outputs, last states, and r, z, n, the state's n, h of all if trained."""
    _refuse_dropout(dropout if train else 0, len(hx) // rule[1])
    _refuse_sizes(rule[0], hx.shape[1])
    stack = _Stack(x, params, [hx], (None, *rule[1:]))
    y, cells = stack.run(lambda x, p, s, _: gru(x, *_gru_parameters(p), s[0], "rzh"))
    h, _, z, r, new, from_h = ([*part] for part in zip(*cells, strict=True))
    return (stack.turned(y), stack.last(h), *((r, z, new, from_h, h) if train else (None,) * 5))


def gru_stack_backward(
    x: Array, params: Sequence[Array], hx: Array, rule: Rule, gradients: Any, saved: Any
) -> tuple[Any, ...]:
    """Return the gradients of `gru_stack`, of h, z, r, n and the state's n that it saved."""
    _refuse_sizes(rule[0], hx.shape[1])

    def cell(
        x: Array, p: Any, first: Any, _: Array, dy: Array, lasts: Any, saved: Any
    ) -> tuple[Any, ...]:
        weights, h, slopes = _gru_parameters(p)[0], saved[0], (dy, *lasts)
        *found, dx, dh = gru_backward(x, weights, first[0], h, slopes, saved[1:], "rzh")
        return dx, [dh], [each.T for each in found][: len(p)]

    stack = _Stack(x, params, [hx], (None, *rule[1:]))
    return stack.gradients(cell, gradients, saved, x.shape)
