# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from pyaclnn.reference import layer_norm_backward
from pyaclnn.reference.ascendc import layer_norm, layer_norm_grad, layer_norm_grad_beta
from tests.reference.oracle import numeric_gradient

from .samples import Sample, f32, samples
from .textbook import Array, row_gradient, rows

EPS = 0.125


class TestKnownNumbers:
    @pytest.mark.parametrize("dtype", ["float16", "float32"])
    def test_printed_numbers_of_the_gradient_of_gamma_and_beta(self, dtype: str) -> None:
        ramp = np.arange(64, dtype=dtype).reshape(1, 8, 8)
        result = layer_norm_grad_beta(ramp, ramp)
        gamma = [8960, 9416, 9888, 10376, 10880, 11400, 11936, 12488]
        assert result.output_pd_gamma.tolist() == gamma
        assert result.output_pd_beta.tolist() == [224, 232, 240, 248, 256, 264, 272, 280]
        assert {array.dtype.name for array in result} == {dtype}

    def test_a_mean_that_is_none(self) -> None:
        # The sample of aclnnLayerNormBackward, whose mean is not that of x. By hand, first row:
        # pd_xl = [2, 3], x - mean = [0, 1], rstd = 4; pd_var = -0.5 * 3 * 64 = -96,
        # pd_mean = -20 + -96 / 2 * -2 = 76, pd_x = [8 + 38, 12 - 96 + 38].
        x = f32([[[2, 3], [4, 5]]])
        variance, mean = f32([[1 / 16, 1 / 25]]), f32([[2, 3]])
        result = layer_norm_grad(x, x, variance, mean, np.ones(2, "f"), 0.0)
        assert np.allclose(result.output_pd_x, [[[46, -46], [435, -435]]], rtol=1e-6)
        assert np.allclose(result.res_for_gamma, [[[0, 4], [5, 10]]], rtol=1e-6)

    def test_without_any_deviation(self) -> None:
        # x is its mean everywhere, so only the mean's part is left: pd_xl * rstd - its mean.
        dy, x = np.array([[[1.0, 2, 6]]]), np.full((1, 1, 3), 5.0)
        result = layer_norm_grad(dy, x, np.zeros((1, 1)), np.full((1, 1), 5.0), np.ones(3), 0.25)
        assert result.output_pd_x.tolist() == [[[-4, -2, 6]]]
        assert not result.res_for_gamma.any()


@settings(deadline=None, max_examples=80)
@given(sample=samples())
def test_agrees_with_the_chain_rule(sample: Sample) -> None:
    result = layer_norm_grad(sample.dy, sample.x, sample.variance, sample.mean, sample.gamma, EPS)
    statistics = zip(sample.variance.ravel().tolist(), sample.mean.ravel().tolist(), strict=True)
    gamma = rows(sample.gamma)[0]
    exact = [
        row_gradient(dy, x, variance, mean, gamma, EPS)
        for dy, x, (variance, mean) in zip(rows(sample.dy), rows(sample.x), statistics, strict=True)
    ]
    assert sample.close(result.output_pd_x, exact)
    variance, mean, x = (a.astype("d") for a in (sample.variance, sample.mean, sample.x))
    normalized = (x - mean[..., None]) / np.sqrt(variance + EPS)[..., None]
    assert sample.close(result.res_for_gamma, normalized)


@settings(deadline=None, max_examples=40)
@given(sample=samples())
def test_sums_over_rows_are_exact_but_for_rounding(sample: Sample) -> None:
    result = layer_norm_grad_beta(sample.x, sample.dy)
    x, dy = np.array(rows(sample.x)).T, np.array(rows(sample.dy)).T
    assert sample.close(result.output_pd_beta, [math.fsum(column) for column in dy])
    assert sample.close(result.output_pd_gamma, [math.fsum(column) for column in dy * x])


