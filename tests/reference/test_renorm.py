# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import embedding_renorm, inplace_renorm, renorm

from .problems import DTYPES, f16, f32

ROWS = f32([[1, 1, 1], [2, 2, 2], [3, 3, 3]])
ROUNDING = ["910b", "910_93", "910"]
ONCE = [None, "950"]


class TestRenorm:
    @pytest.mark.parametrize(("p", "rows"), [(1, [1, 1.66667, 1.66667]), (2, [1, 2, 2.88675])])
    def test_worked_example(self, p: float, rows: list[float]) -> None:
        expected = np.repeat(f32(rows)[:, None], 3, axis=1)
        assert np.allclose(renorm(ROWS, p, 0, 5), expected, rtol=3e-6)
        assert np.allclose(inplace_renorm(ROWS, p, 0, 5), expected, rtol=3e-6)

    @pytest.mark.sampled(20)
    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    @pytest.mark.parametrize("dim", [0, 1, 2, -1])
    @pytest.mark.parametrize("p", [0.5, 1, 2, 3, math.inf])
    def test_agrees_with_torch(self, p: float, dim: int, dtype: Any, torch: Any) -> None:
        x = np.random.default_rng(8).normal(0, 2, (4, 5, 6)).astype(dtype)
        wide = x.astype(np.float64)
        slices = np.moveaxis(np.abs(wide), dim, 0).reshape(x.shape[dim], -1)
        sizes = slices.max(1) if p == math.inf else (slices**p).sum(1) ** (1 / p)
        largest = 1.01 * float(np.median(sizes))  # about half of the slices are longer
        actual = renorm(x, p, dim, largest)
        assert actual.dtype == dtype
        verdict = judge(actual, torch.renorm(torch.tensor(wide), p, dim, largest).numpy())
        assert verdict.passed, verdict

    def test_the_order_zero_counts(self) -> None:
        assert np.allclose(renorm(f32([[0, 4], [4, 4]]), 0, 0, 1), [[0, 4], [2, 2]])

    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=str)
    @pytest.mark.parametrize("family", ROUNDING)
    def test_the_factor_is_rounded_on_older_chips(self, family: str, dtype: Any) -> None:
        x = np.array([[1.5, 2.75, 3.125]]).astype(dtype)
        factor = 3 / (np.sqrt((x.astype(np.float64) ** 2).sum()) + 1e-7)
        rounded = float(np.float32(factor).astype(dtype))
        actual = renorm(x, 2, 0, 3, family=family)
        assert actual.tolist() == (x.astype(np.float64) * rounded).astype(dtype).tolist()
        for other in ONCE:
            once = renorm(x, 2, 0, 3, family=other)
            assert once.tolist() == (x.astype(np.float64) * factor).astype(dtype).tolist()

    def test_an_empty_tensor_stays_empty(self) -> None:
        assert renorm(np.empty((2, 0), np.float16), 2, 0, 1).shape == (2, 0)

    def test_nan_stays_where_it_is(self) -> None:
        actual = renorm(f32([[np.nan, 8], [8, 8]]), 2, 0, 1)
        assert np.isnan(actual).tolist() == [[True, False], [False, False]]
        assert actual[0, 1] == 8


class TestEmbeddingRenorm:
    def test_worked_example(self) -> None:
        rows = f32([[3, 4], [0, 1], [6, 8]])
        actual = embedding_renorm(rows, np.array([2, 0]), 2, 2)
        assert np.allclose(actual, [[1.2, 1.6], [0.0, 1.0], [1.2, 1.6]], rtol=1e-6)
        assert rows.tolist() == [[3, 4], [0, 1], [6, 8]]

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_agrees_with_torch(self, dtype: Any, torch: Any) -> None:
        x = np.random.default_rng(8).normal(0, 2, (6, 5)).astype(dtype)
        indices = np.array([[1, 3], [3, 5]], np.int32)
        golden = torch.tensor(x.astype(np.float64))
        torch.embedding_renorm_(golden, torch.tensor(indices).ravel(), 2.5, 3.0)
        verdict = judge(embedding_renorm(x, indices, 2.5, 3.0), golden.numpy())
        assert verdict.passed, verdict

    def test_a_row_named_twice_is_shortened_once(self) -> None:
        rows = f16([[3, 4]])
        twice = embedding_renorm(rows, np.array([0, 0]), 2, family="910b")
        assert twice.tolist() == embedding_renorm(rows, np.array(0), 2, family="910b").tolist()

    def test_no_number_is_no_limit(self) -> None:
        rows = f32([[3, 4]])
        assert embedding_renorm(rows, np.array([0]), math.nan).tolist() == [[3, 4]]

    def test_no_indices_change_nothing(self) -> None:
        assert embedding_renorm(ROWS, np.empty(0, int), 1).tolist() == ROWS.tolist()

    @pytest.mark.parametrize("index", [-1, 3])
    def test_a_row_must_exist(self, index: int) -> None:
        with pytest.raises(IndexError, match="input has the rows 0 to 2"):
            embedding_renorm(ROWS, np.array([index]), 1)

    def test_it_must_be_a_matrix(self) -> None:
        with pytest.raises(ValueError, match="must have two axes"):
            embedding_renorm(ROWS[0], np.array([0]), 1)
