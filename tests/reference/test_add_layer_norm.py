# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import add_layer_norm, add_layer_norm_grad

from . import oracle
from .problems import Problem, f16, f32, problems

X1, X2, GAMMA = f32([[1, 2, 3, 4]]), f32([[1, 0, -1, 2]]), f32([1, 2, 0.5, 1])
BETA, BIAS = f32([0, 1, 0, -1]), f32([0.5, 0.5, 0, 0])


class TestKnownNumbers:
    @pytest.mark.parametrize("bias", [BIAS, BIAS[None]], ids=["as gamma", "as x1"])
    def test_worked_example(self, bias: Any) -> None:
        result = add_layer_norm(X1, X2, GAMMA, BETA, bias, 1e-5, additional_output=True)
        assert result.x is not None
        assert result.x.tolist() == [[2.5, 2.5, 2, 6]]
        assert result.mean.tolist() == [[3.25]]
        assert np.allclose(result.rstd, 0.62469381, rtol=1e-7)
        assert np.allclose(result.y, [[-0.46852, 0.0629593, -0.390434, 0.717908]], rtol=2e-6)

    @pytest.mark.parametrize(("bias", "means"), [(0.5, [5.5, -0.5]), (None, [5, -1])])
    def test_official_sample_of_constant_rows(self, bias: float | None, means: list[float]) -> None:
        x1, x2 = (f32([[[first] * 8, [second] * 8]]) for first, second in ((1, 2), (4, -3)))
        row = np.ones(8, np.float32)
        result = add_layer_norm(
            x1, x2, 2 * row, row / 10, None if bias is None else bias * row, epsilon=1e-6
        )
        assert np.allclose(result.y, 0.1, rtol=1e-6)
        assert result.mean.ravel().tolist() == means
        assert np.allclose(result.rstd, 1000, rtol=1e-6)
        assert result.x is None

    def test_worked_example_of_the_gradient(self) -> None:
        grads = add_layer_norm_grad(
            f32([[1, -1, 2, 0.5]]), X1, X2, f32([0.57734931]), f32([3]), GAMMA,
            dsum=f32([[0.1, 0.2, 0.3, 0.4]]),
        )  # fmt: skip
        assert np.allclose(grads.dx, [[0.677349, -0.954699, 0.877349, 0.400001]], rtol=2e-6)
        assert np.allclose(grads.dgamma, [-0.577349, 0.577349, -1.1547, 0.866024], rtol=2e-6)
        assert grads.dbeta.tolist() == [1, -1, 2, 0.5]


@settings(deadline=None, max_examples=100)
@given(problem=problems(), bias=st.sampled_from(["none", "parameter", "tensor"]))
def test_agrees_with_exact_sums(problem: Problem, bias: str) -> None:
    x1, x2 = problem.tensor(0), problem.tensor(1)
    gamma, beta = problem.parameter(2), problem.parameter(3)
    added = {"none": None, "parameter": problem.parameter(4), "tensor": problem.tensor(4)}[bias]
    result = add_layer_norm(x1, x2, gamma, beta, added, 1e-3, additional_output=True)
    total = x1.astype(np.float64) + x2.astype(np.float64)
    total += 0 if added is None else added.astype(np.float64)
    assert result.x is not None
    assert result.x.dtype == result.y.dtype == problem.dtype
    assert result.mean.dtype == result.rstd.dtype == problem.wide_dtype
    assert result.mean.shape == x1.shape[: problem.lead] + (1,) * len(problem.normalized)
    if problem.columns == 0:
        assert not result.mean.any()
        assert np.isnan(result.rstd).all()
        return
    golden = oracle.layer_norm(
        oracle.matrix(total, problem.lead),
        oracle.matrix(gamma, 0)[0],
        oracle.matrix(beta, 0)[0],
        eps=1e-3,
    )
    for actual, expected in zip(result, (*golden, total), strict=True):
        assert actual is not None
        verdict = judge(actual, expected.reshape(actual.shape))
        assert verdict.passed, verdict


class TestDataTypes:
    @pytest.mark.parametrize("narrow", [np.float16, ml_dtypes.bfloat16], ids=str)
    @pytest.mark.parametrize("first", [True, False])
    def test_of_two_types_the_wider_is_that_of_the_results(
        self, narrow: Any, *, first: bool
    ) -> None:
        x1, x2 = (X1.astype(narrow), X2) if first else (X1, X2.astype(narrow))
        result = add_layer_norm(x1, x2, GAMMA, BETA, additional_output=True)
        assert result.x is not None
        assert result.y.dtype == result.x.dtype == np.float32

    def test_float16_is_added_in_float32_and_normalized_before_it_is_rounded(self) -> None:
        # 2048 + 1 is 2048 in float16.
        result = add_layer_norm(
            f16([[2048, 0]]), f16([[1, 0]]), f32([1, 1]), f32([0, 0]), additional_output=True
        )
        assert result.x is not None
        assert result.x.tolist() == [[2048, 0]]
        assert result.mean.tolist() == [[1024.5]]


@pytest.mark.parametrize("shape", [(1, 5), (4, 3)], ids=str)
def test_the_gradient_is_the_derivative(shape: tuple[int, int]) -> None:
    generator = np.random.default_rng(3)
    x1, x2, dy, dsum = generator.normal(1, 2, (4, *shape))
    gamma, beta = generator.normal(size=(2, shape[1]))

    def loss(x1: oracle.Array, gamma: oracle.Array, beta: oracle.Array) -> float:
        y = oracle.layer_norm(x1 + x2, gamma, beta, 1e-2)[0]
        return float((dy * y).sum() + (dsum * (x1 + x2)).sum())

    forward = add_layer_norm(x1, x2, gamma, beta, epsilon=1e-2)
    grads = add_layer_norm_grad(dy, x1, x2, forward.rstd, forward.mean, gamma, dsum)
    numeric = (
        oracle.numeric_gradient(lambda at: loss(at, gamma, beta), x1),
        oracle.numeric_gradient(lambda at: loss(x1, at, beta), gamma),
        oracle.numeric_gradient(lambda at: loss(x1, gamma, at), beta),
    )
    for actual, expected in zip(grads, numeric, strict=True):
        assert np.allclose(actual, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x2": X2[0]}, "x2 has the shape (4,); it must be (1, 4)"),
        ({"beta": BETA[:2]}, "beta has the shape (2,); it must be (4,)"),
        ({"bias": BIAS[:2]}, "bias has the shape (2,); it must be (4,)"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"x1": X1, "x2": X2, "gamma": GAMMA, "beta": BETA}
    with pytest.raises(ValueError, match=re.escape(message)):
        add_layer_norm(**(arguments | changes))
