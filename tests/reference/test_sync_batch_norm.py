# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import (
    batch_norm,
    batch_norm_backward,
    batch_norm_elemt,
    batch_norm_elemt_backward,
    batch_norm_gather_stats_with_counts,
    batch_norm_reduce_backward,
    batch_norm_stats,
)

from .problems import DTYPES, f16, f32, f64

INPUT = f32([[[1, 2], [3, 4]], [[5, 6], [7, 9]]])
GRAD_OUT = f32([[[1, 0], [-1, 2]], [[0.5, 1], [1, -1]]])
WEIGHT, BIAS = f32([1, 2]), f32([0, 1])
MEAN, INVSTD = f32([3.5, 5.75]), f32([0.48507071, 0.41931358])
FAMILIES = [None, "910b", "910_93", "910", "950"]


class TestKnownNumbers:
    def test_stats(self) -> None:
        result = batch_norm_stats(np.arange(1, 7, dtype=np.float32).reshape(1, 3, 2), 1e-5)
        assert result.mean.tolist() == [1.5, 3.5, 5.5]
        assert np.allclose(result.invstd, 1.99996, rtol=1e-6)

    def test_gather_stats_with_counts(self) -> None:
        result = batch_norm_gather_stats_with_counts(
            np.ones((1, 2), np.float32),
            f32([[1, 2], [3, 4]]),
            f32(1 / np.sqrt(f64([[1, 4], [0.25, 1]]) + 1e-5)),
            f32([0.5, 0.5]),
            f32([1, 2]),
            0.1,
            1e-5,
            f32([2, 6]),
        )
        assert result.mean_all.tolist() == [2.5, 3.5]
        assert np.allclose(result.invstd_all, [0.91765907, 0.63245427], rtol=1e-6)
        assert np.allclose(np.asarray(result.running_mean), [0.7, 0.8], rtol=1e-6)
        assert np.allclose(np.asarray(result.running_var), [1.0357143, 2.0857142], rtol=1e-6)

    @pytest.mark.parametrize("family", FAMILIES)
    def test_elemt(self, family: str | None) -> None:
        output = batch_norm_elemt(INPUT, WEIGHT, BIAS, MEAN, INVSTD, 1e-5, family=family)
        golden = batch_norm(INPUT, None, None, WEIGHT, BIAS, training=True).output
        assert np.allclose(output, golden, rtol=2e-6)

    @pytest.mark.parametrize("family", FAMILIES)
    def test_official_sample_of_elemt(self, family: str | None) -> None:
        x = np.arange(16, dtype=np.float32).reshape(2, 4, 2)
        output = batch_norm_elemt(
            x, None, None, f32([1, 2, 3, 4]), f32([5, 6, 7, 8]), 1e-2, family=family
        )
        rows = [[-5, 0], [0, 6], [7, 14], [16, 24], [35, 40], [48, 54], [63, 70], [80, 88]]
        assert np.allclose(output.reshape(8, 2), rows, rtol=5e-7)

    def test_reduce_backward(self) -> None:
        result = batch_norm_reduce_backward(GRAD_OUT, INPUT, MEAN, INVSTD)
        assert np.asarray(result.sum_dy).tolist() == [2.5, 1]
        assert np.asarray(result.sum_dy_xmu).tolist() == [0.75, -2.75]
        assert np.allclose(np.asarray(result.grad_weight), [0.363803, -1.15311], rtol=5e-6)
        assert np.asarray(result.grad_bias).tolist() == [2.5, 1]

    @pytest.mark.parametrize("counter", [f32([4]), np.array([2, 2], np.int32), f16([[1], [3]])])
    def test_elemt_backward(self, counter: Any) -> None:
        sums = f32([2.5, 1]), f32([0.75, -2.75])
        actual = batch_norm_elemt_backward(GRAD_OUT, INPUT, MEAN, INVSTD, WEIGHT, *sums, counter)
        grad_input = [
            [[0.235402, -0.271069], [-1.32706, 1.2902]],
            [[-0.092734, 0.128401], [0.755686, -0.718824]],
        ]
        assert np.allclose(actual, grad_input, rtol=5e-6)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_batch_on_two_devices_is_normalized_as_one(dtype: Any) -> None:
    generator = np.random.default_rng(9)
    x, dy = generator.normal(1, 2, (2, 7, 3, 4)).astype(dtype)
    weight, bias, mean, variance = generator.uniform(0.5, 2, (4, 3))
    parts = [(x[:2], dy[:2]), (x[2:], dy[2:])]
    counts = f64([2 * 4, 5 * 4])

    stats = [batch_norm_stats(part.astype(np.float64), 1e-3) for part, _ in parts]
    means, invstds = (np.stack(column) for column in zip(*stats, strict=True))
    gathered = batch_norm_gather_stats_with_counts(
        x, means, invstds, mean, variance, 0.3, 1e-3, counts
    )
    whole = batch_norm(x, mean, variance, weight, bias, True, 0.3, 1e-3)
    golden = batch_norm(x.astype(np.float64), mean, variance, weight, bias, True, 0.3, 1e-3)
    assert np.allclose(gathered.mean_all, np.asarray(golden.save_mean), rtol=1e-12)
    assert np.allclose(gathered.invstd_all, np.asarray(golden.save_invstd), rtol=1e-12)
    for actual, expected in zip(gathered[2:], golden[3:], strict=True):
        assert np.allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12)

    statistics = gathered.mean_all, gathered.invstd_all
    outputs = [batch_norm_elemt(part, weight, bias, *statistics, 1e-3) for part, _ in parts]
    assert outputs[0].dtype == dtype
    verdict = judge(np.concatenate(outputs), golden.output)
    assert verdict.passed, verdict
    assert whole.output.dtype == dtype

    reduced = [
        batch_norm_reduce_backward(part_dy.astype(np.float64), part.astype(np.float64), *statistics)
        for part, part_dy in parts
    ]
    sums = [sum(map(np.asarray, column)) for column in zip(*reduced, strict=True)]
    grads = batch_norm_backward(
        dy.astype(np.float64), x.astype(np.float64), weight, None, None, *statistics, eps=1e-3
    )
    assert np.allclose(sums[2], np.asarray(grads.grad_weight), rtol=1e-12)
    assert np.allclose(sums[3], np.asarray(grads.grad_bias), rtol=1e-12)
    inputs = [
        batch_norm_elemt_backward(
            part_dy, part, *statistics, weight, np.asarray(sums[0]), np.asarray(sums[1]), counts
        )
        for part, part_dy in parts
    ]
    verdict = judge(np.concatenate(inputs), np.asarray(grads.grad_input))
    assert verdict.passed, verdict


