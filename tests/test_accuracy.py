# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyaclnn.facts.accuracy import TOLERANCES, judge

# The standard's table: data type, rtol, atol, the absolute part of the limit, bits of the fraction.
TABLE: list[tuple[Any, float, float, float, int]] = [
    (np.float16, 1 / 512, 1 / 512, 0.1, 10),
    (ml_dtypes.bfloat16, 1 / 64, 1 / 64, 1, 7),
    (np.float32, 1 / 1024, 1 / 65536, 0.01, 23),
    (ml_dtypes.float8_e4m3fn, 1 / 4, 1 / 16, 1, 3),
    (ml_dtypes.float8_e5m2, 1 / 2, 1 / 8, 0.1, 2),
]

every_row = pytest.mark.parametrize(
    ("dtype", "rtol", "atol", "limit", "bits"), TABLE, ids=[row[0].__name__ for row in TABLE]
)

JUST_INSIDE, JUST_OUTSIDE = 1 - 1e-9, 1 + 1e-9


def one_wrong(elements: int, value: float, error: float) -> tuple[Any, Any]:
    """A golden result full of one value, and a result that is off at its last element."""
    golden = np.full(elements, value)
    actual = golden.copy()
    actual[-1] += error
    return actual, golden


@every_row
class TestTable:
    def test_an_element_matches_up_to_its_tolerance(
        self, dtype: Any, rtol: float, atol: float, limit: float, bits: int
    ) -> None:
        del limit, bits
        for value in (0.0, 0.25, -3.0):
            tolerance = atol + rtol * abs(value)
            inside = judge(*one_wrong(1, value, tolerance * JUST_INSIDE), dtype)
            outside = judge(*one_wrong(1, value, tolerance * JUST_OUTSIDE), dtype)
            assert (inside.matched, inside.rtol, inside.atol) == (1, rtol, atol)
            assert outside.matched == 0

    def test_no_error_may_exceed_the_absolute_limit(
        self, dtype: Any, rtol: float, atol: float, limit: float, bits: int
    ) -> None:
        del rtol, atol, bits
        # Near zero 32 ULP are next to nothing, also in the shortest of these formats.
        for value in (0.0, 1e-300, 2**-14):
            inside = judge(*one_wrong(1000, value, limit * JUST_INSIDE), dtype)
            outside = judge(*one_wrong(1000, value, limit * JUST_OUTSIDE), dtype)
            assert (inside.over_limit, inside.passed, inside.limit) == (0, True, limit)
            assert (outside.over_limit, outside.passed, outside.limit) == (1, False, limit)

    def test_no_error_may_exceed_32_ulp_where_those_are_more(
        self, dtype: Any, rtol: float, atol: float, limit: float, bits: int
    ) -> None:
        del rtol, atol
        for value in (160.0, 256.0):
            exponent = {160.0: 7, 256.0: 8}[value]
            ulps = 32 * 2.0 ** (exponent - bits)
            expected = max(ulps, limit)
            inside = judge(*one_wrong(1000, value, expected * JUST_INSIDE), dtype)
            outside = judge(*one_wrong(1000, value, expected * JUST_OUTSIDE), dtype)
            assert (inside.passed, inside.limit) == (True, expected)
            assert (outside.passed, outside.limit) == (False, expected)

    def test_a_result_rounded_to_the_data_type_passes(
        self, dtype: Any, rtol: float, atol: float, limit: float, bits: int
    ) -> None:
        del rtol, atol, limit, bits
        golden = np.random.default_rng(1).normal(0, 20, 1000)
        verdict = judge(golden.astype(dtype), golden)
        assert verdict.matched_ratio == 1
        assert verdict.passed


def test_beyond_the_data_type_the_ulp_is_that_of_its_largest_number() -> None:
    verdict = judge(np.array([65504], np.float16), [1e6])
    assert (verdict.limit, verdict.passed) == (1024, False)


def test_float64_has_the_row_of_float32_in_its_own_ulps() -> None:
    ratio = np.finfo(np.float64).eps / np.finfo(np.float32).eps
    single, double = TOLERANCES[np.dtype(np.float32)], TOLERANCES[np.dtype(np.float64)]
    for name in ("rtol", "atol", "limit"):
        assert getattr(double, name) == getattr(single, name) * ratio
    assert double.required_ratio == 0.99