class TestFiniteDifferences:
    """With L = sum(dy * y), the gradients are those of L."""

    sample = Sample(np.dtype(np.float64), (2, 3, 7), seed=1)

    def loss(self, x: Array, gamma: Array, beta: Array) -> float:
        return float((self.sample.dy * layer_norm(x, gamma, beta, EPS).output).sum())

    def test_of_the_forward_function(self) -> None:
        s = self.sample
        _, mean, variance = layer_norm(s.x, s.gamma, s.beta, EPS)
        pd_x, normalized = layer_norm_grad(s.dy, s.x, variance, mean, s.gamma, EPS)
        pd_gamma, pd_beta = layer_norm_grad_beta(normalized, s.dy)
        for found, numeric in (
            (pd_x, numeric_gradient(lambda x: self.loss(x, s.gamma, s.beta), s.x)),
            (pd_gamma, numeric_gradient(lambda gamma: self.loss(s.x, gamma, s.beta), s.gamma)),
            (pd_beta, numeric_gradient(lambda beta: self.loss(s.x, s.gamma, beta), s.beta)),
        ):
            assert np.allclose(found, numeric, rtol=1e-7, atol=1e-8)

    def test_of_a_mean_that_is_off_by_a_constant(self) -> None:
        # Then sum(x - mean) is not zero, and the variance depends on the mean.
        s, off, more = self.sample, 0.75, 0.5

        def statistics(x: Array) -> tuple[Array, Array]:
            mean = x.mean(axis=-1) + off
            return mean, np.square(x - mean[..., None]).mean(axis=-1) + more

        def loss(x: Array) -> float:
            mean, variance = (a[..., None] for a in statistics(x))
            return float((s.dy * s.gamma * (x - mean) * (variance + EPS) ** -0.5).sum())

        mean, variance = statistics(s.x)
        pd_x, _ = layer_norm_grad(s.dy, s.x, variance, mean, s.gamma, EPS)
        assert np.allclose(pd_x, numeric_gradient(loss, s.x), rtol=1e-7, atol=1e-8)


class TestBesideTheOperatorOfTheHostInterface:
    @staticmethod
    def both(sample: Sample, mean: Array, variance: Array) -> tuple[Any, Any]:
        rstd = (variance.astype("d") + EPS) ** -0.5
        operator = layer_norm_backward(
            sample.dy, sample.x, sample.shape[-1:], mean, rstd, sample.gamma
        )
        pd_x, normalized = layer_norm_grad(sample.dy, sample.x, variance, mean, sample.gamma, EPS)
        return operator, (pd_x, *layer_norm_grad_beta(normalized, sample.dy))

    @settings(deadline=None, max_examples=40)
    @given(sample=samples().filter(lambda sample: sample.dtype != np.float16))
    def test_equal_for_the_mean_of_x(self, sample: Sample) -> None:
        x = sample.x.astype("d")
        mean, variance = x.mean(axis=-1), x.var(axis=-1)
        operator, kernels = self.both(
            sample, mean.astype(sample.dtype), variance.astype(sample.dtype)
        )
        for found, expected in zip(kernels, operator, strict=True):
            assert sample.close(found, expected)

    @settings(deadline=None, max_examples=40)
    @given(sample=samples().filter(lambda sample: sample.dtype == np.float64))
    def test_different_by_one_term_for_any_other(self, sample: Sample) -> None:
        operator, kernels = self.both(sample, sample.mean, sample.variance)
        h = sample.shape[-1]
        centered = sample.x - sample.mean[..., None]
        rstd = (sample.variance[..., None] + EPS) ** -0.5
        pd_var = (-0.5 * sample.dy * sample.gamma * centered * rstd**3).sum(-1, keepdims=True)
        term = pd_var * (-2 * centered).sum(-1, keepdims=True) / h**2
        assert sample.close(kernels[0], operator.grad_input + term)
        assert sample.close(kernels[1], operator.grad_weight)
        assert sample.close(kernels[2], operator.grad_bias)

    def test_the_term_is_there(self) -> None:
        sample = Sample(np.dtype(np.float64), (1, 2, 8), seed=3)
        operator, kernels = self.both(sample, sample.mean, sample.variance)
        assert not np.allclose(kernels[0], operator.grad_input, rtol=0.05)


