# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import definition, rms_norm, rms_norm_grad

from . import oracle
from .problems import DTYPES, Problem, f16, f32, f64, in_pieces, problems


def sample() -> dict[str, Any]:
    """The official sample of the gradient: the given rstd is not that of x."""
    x = np.arange(1, 33, dtype=np.float32).reshape(2, 1, 16)
    gamma = np.arange(1, 17, dtype=np.float32)
    return {"dy": x, "x": x, "rstd": f32([1, 2]), "gamma": gamma}


class TestKnownNumbers:
    def test_two_numbers(self) -> None:
        # mean square 25
        result = rms_norm(f64([[1, 7]]), f64([10, 100]), epsilon=0)
        assert result.rstd.tolist() == [[0.2]]
        assert np.allclose(result.y, [[2, 140]], rtol=1e-15)

    def test_official_sample(self) -> None:
        row = np.tile(np.arange(8, dtype=np.float32), 2)
        result = rms_norm(np.stack([row, row]), row, epsilon=1e-6)
        assert np.allclose(result.rstd, [[0.23904572]] * 2, rtol=1e-7)
        assert np.allclose(result.y, [row * row * 0.23904572] * 2, rtol=1e-6)

    def test_gradient_by_hand(self) -> None:
        # xhat = [2, 4], g = [6, 10]; mean(g xhat) = 26
        grads = rms_norm_grad(f64([[3, 2]]), f64([[1, 2]]), f64([2]), f64([2, 5]))
        assert grads.dx.tolist() == [[-92, -188]]
        assert grads.dgamma.tolist() == [6, 8]

    def test_official_sample_of_the_gradient(self) -> None:
        grads = rms_norm_grad(**sample())
        first, second = grads.dx.reshape(2, 16).tolist()
        assert first[:4] == [-1155, -2308, -3459, -4608]
        assert first[-1] == -18240
        assert second[:4] == [-860030, -910584, -961134, -1011680]
        assert second[-1] == -1617920
        # fmt: off
        assert grads.dgamma.tolist() == [
            579, 652, 731, 816, 907, 1004, 1107, 1216,
            1331, 1452, 1579, 1712, 1851, 1996, 2147, 2304,
        ]
        # fmt: on


@pytest.mark.sampled(1)
@pytest.mark.parametrize("operator", [rms_norm, definition("rms_norm")])
@settings(deadline=None, max_examples=150)
@given(problem=problems(), block=st.integers(1, 99))
def test_agrees_with_exact_sums(operator: Any, problem: Problem, block: int) -> None:
    x, gamma = problem.tensor(0), problem.parameter(1)
    with in_pieces(block):
        result = operator(x, gamma, epsilon=1e-3)

    assert (result.y.shape, result.y.dtype) == (x.shape, problem.dtype)
    assert result.rstd.shape == x.shape[: problem.lead] + (1,) * len(problem.normalized)
    assert result.rstd.dtype == problem.wide_dtype
    if problem.columns == 0:
        assert np.isnan(result.rstd).all()
        return
    y, rstd = oracle.rms_norm(
        oracle.matrix(x, problem.lead), oracle.matrix(gamma, 0)[0], epsilon=1e-3
    )
    for actual, golden in ((result.y, y), (result.rstd, rstd)):
        verdict = judge(actual, golden.reshape(actual.shape))
        assert verdict.passed, verdict


