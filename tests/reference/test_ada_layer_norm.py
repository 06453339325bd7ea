# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import (
    ada_layer_norm,
    ada_layer_norm_backward,
    ada_layer_norm_quant,
    ada_layer_norm_v2,
    layer_norm,
)

from . import oracle
from .problems import DTYPES, f32

X = f32([[[1, 2, 3, 4], [2, 0, 2, 0]]])
SCALE, SHIFT = f32([[1, 0, 0.5, -0.5]]), f32([[0, 1, 0, 1]])
WEIGHT, BIAS = f32([1, 2, 1, 1]), f32([0, 0, 0.5, 0])
FORWARD = X, SCALE, SHIFT, WEIGHT, BIAS


class TestKnownNumbers:
    def test_forward(self) -> None:
        result = ada_layer_norm_v2(*FORWARD)
        out = [[-2.68327, 0.105576, 1.42082, 1.67082], [1.99999, -0.99999, 2.24999, 0.500003]]
        assert np.allclose(result.out, [out], rtol=5e-6)
        assert result.mean.tolist() == [[[2.5], [1]]]
        assert np.allclose(result.rstd, [[[0.89442366], [0.99999499]]], rtol=1e-7)
        assert ada_layer_norm(*FORWARD).tolist() == result.out.tolist()

    def test_quantized(self) -> None:
        result = ada_layer_norm_quant(*FORWARD)
        assert result.out.tolist() == [[[-127, 5, 67, 79], [113, -56, 127, 28]]]
        assert result.out.dtype == np.int8
        assert np.allclose(result.quant_scale, [[0.021128118, 0.017716475]], rtol=2e-7)

    def test_smoothed_before_it_is_quantized(self) -> None:
        result = ada_layer_norm_quant(*FORWARD, smooth_scales=f32([0, 0, 1, 0]))
        assert result.out.tolist() == [[[0, 0, 127, 0]] * 2]

    def test_backward(self) -> None:
        forward = ada_layer_norm_v2(*FORWARD)
        grads = ada_layer_norm_backward(
            f32([[[1, -1, 0.5, 0], [0, 1, 1, 2]]]), X, [4], forward.rstd, forward.mean, *FORWARD[1:]
        )
        grad_input = [
            [1.18511, -2.10189, 0.648456, 0.268324],
            [-0.75, 0.500001, 0.749992, -0.499994],
        ]
        assert np.allclose(grads.grad_input, [grad_input], rtol=5e-6)
        assert np.allclose(grads.grad_scale, [[-1.34164, -1.10557, 1.9736, -1.99999]], rtol=5e-6)
        assert grads.grad_shift.tolist() == [[1, 0, 1.5, 2]]
        grad_weight = [-2.68327, -0.552783, 1.8354, -0.999995]
        assert np.allclose(grads.grad_weight, grad_weight, rtol=5e-6)
        assert np.allclose(grads.grad_bias, [2, 0, 2.25, 1], rtol=5e-6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "one"), [((3, 4), False), ((2, 3, 4), True), ((2, 2, 3, 4), False)]
)
def test_agrees_with_the_closed_form(dtype: Any, shape: tuple[int, ...], *, one: bool) -> None:
    generator = np.random.default_rng(5)
    x = generator.normal(1, 2, shape).astype(dtype)
    lead = (*shape[:-2], 1, 4) if one else (*shape[:-2], 4)
    scale, shift = generator.normal(size=(2, *lead)).astype(dtype)
    weight, bias = generator.normal(size=(2, 4)).astype(dtype)
    result = ada_layer_norm_v2(x, scale, shift, weight, bias, 1e-3)
    wide_weight, wide_bias = (part.astype(np.float64) for part in (weight, bias))
    rows, means, rstds = oracle.layer_norm(
        oracle.matrix(x, len(shape) - 1), wide_weight, wide_bias, eps=1e-3
    )
    factor, offset = (part.astype(np.float64).reshape(*shape[:-2], 1, 4) for part in (scale, shift))
    golden = (rows.reshape(shape) * (1 + factor) + offset, means, rstds)
    for actual, expected in zip(result, golden, strict=True):
        assert actual.dtype == dtype
        verdict = judge(actual, expected.reshape(actual.shape))
        assert verdict.passed, verdict
    assert result.mean.shape == (*shape[:-1], 1)


def test_without_any_parameter_it_is_the_plain_norm() -> None:
    zero = np.zeros((1, 4), np.float32)
    assert np.array_equal(ada_layer_norm(X, zero, zero), layer_norm(X, [4]).out)


def test_the_gradient_is_the_derivative() -> None:
    generator = np.random.default_rng(3)
    x, dy = generator.normal(1, 2, (2, 2, 3, 4))
    scale, shift = generator.normal(size=(2, 2, 4))
    weight, bias = generator.normal(size=(2, 4))
    operands = x, scale, shift, weight, bias

    def loss(*given: oracle.Array) -> float:
        x, scale, shift, weight, bias = given
        y = oracle.layer_norm(x.reshape(6, 4), weight, bias, 1e-2)[0].reshape(x.shape)
        return float((dy * (y * (1 + scale[:, None]) + shift[:, None])).sum())

    forward = ada_layer_norm_v2(*operands, epsilon=1e-2)
    grads = ada_layer_norm_backward(dy, x, [4], forward.rstd, forward.mean, *operands[1:])
    for index, actual in enumerate(grads):

        def along(at: oracle.Array, index: int = index) -> float:
            return loss(*operands[:index], at, *operands[index + 1 :])

        numeric = oracle.numeric_gradient(along, operands[index])
        assert np.allclose(actual, numeric, rtol=1e-7, atol=1e-8)


def test_gradients_have_the_types_of_what_they_are_of() -> None:
    x, scale = X.astype(np.float16), SCALE.astype(np.float16)
    statistic = np.ones((1, 2, 1), np.float16)
    operands = x, x, [4], statistic, statistic, scale, scale
    for parameters, expected in (
        ((WEIGHT, BIAS), np.float32),
        ((None, BIAS.astype(np.float16)), np.float16),
        ((None, None), np.float32),
    ):
        grads = ada_layer_norm_backward(*operands, *parameters)
        assert {grad.dtype.type for grad in grads[:3]} == {np.float16}
        assert {grad.dtype.type for grad in grads[3:]} == {expected}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": X[0, 0]}, "x has the shape (4,); it must have two axes or more"),
        ({"scale": SCALE[0]}, "scale has the shape (4,); it must be (1, 4) or (1, 1, 4)"),
        ({"shift": X}, "shift has the shape (1, 2, 4); it must be"),
        ({"weight": SCALE}, "weight has the shape (1, 4); it must be (4,)"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"x": X, "scale": SCALE, "shift": SHIFT}
    with pytest.raises(ValueError, match=re.escape(message)):
        ada_layer_norm(**(arguments | changes))


def test_only_the_last_axis_is_normalized() -> None:
    with pytest.raises(ValueError, match=re.escape("normalized_shape is (2, 4)")):
        ada_layer_norm_backward(X, X, [2, 4], f32([1, 1]), f32([1, 1]), SCALE, SHIFT)
