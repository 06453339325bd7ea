# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import definition, fast_layer_norm, layer_norm, layer_norm_with_impl_mode

from . import oracle
from .problems import DTYPES, Problem, f16, f32, f64, in_pieces, problems

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TestKnownNumbers:
    def test_two_numbers(self) -> None:
        # mean 3, variance 4; the eps makes the deviation 2.5
        result = layer_norm(f64([[1, 5]]), [2], eps=2.25)
        assert result.mean.tolist() == [[3.0]]
        assert result.rstd.tolist() == [[0.4]]
        assert np.allclose(result.out, [[-0.8, 0.8]], rtol=1e-15)

    def test_weight_scales_and_bias_shifts_each_column(self) -> None:
        result = layer_norm(f64([[1, 5], [5, 1]]), [2], f64([10, 100]), f64([1, 2]), eps=2.25)
        assert np.allclose(result.out, [[-7, 82], [9, -78]], rtol=1e-15)

    def test_official_sample_of_a_constant_tensor(self) -> None:
        result = layer_norm(
            np.full((1, 2, 32), 2, np.float32), [32], np.ones(32, "f"), np.zeros(32, "f"), eps=1e-5
        )
        assert not result.out.any()
        assert result.mean.tolist() == [[[2.0], [2.0]]]
        assert np.allclose(result.rstd, 316.2278, rtol=1e-6)

    @pytest.mark.parametrize("operator", [layer_norm, definition("layer_norm")])
    def test_the_mean_of_equal_numbers_is_that_number(self, operator: Any) -> None:
        x = np.full((64, 768), 1000.1, np.float32)  # whose sum is none of float32
        result = operator(x, [768], eps=1e-5)
        assert not result.out.any()
        assert set(result.mean.ravel()) == {x[0, 0]}

    def test_official_sample_of_the_kernel(self) -> None:
        # The sample keeps its epsilon in a tiling structure; its numbers say which it was.
        ramp = np.arange(8, dtype=np.float32)
        x = np.arange(64, dtype=np.float32).reshape(1, 8, 8)
        result = layer_norm(x, [8], ramp, ramp, eps=1e-4)
        row = [0, -0.09107912, 0.69070506, 2.3453526, 4.8728633, 8.273237, 12.546474, 17.692575]
        assert result.mean.ravel().tolist() == [3.5 + 8 * k for k in range(8)]
        assert np.allclose(result.rstd, 1 / math.sqrt(5.25 + 1e-4), rtol=1e-6)
        assert np.allclose(result.out, [[row] * 8], rtol=2e-6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("operator", [layer_norm, definition("layer_norm")])
@settings(deadline=None, max_examples=150)
@given(problem=problems(), affine=st.tuples(st.booleans(), st.booleans()), block=st.integers(1, 99))
def test_agrees_with_exact_sums(
    operator: Any, problem: Problem, affine: tuple[bool, bool], block: int
) -> None:
    x = problem.tensor(0)
    weight = problem.parameter(1) if affine[0] else None
    bias = problem.parameter(2) if affine[1] else None
    with in_pieces(block):
        result = operator(x, problem.normalized, weight, bias, eps=1e-3)

    assert (result.out.shape, result.out.dtype) == (x.shape, problem.dtype)
    for statistic in (result.mean, result.rstd):
        assert statistic.shape == x.shape[: problem.lead] + (1,) * len(problem.normalized)
        assert statistic.dtype == problem.wide_dtype
    if problem.columns == 0:
        assert not result.mean.any()
        assert np.isnan(result.rstd).all()
        return
    out, mean, rstd = oracle.layer_norm(
        oracle.matrix(x, problem.lead),
        np.ones(problem.columns) if weight is None else oracle.matrix(weight, 0)[0],
        np.zeros(problem.columns) if bias is None else oracle.matrix(bias, 0)[0],
        eps=1e-3,
    )
    for actual, golden in ((result.out, out), (result.mean, mean), (result.rstd, rstd)):
        verdict = judge(actual, golden.reshape(actual.shape))
        assert verdict.passed, verdict


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(3, 100_000), (5000, 33)], ids=str)
def test_is_accurate_across_many_blocks(dtype: np.dtype[Any], shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).normal(2, 1, shape).astype(dtype)
    result = layer_norm(x, shape[1:])
    wide = x.astype(np.float64)
    # The closed form, with the variance as mean of squares less square of mean.
    rstd = ((wide**2).mean(1) - wide.mean(1) ** 2 + 1e-5) ** -0.5
    verdict = judge(result.out, (wide - wide.mean(1)[:, None]) * rstd[:, None])
    assert verdict.matched_ratio == 1, verdict
    assert verdict.passed, verdict


