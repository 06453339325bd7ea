# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pyaclnn.reference import batch_norm, batch_norm_reduce, sync_batch_norm_gather_stats

from .problems import DTYPES, f16, f32, f64


class TestReduce:
    def test_worked_example(self) -> None:
        result = batch_norm_reduce(f32([[[[1, 2]], [[3, 4]]]]))
        assert result.sum.tolist() == [3, 7]
        assert result.square_sum.tolist() == [5, 25]

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_sums_are_wide(self, dtype: Any) -> None:
        result = batch_norm_reduce(np.full((64, 2, 64), 8, dtype))
        assert result.sum.dtype == (np.float64 if dtype == np.float64 else np.float32)
        assert result.sum.tolist() == [2**15] * 2
        assert result.square_sum.tolist() == [2**18] * 2

    def test_nothing_adds_up_to_zero(self) -> None:
        result = batch_norm_reduce(np.empty((0, 2, 3, 4), np.float16))
        assert result.sum.tolist() == result.square_sum.tolist() == [0, 0]


SUMS = f32([[4, 8], [6, 4]]), f32([[10, 40], [20, 12]])


class TestGatherStats:
    @pytest.mark.parametrize("counts", [f32([2, 3]), np.array([2, 3], np.int32)])
    def test_worked_example(self, counts: Any) -> None:
        result = sync_batch_norm_gather_stats(*SUMS, counts, f32([0.5] * 2), f32([1] * 2))
        assert np.allclose(result.batch_mean, [2, 2.4], rtol=1e-7)
        assert np.allclose(result.batch_invstd, [0.70710501, 0.46423785], rtol=3e-7)
        assert np.allclose(result.mean, [0.65, 0.69], rtol=1e-6)
        assert np.allclose(result.variance, [1.15, 1.48], rtol=1e-6)

    def test_a_batch_on_two_devices_has_the_statistics_of_one(self) -> None:
        x = np.random.default_rng(9).normal(1, 2, (7, 3, 4))
        mean, variance = f64([0.1, 0.2, 0.3]), f64([1, 2, 3])
        sums, squares = (
            np.stack(column) for column in zip(*map(batch_norm_reduce, (x[:2], x[2:])), strict=True)
        )
        gathered = sync_batch_norm_gather_stats(
            sums, squares, f64([8, 20]), mean, variance, 0.3, 1e-3
        )
        golden = batch_norm(x, mean, variance, training=True, momentum=0.3, eps=1e-3)
        for actual, expected in zip(gathered, golden[1:], strict=True):
            assert np.allclose(actual, np.asarray(expected), rtol=1e-12)

    def test_results_have_the_type_of_the_sums(self) -> None:
        sums = f16([[4, 8]])
        result = sync_batch_norm_gather_stats(sums, sums, f16([2]), f16([1, 1]), f16([1, 1]))
        assert {part.dtype.type for part in result} == {np.float16}

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"total_sum": SUMS[0][0]}, "total_sum has the shape (2,); it must be (2, 2)"),
            ({"total_square_sum": f32([[1]])}, "total_square_sum has the shape (1, 1)"),
            ({"sample_count": f32([[2], [3]])}, "sample_count has the shape (2, 1)"),
            ({"variance": f32([1])}, "variance has the shape (1,); it must be (2,)"),
        ],
    )
    def test_a_shape_that_does_not_fit_is_named(
        self, changes: dict[str, Any], message: str
    ) -> None:
        arguments: dict[str, Any] = {
            "total_sum": SUMS[0],
            "total_square_sum": SUMS[1],
            "sample_count": f32([2, 3]),
            "mean": f32([0, 0]),
            "variance": f32([1, 1]),
        }
        with pytest.raises(ValueError, match=re.escape(message)):
            sync_batch_norm_gather_stats(**(arguments | changes))
