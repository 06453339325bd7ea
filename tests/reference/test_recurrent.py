# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: their gradients are those of their results, by differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.reference.kernels.functions.recurrent import (
    gru,
    gru_backward,
    gru_stack,
    lstm,
    lstm_backward,
    lstm_stack,
)

if TYPE_CHECKING:
    from collections.abc import Callable

TIME, BATCH, FEATURES, HIDDEN = 3, 2, 4, 3
STEP = 1e-2
Parts = dict[str, Any]


def numbers(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(0, 0.5, shape).astype(np.float32)


def differences(loss: Callable[[Parts], float], parts: Parts, name: str) -> Any:
    """The gradient of a loss with respect to one of its parts, by central differences."""
    found = np.zeros(parts[name].shape)
    for place in np.ndindex(found.shape):
        pair = []
        for step in (STEP, -STEP):
            moved = parts[name].copy()
            moved[place] += step
            pair.append(loss(parts | {name: moved}))
        found[place] = (pair[0] - pair[1]) / (2 * STEP)
    return found


ENDED = np.ones((TIME, BATCH, HIDDEN), np.float32)
ENDED[1:, 1] = 0


def test_an_ended_sequence_keeps_its_state() -> None:
    x, w, b = numbers(TIME, BATCH, FEATURES), numbers(FEATURES + HIDDEN, 12), numbers(12)
    y, h, c, *_ = lstm(x, w, b, None, None, "ijfo", 0.0, ENDED)
    alone = lstm(x[:1, 1:], w, b, None, None, "ijfo", 0.0)
    np.testing.assert_allclose([h[-1, 1], c[-1, 1]], [alone[1][0, 0], alone[2][0, 0]], rtol=1e-6)
    assert not y[1:, 1].any()
    np.testing.assert_allclose(
        y[:, :1], lstm(x[:, :1], w, b, None, None, "ijfo", 0.0)[0], rtol=1e-6
    )


@pytest.mark.parametrize("live", [None, ENDED], ids=["whole", "ended"])
@pytest.mark.parametrize("order", ["ijfo", "ifjo"])
def test_gradients_of_lstm(order: str, live: Any) -> None:
    parts = {
        "w": numbers(FEATURES + HIDDEN, 4 * HIDDEN),
        "b": numbers(4 * HIDDEN),
        "x": numbers(TIME, BATCH, FEATURES),
        "h": numbers(1, BATCH, HIDDEN),
        "c": numbers(1, BATCH, HIDDEN),
    }

    def run(given: Parts) -> tuple[Any, ...]:
        return lstm(given["x"], given["w"], given["b"], given["h"], given["c"], order, 0.0, live)

    y, h, c, *gates = run(parts)
    zero, first = np.zeros((BATCH, HIDDEN)), (parts["h"], parts["c"])
    gradients = (y, zero, c[-1])
    found = lstm_backward(
        parts["x"], parts["w"], first, (h, c), gradients, tuple(gates), order, live
    )

    def loss(given: Parts) -> float:
        y, _, c, *_ = run(given)
        return float((y.astype(np.float64) ** 2).sum() + (c[-1].astype(np.float64) ** 2).sum()) / 2

    for name, gradient in zip(parts, found, strict=True):
        wanted = differences(loss, parts, name).reshape(gradient.shape)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-2, atol=2e-3, err_msg=name)


@pytest.mark.parametrize("order", ["zrh", "rzh"])
def test_gradients_of_gru(order: str) -> None:
    parts = {
        "wx": numbers(FEATURES, 3 * HIDDEN),
        "wh": numbers(HIDDEN, 3 * HIDDEN),
        "bx": numbers(3 * HIDDEN),
        "bh": numbers(3 * HIDDEN),
        "x": numbers(TIME, BATCH, FEATURES),
        "h": numbers(1, BATCH, HIDDEN),
    }

    def run(given: Parts) -> tuple[Any, ...]:
        weights, biases = (given["wx"], given["wh"]), (given["bx"], given["bh"])
        return gru(given["x"], weights, biases, given["h"], order)

    y, h, *gates = run(parts)
    weights, zero = (parts["wx"], parts["wh"]), np.zeros((BATCH, HIDDEN))
    found = gru_backward(parts["x"], weights, parts["h"], h, (y, zero), tuple(gates), order)

    def loss(given: Parts) -> float:
        return float((run(given)[0].astype(np.float64) ** 2).sum()) / 2

    for name, gradient in zip(parts, found, strict=True):
        wanted = differences(loss, parts, name).reshape(gradient.shape)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-2, atol=2e-3, err_msg=name)


def layer_of(gates: int, features: int, scale: float) -> list[Any]:
    """The parameters of one direction of a layer, in PyTorch's order."""
    rows = gates * HIDDEN
    shapes = (rows, features), (rows, HIDDEN), (rows,), (rows,)
    return [numbers(*shape) * np.float32(scale) for shape in shapes]


def lstm_outputs(x: Any, params: list[Any], ways: int) -> Any:
    return lstm_stack(x, params, None, (None, ways, False), True, 0.0, False)[0]


def gru_outputs(x: Any, params: list[Any], ways: int) -> Any:
    first = np.zeros((len(params) // 4, BATCH, HIDDEN), np.float32)
    return gru_stack(x, params, first, (None, ways, False), 0.0, False)[0]


STACKS = {"lstm": (lstm_outputs, 4), "gru": (gru_outputs, 3)}


@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("kind", STACKS)
def test_a_layer_reads_the_outputs_of_the_layer_below(kind: str, ways: int) -> None:
    run, gates = STACKS[kind]
    x = numbers(TIME, BATCH, FEATURES)
    layers = [
        [part for way in range(ways) for part in layer_of(gates, features, layer - way / 2)]
        for layer, features in enumerate((FEATURES, ways * HIDDEN, ways * HIDDEN), 1)
    ]
    wanted = x
    for layer in layers:
        wanted = run(wanted, layer, ways)
    found = run(x, [part for layer in layers for part in layer], ways)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", STACKS)
def test_the_second_direction_runs_from_the_last_step_to_the_first(kind: str) -> None:
    run, gates = STACKS[kind]
    x = numbers(TIME, BATCH, FEATURES)
    onward, back = (layer_of(gates, FEATURES, scale) for scale in (1, 0.5))
    wanted = np.concatenate([run(x, onward, 1), run(x[::-1], back, 1)[::-1]], -1)
    np.testing.assert_array_equal(run(x, [*onward, *back], 2), wanted)