class TestSpecialValues:
    def test_a_row_with_nan_or_infinity_is_nan_and_the_others_are_not(self) -> None:
        x = np.ones((3, 4), np.float32)
        x[0, 1], x[1, 2] = np.nan, np.inf
        result = layer_norm(x, [4])
        assert np.isnan(result.out).all(axis=1).tolist() == [True, True, False]
        assert np.isnan(result.rstd).ravel().tolist() == [True, True, False]
        assert np.isnan(result.mean[0, 0])
        assert result.mean[1, 0] == np.inf

    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=str)
    def test_a_result_beyond_the_data_type_is_infinite(self, dtype: Any) -> None:
        scale = np.full(2, 3e38 if dtype is ml_dtypes.bfloat16 else 6e4, np.float32)
        result = layer_norm(np.array([[-1, 1]], dtype), [2], scale, scale, eps=0)
        assert result.out.astype(np.float32).tolist() == [[0, np.inf]]

    def test_float16_does_not_overflow_in_between(self) -> None:
        result = layer_norm(f16([[-60000, 60000]]), [2])
        assert result.out.tolist() == [[-1, 1]]
        assert result.rstd[0, 0] == pytest.approx(1 / 60000, rel=1e-3)


class TestOtherNames:
    def test_worked_example(self) -> None:
        arguments = f32([[1, 2, 3, 4]]), [4], f32([1, 2, 0.5, 1]), f32([0, 0, 1, 0]), 1e-5
        for result in (fast_layer_norm(*arguments), layer_norm_with_impl_mode(*arguments)):
            assert result.mean.tolist() == [[2.5]]
            assert np.allclose(result.rstd, 0.89442366, rtol=1e-7)
            assert np.allclose(result.out, [[-1.34164, -0.894424, 1.22361, 1.34164]], rtol=5e-6)

    @pytest.mark.parametrize("mode", [0, 1, 2])
    def test_every_mode_computes_the_same(self, mode: int) -> None:
        x = np.random.default_rng(2).normal(size=(3, 40)).astype(np.float16)
        for actual, expected in zip(
            layer_norm_with_impl_mode(x, [40], impl_mode=mode), layer_norm(x, [40]), strict=True
        ):
            assert actual.tolist() == expected.tolist()

    @pytest.mark.parametrize("mode", [-1, 3])
    def test_there_is_no_other_mode(self, mode: int) -> None:
        for function in (layer_norm_with_impl_mode, definition("layer_norm_with_impl_mode")):
            with pytest.raises(ValueError, match=f"impl_mode is {mode}"):
                function(f32([[1]]), [1], impl_mode=mode)


class TestArguments:
    def test_the_input_is_not_changed(self) -> None:
        x = f32([[1, 2, 4]])
        layer_norm(x, [3], f32([2, 2, 2]))
        assert x.tolist() == [[1, 2, 4]]

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"normalized_shape": []}, "normalized_shape is ()"),
            ({"normalized_shape": [2]}, "normalized_shape is (2,)"),
            ({"normalized_shape": [4, 2, 3]}, "normalized_shape is (4, 2, 3)"),
            ({"weight": np.ones(2)}, "weight has the shape (2,); it must be (3,)"),
            ({"weight": np.ones((1, 3))}, "weight has the shape (1, 3)"),
            ({"bias": np.ones(4)}, "bias has the shape (4,)"),
        ],
    )
    def test_a_shape_that_does_not_fit_is_named(
        self, changes: dict[str, Any], message: str
    ) -> None:
        arguments: dict[str, Any] = {"input": np.ones((2, 3), "f"), "normalized_shape": [3]}
        with pytest.raises(ValueError, match=re.escape(message)):
            layer_norm(**(arguments | changes))

    @pytest.mark.parametrize("dtype", ["int32", "complex64", "bool"])
    def test_the_input_must_be_floating(self, dtype: str) -> None:
        x: NDArray[Any] = np.ones((2, 3), dtype)
        with pytest.raises(TypeError, match=f"input has the data type {dtype}"):
            layer_norm(x, [3])


@pytest.mark.parametrize("columns", [1000, 1024, 4099])
@pytest.mark.parametrize("constant", [1000.1, 3333.3, 1e8 / 3])
def test_equal_numbers_far_from_zero_are_their_mean(constant: float, columns: int) -> None:
    y, mean, _ = layer_norm(np.full((32, columns), constant, np.float32), (columns,))
    assert (y == 0).all()
    assert (mean == np.float32(constant)).all()