def test_padding_adds_to_the_gradient_of_the_mean() -> None:
    # Which is why CANN supports no padded rows here.
    sample = Sample(np.dtype(np.float64), (1, 2, 5), seed=4)
    dy, x, gamma = (
        np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, 3)])
        for array in (sample.dy, sample.x, sample.gamma)
    )
    bare, _ = layer_norm_grad(sample.dy, sample.x, sample.variance, sample.mean, sample.gamma, EPS)
    result, _ = layer_norm_grad(dy, x, sample.variance, sample.mean, gamma, EPS, origin_h=5)

    centered = sample.x - sample.mean[..., None]
    rstd = (sample.variance[..., None] + EPS) ** -0.5
    pd_var = (-0.5 * sample.dy * sample.gamma * centered * rstd**3).sum(-1, keepdims=True)
    padding = pd_var / 5 * 3 * (-2 * (0 - sample.mean[..., None])) / 5
    assert np.allclose(result[..., :5], bare + padding, rtol=1e-12, atol=1e-12)
    assert not np.allclose(result[..., :5], bare)


class TestHalf:
    def test_accumulates_in_float(self) -> None:
        # In half, 2048 + 1 is 2048.
        ones = np.ones((1, 4096, 16), np.float16)
        assert layer_norm_grad_beta(ones, ones).output_pd_gamma.tolist() == [4096] * 16
        assert layer_norm_grad_beta(ones, ones).output_pd_beta.tolist() == [4096] * 16

    def test_the_epsilon_is_a_half(self) -> None:
        ones = np.ones((1, 1, 16), np.float16)
        zero = np.zeros((1, 1), np.float16)
        assert np.isinf(
            layer_norm_grad(ones, ones, zero, zero, ones[0, 0], 1e-8).res_for_gamma
        ).all()


GOOD: dict[str, Any] = {
    "input_dy": np.ones((2, 3, 8), "f"),
    "input_x": np.ones((2, 3, 8), "f"),
    "input_variance": np.ones((2, 3), "f"),
    "input_mean": np.ones((2, 3), "f"),
    "input_gamma": np.ones(8, "f"),
    "epsilon": 1e-5,
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"input_dy": np.ones((3, 8), "f")}, "input_dy has the shape (3, 8); it must be [B, S, H]"),
        ({"input_dy": np.ones((2, 3, 8), "i")}, "input_dy has the data type int32; it must be"),
        ({"input_x": np.ones((2, 3, 7), "f")}, "input_x has the shape (2, 3, 7); it must be (2, 3"),
        ({"input_x": np.ones((2, 3, 8), "e")}, "input_x has the data type float16; it must be f"),
        ({"input_variance": np.ones(6, "f")}, "input_variance has the shape (6,); it must be (2, "),
        ({"input_mean": np.ones((2, 3, 1), "f")}, "input_mean has the shape (2, 3, 1); it must be"),
        ({"input_gamma": np.ones(8)}, "input_gamma has the data type float64; it must be float32"),
        ({"origin_h": 9}, "origin_h is 9; it must be at least 1 and at most 8"),
    ],
)
def test_grad_refuses(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        layer_norm_grad(**{**GOOD, **wrong})


@pytest.mark.parametrize(
    ("res_for_gamma", "input_dy", "message"),
    [
        (
            np.ones(8, "f"),
            np.ones(8, "f"),
            "res_for_gamma has the shape (8,); it must be [B, S, H]",
        ),
        (np.ones((1, 1, 8)), np.ones((1, 2, 8)), "input_dy has the shape (1, 2, 8); it must be (1"),
        (
            np.ones((1, 1, 8), "e"),
            np.ones((1, 1, 8), "f"),
            "input_dy has the data type float32; it",
        ),
    ],
)
def test_grad_beta_refuses(res_for_gamma: Array, input_dy: Array, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        layer_norm_grad_beta(res_for_gamma, input_dy)