class TestCriteria:
    @pytest.mark.parametrize(("wrong", "passed"), [(0, True), (1, True), (10, True), (11, False)])
    def test_99_percent_of_the_elements_must_match(self, wrong: int, *, passed: bool) -> None:
        actual, golden = np.ones((10, 100), np.float32), np.ones((10, 100))
        actual.reshape(-1)[:wrong] += 0.005
        verdict = judge(actual, golden)
        assert (verdict.over_limit, verdict.misplaced) == (0, 0)
        assert (verdict.matched, verdict.matched_ratio) == (1000 - wrong, (1000 - wrong) / 1000)
        assert verdict.passed == passed

    def test_one_error_beyond_the_limit_fails_a_million_matches(self) -> None:
        verdict = judge(*one_wrong(1_000_000, 1.0, 0.011), np.float32)
        assert verdict.matched_ratio > 0.99
        assert not verdict.passed

    def test_a_large_error_is_not_excused_by_a_large_number_elsewhere(self) -> None:
        golden = np.full(1000, 1e6)
        golden[7] = 1.0
        actual = golden.copy()
        actual[7] = 2.0
        verdict = judge(actual, golden, np.float32)
        assert (verdict.worst, verdict.limit, verdict.passed) == ((7,), 0.01, False)

    def test_the_worst_error_is_the_one_largest_in_terms_of_its_limit(self) -> None:
        verdict = judge(np.array([1e6 + 1, 1.5]), np.array([1e6, 1.0]), np.float32)
        assert (verdict.worst, verdict.max_abs_error, verdict.over_limit) == ((1,), 1, 1)

    @pytest.mark.parametrize(
        ("actual", "golden"),
        [
            (np.nan, 1.0),
            (1.0, np.nan),
            (np.inf, 1.0),
            (1.0, np.inf),
            (np.inf, -np.inf),
            (-np.inf, np.inf),
            (np.nan, np.inf),
            (-np.inf, np.nan),
        ],
    )
    def test_a_misplaced_special_value_fails(self, actual: float, golden: float) -> None:
        results, goldens = np.ones(1000, np.float32), np.ones(1000)
        results[500], goldens[500] = actual, golden
        verdict = judge(results, goldens)
        assert (verdict.misplaced, verdict.worst, verdict.passed) == (1, (500,), False)
        assert (verdict.max_abs_error, verdict.max_rel_error, verdict.limit) == (0, 0, 0.01)

    def test_special_values_in_their_places_pass_and_do_not_count(self) -> None:
        special = np.array([np.nan, np.inf, -np.inf, 1.0])
        verdict = judge(special.astype(np.float16), special)
        assert verdict.passed
        assert (verdict.elements, verdict.compared, verdict.matched) == (4, 1, 1)
        assert judge(special[:3], special[:3]).matched_ratio == 1

    def test_special_values_do_not_dilute_the_ratio(self) -> None:
        golden = np.full(1000, np.inf)
        golden[:2] = 0
        actual = golden.copy()
        actual[0] = 0.005
        verdict = judge(actual, golden, np.float32)
        assert (verdict.matched_ratio, verdict.passed) == (0.5, False)

    @pytest.mark.parametrize(
        ("dtype", "golden", "actual"),
        [
            (np.float16, 1e5, np.inf),
            (np.float16, -1e5, -np.inf),
            (ml_dtypes.bfloat16, 3.4e38, np.inf),
            (ml_dtypes.float8_e4m3fn, 1e4, np.nan),
        ],
    )
    def test_what_the_data_type_cannot_hold_may_overflow(
        self, dtype: Any, golden: float, actual: float
    ) -> None:
        assert judge(np.array([actual], dtype), np.array([golden])).passed
        assert not judge(np.array([actual], dtype), np.array([-golden / 1e3])).passed
        assert np.isnan(actual) or not judge(np.array([-actual]), np.array([golden]), dtype).passed


class TestExactTypes:
    @pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.bool_], ids=str)
    def test_every_element_must_be_equal(self, dtype: Any) -> None:
        golden = np.zeros(1000, dtype)
        actual = golden.copy()
        assert judge(actual, golden).passed
        actual[3] = 1
        verdict = judge(actual, golden)
        assert (verdict.matched, verdict.over_limit, verdict.worst) == (999, 1, (3,))
        assert (verdict.required_ratio, verdict.limit, verdict.passed) == (1, 0, False)

    def test_integers_that_float64_cannot_tell_apart_are_told_apart(self) -> None:
        golden = np.array([2**60], np.int64)
        assert not judge(golden + 1, golden).passed

    def test_a_golden_nan_equals_no_integer(self) -> None:
        assert not judge(np.array([0]), np.array([np.nan])).passed


