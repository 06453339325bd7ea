# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import deep_norm, deep_norm_grad

from . import oracle
from .problems import Problem, f32, problems

X, GX = f32([[1, 2, 3, 4], [0, 1, 0, 1]]), f32([[0.1, 0.2, 0.3, 0.4], [1, 1, -1, -1]])
BETA, GAMMA = f32([0, 0.1, 0, -0.1]), f32([1, 2, 0.5, 1])
OFFICIAL_X = np.arange(1, 13, dtype=np.float32).reshape(3, 1, 4)
OFFICIAL_GX = f32([2, 2, 2, 4, 4, 4, 6, 6, 6, 8, 8, 8]).reshape(3, 1, 4)
RAMP = f32([0, 1, 2, 3])


class TestKnownNumbers:
    def test_worked_example(self) -> None:
        result = deep_norm(X, GX, BETA, GAMMA, 0.5, 1e-6)
        assert np.allclose(result.mean, [[1.5], [0.25]], rtol=1e-6)
        assert np.allclose(result.rstd, [[1.49071], [0.9701421]], rtol=1e-6)
        y = [[-1.34164, -0.794426, 0.223606, 1.24164], [0.727607, 2.52536, -0.606339, -0.827607]]
        assert np.allclose(result.y, y, rtol=4e-6)

    def test_worked_example_of_the_gradient(self) -> None:
        dy = f32([[1, -1, 2, 0.5], [0.5, 0.5, -0.5, 1]])
        forward = deep_norm(X, GX, BETA, GAMMA, 0.5, 1e-6)
        grads = deep_norm_grad(dy, X, GX, GAMMA, forward.mean, forward.rstd, 0.5)
        dgx = [[1.63978, -3.05596, 1.19257, 0.223607], [-0.263936, 0.0856011, -0.449404, 0.627739]]
        assert np.allclose(grads.dgx, dgx, rtol=4e-6)
        assert grads.dx.tolist() == (grads.dgx / 2).tolist()
        assert grads.dbeta.tolist() == [1.5, -0.5, 1.5, 1.5]
        assert np.allclose(grads.dgamma, [-0.977836, 1.05355, 1.50076, -0.0567868], rtol=4e-6)

    def test_official_sample(self) -> None:
        result = deep_norm(OFFICIAL_X, OFFICIAL_GX, RAMP, RAMP, 0.3, 1e-6)
        assert np.allclose(result.mean.ravel(), [3.25, 6.95, 10.65], rtol=1e-6)
        assert np.allclose(result.rstd.ravel(), [0.872871, 0.76416, 0.872871], rtol=1e-6)
        y = [
            [0, 0.432634, 1.38899, 8.106297],
            [0, 0.121215, 3.757569, 6.324098],
            [0, 1.305505, 3.134733, 5.487683],
        ]
        assert np.allclose(result.y[:, 0], y, rtol=1e-5)

    def test_official_sample_of_the_gradient(self) -> None:
        statistic = f32([0, 1, 2])
        grads = deep_norm_grad(OFFICIAL_X, OFFICIAL_X, OFFICIAL_GX, RAMP, statistic, statistic, 0.3)
        dgx = [
            [0.0, 0.0, 0.0, 0.0],
            [-355.025, -371.96, -539.795, -552.73],
            [-8612.68, -11537.6, -11897.72, -12253.84],
        ]
        assert np.allclose(grads.dgx[:, 0], dgx, rtol=1e-6)
        assert np.allclose(grads.dx, 0.3 * grads.dgx, rtol=1e-6)
        assert grads.dbeta.tolist() == [15, 18, 21, 24]
        assert np.allclose(grads.dgamma, [143.1, 208.8, 254.3, 289.6], rtol=1e-6)


@settings(deadline=None, max_examples=100)
@given(problem=problems())
def test_agrees_with_exact_sums(problem: Problem) -> None:
    x, gx = problem.tensor(0), problem.tensor(1)
    beta, gamma = problem.parameter(2), problem.parameter(3)
    result = deep_norm(x, gx, beta, gamma, 0.75, 1e-3)
    assert result.y.dtype == problem.dtype
    assert result.mean.dtype == result.rstd.dtype == problem.wide_dtype
    if problem.columns == 0:
        assert np.isnan(result.rstd).all()
        return
    y, mean, rstd = oracle.layer_norm(
        oracle.matrix(0.75 * x.astype(np.float64) + gx.astype(np.float64), problem.lead),
        oracle.matrix(gamma, 0)[0],
        oracle.matrix(beta, 0)[0],
        eps=1e-3,
    )
    for actual, expected in zip(result, (mean, rstd, y), strict=True):
        verdict = judge(actual, expected.reshape(actual.shape))
        assert verdict.passed, verdict


@pytest.mark.parametrize("shape", [(1, 5), (4, 3)], ids=str)
def test_the_gradient_is_the_derivative(shape: tuple[int, int]) -> None:
    generator = np.random.default_rng(3)
    x, gx, dy = generator.normal(1, 2, (3, *shape))
    beta, gamma = generator.normal(size=(2, shape[1]))

    def loss(x: oracle.Array, gx: oracle.Array, beta: oracle.Array, gamma: oracle.Array) -> float:
        return float((dy * oracle.layer_norm(0.7 * x + gx, gamma, beta, 1e-2)[0]).sum())

    forward = deep_norm(x, gx, beta, gamma, 0.7, 1e-2)
    grads = deep_norm_grad(dy, x, gx, gamma, forward.mean, forward.rstd, 0.7)
    numeric = (
        oracle.numeric_gradient(lambda at: loss(at, gx, beta, gamma), x),
        oracle.numeric_gradient(lambda at: loss(x, at, beta, gamma), gx),
        oracle.numeric_gradient(lambda at: loss(x, gx, at, gamma), beta),
        oracle.numeric_gradient(lambda at: loss(x, gx, beta, at), gamma),
    )
    for actual, expected in zip(grads, numeric, strict=True):
        assert np.allclose(actual, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gx": GX[0]}, "gx has the shape (4,); it must be (2, 4)"),
        ({"beta": BETA[:2]}, "beta has the shape (2,); it must be (4,)"),
        ({"gamma": GAMMA[:2]}, "the shape of gamma is (2,)"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"x": X, "gx": GX, "beta": BETA, "gamma": GAMMA}
    with pytest.raises(ValueError, match=re.escape(message)):
        deep_norm(**(arguments | changes))