class TestElemtOfChips:
    def test_a_float16_deviation_loses_digits_on_the_way_through_the_variance(self) -> None:
        x, mean, invstd = f32([[1]]), f32([0]), f16([0.3])
        ideal = batch_norm_elemt(x, None, None, mean, invstd)
        actual = batch_norm_elemt(x, None, None, mean, invstd, 1e-5, family="910b")
        assert ideal[0, 0] == np.float32(np.float16(0.3))
        # 0.3 squared in float16, its reciprocal, less eps: each rounded
        square = np.float16(np.float64(np.float16(0.3)) ** 2)
        variance = np.float16(1 / np.float64(square))
        assert np.float16(np.float64(variance) - np.float64(np.float16(1e-5))) == variance
        assert actual[0, 0] == pytest.approx((np.float64(variance) + 1e-5) ** -0.5, rel=1e-7)
        assert actual[0, 0] != ideal[0, 0]

    @pytest.mark.parametrize("family", ["910b", "950"])
    def test_a_small_float16_deviation_is_lost(self, family: str) -> None:
        arguments = f32([[1]]), None, None, f32([0]), f16([0.0038])
        assert batch_norm_elemt(*arguments)[0, 0] == np.float32(np.float16(0.0038))
        assert batch_norm_elemt(*arguments, family=family)[0, 0] == 0


class TestEmpty:
    def test_stats_are_zero_and_nan(self) -> None:
        result = batch_norm_stats(np.empty((0, 2, 3), np.float16))
        assert result.mean.tolist() == [0, 0]
        assert np.isnan(result.invstd).all()
        assert result.mean.dtype == result.invstd.dtype == np.float32

    def test_without_devices_nothing_moves(self) -> None:
        none = np.empty((0, 2), np.float32)
        result = batch_norm_gather_stats_with_counts(
            np.ones((1, 2)), none, none, f32([1, 2]), f16([3, 4]), 0.1, 1e-5, none[:, 0]
        )
        assert result.mean_all.tolist() == [0, 0]
        assert np.isnan(result.invstd_all).all()
        assert np.asarray(result.running_mean).tolist() == [1, 2]
        assert np.asarray(result.running_var).tolist() == [3, 4]

    def test_sums_are_zero(self) -> None:
        x = np.empty((0, 2), ml_dtypes.bfloat16)
        result = batch_norm_reduce_backward(x, x, f32([1, 2]), f32([1, 2]))
        assert [np.asarray(part).tolist() for part in result] == [[0, 0]] * 4


class TestArguments:
    def test_what_was_not_asked_for_is_none(self) -> None:
        operands = GRAD_OUT, INPUT, MEAN, INVSTD, WEIGHT
        result = batch_norm_reduce_backward(*operands, False, True, False)
        assert [part is not None for part in result] == [False, False, True, False]
        result = batch_norm_reduce_backward(*operands, True, False, True)
        assert [part is not None for part in result] == [True, True, False, True]

    def test_running_statistics_keep_their_types_or_are_not_there(self) -> None:
        operands = INPUT, f32([[1, 2]]), f32([[1, 1]])
        result = batch_norm_gather_stats_with_counts(*operands, f16([0, 0]), None, 0.5, 0, f32([2]))
        assert np.asarray(result.running_mean).dtype == np.float16
        assert np.asarray(result.running_mean).tolist() == [0.5, 1]
        assert result.running_var is None

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"input": np.ones(2)}, "input has the shape (2,); it must have two axes"),
            ({"mean": f32([1, 2])}, "mean has the shape (2,); it must be (1, 2)"),
            ({"invstd": f32([[1]])}, "invstd has the shape (1, 1); it must be (1, 2)"),
            ({"counts": f32([[1]])}, "counts has the shape (1, 1); it must be (1,)"),
            ({"running_var": f32([1])}, "running_var has the shape (1,); it must be (2,)"),
        ],
    )
    def test_a_shape_that_does_not_fit_is_named(
        self, changes: dict[str, Any], message: str
    ) -> None:
        arguments: dict[str, Any] = {
            "input": INPUT,
            "mean": f32([[1, 2]]),
            "invstd": f32([[1, 1]]),
            "running_mean": None,
            "running_var": None,
            "momentum": 0.1,
            "eps": 1e-5,
            "counts": f32([1]),
        }
        with pytest.raises(ValueError, match=re.escape(message)):
            batch_norm_gather_stats_with_counts(**(arguments | changes))