class TestFigures:
    def test_the_relative_error_of_small_numbers_counts(self) -> None:
        verdict = judge(np.array([0.375, 4.0]), np.array([0.5, 4.0]), np.float32)
        assert verdict.max_rel_error == 0.25

    def test_exact_figures(self) -> None:
        golden = np.array([[0.0, 2.0], [-4.0, 8.0]])
        actual = np.array([[0.5, 2.0], [-4.25, 8.0]], np.float16)
        verdict = judge(actual, golden)
        assert dataclasses.asdict(verdict) == {
            "dtype": "float16",
            "elements": 4,
            "compared": 4,
            "matched": 2,
            "over_limit": 2,
            "misplaced": 0,
            "rtol": 2**-9,
            "atol": 2**-9,
            "required_ratio": 0.99,
            "max_abs_error": 0.5,
            "max_rel_error": 0.0625,
            "worst": (0, 0),
            "worst_actual": 0.5,
            "worst_golden": 0.0,
            "limit": 0.1,
        }

    def test_one_line(self) -> None:
        assert str(judge(np.array([[1.0, 2.5]], np.float16), [[1.0, 2.0]])) == (
            "failed: float16, 2 elements, 50.0000% matched (required 99%), 1 over the limit, "
            "0 misplaced inf or nan, max abs error 0.5, max rel error 0.25; "
            "worst at (0, 1): 2.5 instead of 2 (limit 0.1)"
        )
        assert str(judge(np.array([1], np.float32), [1.0])) == (
            "passed: float32, 1 elements, 100.0000% matched (required 99%), 0 over the limit, "
            "0 misplaced inf or nan, max abs error 0, max rel error 0"
        )

    def test_a_verdict_does_not_change(self) -> None:
        verdict: Any = judge(np.array([1], np.float32), [1.0])
        with pytest.raises(dataclasses.FrozenInstanceError):
            verdict.matched = 0

    def test_a_scalar_has_an_empty_index(self) -> None:
        verdict = judge(np.float32(1), 1.5)
        assert (verdict.worst, verdict.max_abs_error, verdict.passed) == ((), 0.5, False)

    @given(
        shape=st.lists(st.integers(1, 3), max_size=4),
        data=st.data(),
        error=st.floats(0.02, 1e6),
    )
    def test_the_worst_element_is_found_wherever_it_is(
        self, shape: list[int], data: st.DataObject, error: float
    ) -> None:
        where = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
        golden = np.ones(shape)
        actual = np.array(golden)
        actual[where] += error
        verdict = judge(actual, golden, np.float32)
        assert verdict.worst == where
        assert verdict.max_abs_error == actual[where] - 1
        assert not verdict.passed


class TestArguments:
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32])
    @pytest.mark.parametrize("shape", [(0,), (3, 0)])
    def test_no_elements_pass(self, dtype: Any, shape: tuple[int, ...]) -> None:
        verdict = judge(np.empty(shape, dtype), np.empty(shape))
        assert (verdict.passed, verdict.elements, verdict.worst) == (True, 0, None)
        assert (verdict.max_abs_error, verdict.max_rel_error, verdict.matched_ratio) == (0, 0, 1)
        assert "nan:" not in str(verdict)

    def test_the_shapes_must_be_equal(self) -> None:
        with pytest.raises(ValueError, match=r"actual has the shape \(2,\).*golden, \(1, 2\)"):
            judge(np.ones(2), np.ones((1, 2)))

    @pytest.mark.parametrize("dtype", [np.complex64, "U1", ml_dtypes.float8_e4m3b11fnuz])
    def test_a_data_type_without_figures_is_refused(self, dtype: Any) -> None:
        with pytest.raises(TypeError, match=f"dtype is .*{np.dtype(dtype)}"):
            judge(np.ones(2), np.ones(2), dtype)

    def test_the_result_itself_is_not_changed(self) -> None:
        actual, golden = np.array([1, np.nan]), np.array([2, np.inf])
        judge(actual, golden)
        assert actual[0] == 1
        assert golden[0] == 2