@pytest.mark.sampled(1)
@pytest.mark.parametrize("operator", [rms_norm_grad, definition("rms_norm_grad")])
@settings(deadline=None, max_examples=150)
@given(problem=problems(), flat=st.booleans(), block=st.integers(1, 99))
def test_gradient_agrees_with_the_jacobian(
    operator: Any, problem: Problem, *, flat: bool, block: int
) -> None:
    x, dy, gamma = problem.tensor(0, 24), problem.tensor(1, 16), problem.parameter(2)
    rstd = problem.statistic(3, (problem.rows,) if flat else problem.shape[: problem.lead])
    with in_pieces(block):
        grads = operator(dy, x, rstd, gamma)

    golden = oracle.rms_norm_grad(
        oracle.matrix(dy, problem.lead),
        oracle.matrix(x, problem.lead),
        rstd.astype(np.float64).ravel(),
        oracle.matrix(gamma, 0)[0],
    )
    shapes, dtypes = (problem.shape, problem.normalized), (problem.dtype, problem.wide_dtype)
    for actual, expected, shape, dtype in zip(grads, golden, shapes, dtypes, strict=True):
        assert (actual.shape, actual.dtype) == (shape, dtype)
        verdict = judge(actual, expected.reshape(shape))
        assert verdict.passed, verdict


@pytest.mark.parametrize("shape", [(1, 5), (4, 3), (3, 1)], ids=str)
def test_gradient_is_the_derivative_of_the_forward_function(shape: tuple[int, int]) -> None:
    generator = np.random.default_rng(3)
    x, dy = generator.normal(1, 2, (2, *shape))
    gamma = generator.normal(size=shape[1])
    epsilon = 1e-2

    def loss(x: oracle.Array, gamma: oracle.Array) -> float:
        return float((dy * oracle.rms_norm(x, gamma, epsilon)[0]).sum())

    grads = rms_norm_grad(dy, x, oracle.rms_norm(x, gamma, epsilon)[1], gamma)
    dx = oracle.numeric_gradient(lambda at: loss(at, gamma), x)
    dgamma = oracle.numeric_gradient(lambda at: loss(x, at), gamma)
    assert np.allclose(grads.dx, dx, rtol=1e-7, atol=1e-8)
    assert np.allclose(grads.dgamma, dgamma, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(3, 100_000), (5000, 33)], ids=str)
def test_is_accurate_across_many_blocks(dtype: np.dtype[Any], shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).normal(2, 1, shape).astype(dtype)
    gamma = np.full(shape[1], 3, dtype)
    wide = x.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    verdict = judge(rms_norm(x, gamma, epsilon=0).y, 3 * wide / norms * np.sqrt(shape[1]))
    assert verdict.matched_ratio == 1, verdict
    assert verdict.passed, verdict


@pytest.mark.parametrize("rows", [50_000, pytest.param(200_000, marks=pytest.mark.exhaustive)])
def test_sums_over_many_rows_stay_accurate(rows: int) -> None:
    generator = np.random.default_rng(4)
    dy, x = generator.uniform(0, 1, (2, rows, 16)).astype(np.float32)
    rstd, gamma = np.full(rows, 0.5, "f"), generator.normal(size=16).astype("f")
    grads = rms_norm_grad(dy, x, rstd, gamma)
    wide_dy, wide_x = dy.astype(np.float64), x.astype(np.float64)
    # The row's Jacobian, r - r**3 / N x x', all rows at once.
    jacobians = np.eye(16) / 2 - np.einsum("ij,ik->ijk", wide_x, wide_x) / 128
    verdict = judge(grads.dx, np.einsum("ijk,ik->ij", jacobians, wide_dy * gamma))
    assert verdict.passed, verdict
    assert verdict.max_abs_error < 1e-6, verdict
    assert np.allclose(grads.dgamma, oracle.column_totals(wide_dy * wide_x / 2), rtol=2e-7)


class TestEmpty:
    def test_without_rows_dgamma_is_zeros(self) -> None:
        x = np.empty((3, 0, 4), ml_dtypes.bfloat16)
        grads = rms_norm_grad(x, x, np.empty((3, 0), "f"), np.ones(4, "f"))
        assert grads.dx.shape == x.shape
        assert grads.dgamma.tolist() == [0, 0, 0, 0]
        assert grads.dgamma.dtype == np.float32

    def test_without_columns_everything_is_empty(self) -> None:
        x = np.empty((3, 0), np.float16)
        grads = rms_norm_grad(x, x, np.ones(3, "f"), np.empty(0, np.float16))
        assert (grads.dx.shape, grads.dgamma.shape) == ((3, 0), (0,))


class TestSpecialValues:
    def test_nan_spoils_its_row_only(self) -> None:
        x = f32([[1, np.nan], [3, 4]])
        result = rms_norm(x, np.ones(2, "f"))
        assert np.isnan(result.y).tolist() == [[True, True], [False, False]]
        assert np.isnan(result.rstd).ravel().tolist() == [True, False]

    def test_infinity_makes_rstd_zero(self) -> None:
        result = rms_norm(f32([[1, -np.inf]]), np.ones(2, "f"))
        assert result.rstd.tolist() == [[0]]
        assert result.y[0, 0] == 0
        assert np.isnan(result.y[0, 1])

    def test_zeros_without_epsilon_are_nan(self) -> None:
        result = rms_norm(np.zeros((1, 2), "f"), np.ones(2, "f"), epsilon=0)
        assert result.rstd.tolist() == [[np.inf]]
        assert np.isnan(result.y).all()

    def test_a_gradient_beyond_float16_is_infinite(self) -> None:
        # dx = 2 (1 - 1 / 2) 65504 rstd, and the other way round
        grads = rms_norm_grad(
            f16([[65504, -65504]]), np.ones((1, 2), "e"), f32([4]), np.ones(2, "f")
        )
        assert grads.dx.tolist() == [[np.inf, -np.inf]]
        assert grads.dgamma.tolist() == [4 * 65504, -4 * 65504]

    def test_nan_in_dy_stays_in_its_row_and_its_column(self) -> None:
        dy = f32([[1, np.nan], [1, 1]])
        x = np.ones((2, 2), "f")
        grads = rms_norm_grad(dy, x, np.ones(2, "f"), np.ones(2, "f"))
        assert np.isnan(grads.dx).tolist() == [[True, True], [False, False]]
        assert np.isnan(grads.dgamma).tolist() == [False, True]


class TestArguments:
    def test_rows_beyond_16_bits_have_the_type_of_others(self) -> None:
        # NumPy 1 makes float64 of float32 divided by an integer beyond 65535.
        x = np.ones((1, 65536), np.float32)
        y, rstd = definition("rms_norm")(x, x[0])
        assert (y.dtype, rstd.dtype) == (np.float32, np.float32)

    def test_no_argument_is_changed(self) -> None:
        arguments, untouched = sample(), sample()
        rms_norm(arguments["x"], arguments["gamma"])
        rms_norm_grad(**arguments)
        for name, value in untouched.items():
            assert np.array_equal(arguments[name], value), name

    @pytest.mark.parametrize("gamma", [np.float32(1), np.ones(3), np.ones((2, 16))], ids=np.shape)
    def test_gamma_must_span_the_last_axes_of_x(self, gamma: Any) -> None:
        arguments = sample() | {"gamma": gamma}
        with pytest.raises(ValueError, match="the shape of gamma is "):
            rms_norm(arguments["x"], gamma)
        with pytest.raises(ValueError, match="the shape of gamma is "):
            rms_norm_grad(**arguments)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"dy": np.ones((2, 16))}, "dy has the shape (2, 16); it must be (2, 1, 16)"),
            ({"rstd": np.ones((2, 16))}, "rstd has the shape (2, 16), which is 32 elements"),
        ],
    )
    def test_a_shape_that_does_not_fit_is_named(
        self, changes: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValueError, match=re.escape(message)):
            rms_norm_grad(**(sample() | changes))

    def test_x_must_be_floating(self) -> None:
        x = np.ones((2, 3), int)
        with pytest.raises(TypeError, match="x has the data type int64"):
            rms_norm(x, np.ones(3))
        with pytest.raises(TypeError, match="x has the data type int64"):
            rms_norm_grad(np.ones((2, 3)), x, np.ones(2), np.ones(3))
