# SPDX-License-Identifier: Apache-2.0
"""The operators that add, then divide by root mean squares, whatever type they give."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.reference import (
    add_rms_norm,
    add_rms_norm_cast,
    add_rms_norm_dynamic_quant,
    add_rms_norm_quant,
    inplace_add_rms_norm,
    rms_norm,
    rms_norm_grad,
)

from . import oracle
from .problems import DTYPES, f16, f32, f64

PLAIN = ([[1, 2, 3, 4]], [[1, 0, -1, 2]], [1, 2, 0.5, 1])
# Every rounding in between shows in float16.
SENSITIVE = ([[0.1, 0.2, 0.3, 0.7]], [[0.33, -0.5, 0.25, 1.1]], [1.1, 0.9, 1.3, 0.7])

ROUNDING = ["910b", "910_93", "310p"]
ONCE = [None, "950"]


def arrays(operands: Any, dtype: Any) -> tuple[Any, Any, Any]:
    x1, x2, gamma = (np.array(operand).astype(dtype) for operand in operands)
    return x1, x2, gamma


class TestAddRmsNorm:
    def test_worked_example(self) -> None:
        result = add_rms_norm(*arrays(PLAIN, np.float32), epsilon=1e-6)
        assert result.x.tolist() == [[2, 2, 2, 6]]
        assert np.allclose(result.rstd, [[0.28867513]], rtol=1e-7)
        assert np.allclose(result.y, [[0.57735026, 1.1547005, 0.28867513, 1.7320508]], rtol=2e-7)

    @pytest.mark.parametrize("family", [*ONCE, *ROUNDING])
    @pytest.mark.parametrize(
        ("dtype", "y"),
        [
            (np.float16, [0.57714844, 1.1542969, 0.28857422, 1.7324219]),
            (ml_dtypes.bfloat16, [0.578125, 1.15625, 0.2890625, 1.734375]),
        ],
        ids=["float16", "bfloat16"],
    )
    def test_worked_example_in_16_bits(self, family: str | None, dtype: Any, y: Any) -> None:
        result = add_rms_norm(*arrays(PLAIN, dtype), family=family)
        assert result.y.dtype == dtype
        if family in ROUNDING or dtype is not np.float16:
            assert result.y.tolist() == [np.array(y, np.float32).astype(dtype).tolist()]
        else:
            # Rounded once, from 0.57735026, 1.1547005, 0.28867513, 1.7320508.
            assert (
                result.y.tolist() == f16([[0.57735026, 1.1547005, 0.28867513, 1.7320508]]).tolist()
            )

    @pytest.mark.parametrize("family", ROUNDING)
    def test_float16_is_rounded_after_every_step(self, family: str) -> None:
        result = add_rms_norm(*arrays(SENSITIVE, np.float16), family=family)
        assert result.x.tolist() == f16([[0.43017578, -0.30004883, 0.54980469, 1.7998047]]).tolist()
        assert result.rstd[0, 0] == np.float32(1.0237358)
        assert result.y.tolist() == f16([[0.484375, -0.27636719, 0.73193359, 1.2900391]]).tolist()

    @pytest.mark.parametrize("family", ONCE)
    def test_the_newest_chips_round_once(self, family: str | None) -> None:
        x1, x2, gamma = arrays(SENSITIVE, np.float16)
        result = add_rms_norm(x1, x2, gamma, family=family)
        exact = rms_norm(f64(x1) + f64(x2), f64(gamma))
        assert result.y.tolist() == exact.y.astype(np.float16).tolist()
        assert result.y.tolist() == f16([[0.48410514, -0.27641773, 0.73191041, 1.2900994]]).tolist()
        assert result.rstd[0, 0] == pytest.approx(exact.rstd[0, 0], rel=1e-7)

    @pytest.mark.parametrize("family", ROUNDING)
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_wide_types_are_the_same_everywhere(self, family: str, dtype: Any) -> None:
        operands = arrays(SENSITIVE, dtype)
        for part, expected in zip(
            add_rms_norm(*operands, family=family), add_rms_norm(*operands), strict=True
        ):
            assert part.tolist() == expected.tolist()

    def test_bfloat16_is_normalized_rounded(self) -> None:
        # 256 + 1 is 256 in bfloat16.
        x1, x2 = (np.array([[a, 0]], ml_dtypes.bfloat16) for a in (256, 1))
        gamma = np.ones(2, np.float32)
        rounded = add_rms_norm(x1, x2, gamma, family="910b")
        assert rounded.x.tolist() == [[256, 0]]
        assert rounded.rstd[0, 0] == np.float32(np.sqrt(2) / 256)
        assert add_rms_norm(x1, x2, gamma).rstd[0, 0] == np.float32(np.sqrt(2) / 257)

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_shapes_and_data_types(self, dtype: Any) -> None:
        x = np.ones((2, 3, 4, 5), dtype)
        result = add_rms_norm(x, x, np.ones((4, 5), np.float32))
        statistic = np.dtype(np.float64 if dtype == np.float64 else np.float32)
        assert [(part.shape, part.dtype) for part in result] == [
            (x.shape, dtype),
            ((2, 3, 1, 1), statistic),
            (x.shape, dtype),
        ]

    def test_without_columns_rstd_is_nan(self) -> None:
        empty = np.empty((2, 0), np.float16)
        result = add_rms_norm(empty, empty, empty[0])
        assert np.isnan(result.rstd).all()
        assert result.y.shape == result.x.shape == (2, 0)

    @pytest.mark.parametrize(
        ("x2", "gamma", "message"),
        [
            (np.ones((2, 4)), np.ones(3), "x2 has the shape (2, 4); it must be (2, 3)"),
            (np.ones((2, 3)), np.ones(4), "the shape of gamma is (4,)"),
        ],
    )
    def test_a_shape_that_does_not_fit_is_named(self, x2: Any, gamma: Any, message: str) -> None:
        with pytest.raises(ValueError, match=re.escape(message)):
            add_rms_norm(np.ones((2, 3)), x2, gamma)


class TestItsVariants:
    @pytest.mark.parametrize("family", [*ONCE, *ROUNDING])
    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_in_place_the_norm_replaces_the_first_summand_and_the_sum_the_second(
        self, dtype: Any, family: str | None
    ) -> None:
        operands = arrays(SENSITIVE, dtype)
        y, rstd, x = add_rms_norm(*operands, family=family)
        result = inplace_add_rms_norm(*operands, family=family)
        for actual, expected in ((result.x1, y), (result.x2, x), (result.rstd, rstd)):
            assert actual.tolist() == expected.tolist()

    @pytest.mark.parametrize("family", ROUNDING)
    def test_a_cast_of_what_was_rounded(self, family: str) -> None:
        result = add_rms_norm_cast(*arrays(SENSITIVE, np.float16), family=family)
        assert result.y1.dtype == np.float32
        assert result.y1.tolist() == f32([[0.484375, -0.27636719, 0.73193359, 1.2900391]]).tolist()
        assert result.y2.tolist() == result.y1.tolist()

    @pytest.mark.parametrize("family", ONCE)
    def test_the_newest_chips_cast_before_they_round(self, family: str | None) -> None:
        result = add_rms_norm_cast(*arrays(SENSITIVE, np.float16), family=family)
        y1 = [[0.48410514, -0.27641773, 0.73191041, 1.2900994]]
        assert np.allclose(result.y1, y1, rtol=2e-7)
        assert result.y2.tolist() == result.y1.astype(np.float16).tolist()
        assert result.x.tolist() == f16([[0.43017578, -0.30004883, 0.54980469, 1.7998047]]).tolist()

    def test_the_gradient_of_a_sum_goes_through_its_norm(self) -> None:
        generator = np.random.default_rng(3)
        x1, x2, dy = generator.normal(1, 2, (3, 4, 5))
        gamma = generator.normal(size=5)

        def loss(x1: oracle.Array) -> float:
            return float((dy * oracle.rms_norm(x1 + x2, gamma, 1e-2)[0]).sum())

        forward = add_rms_norm(x1, x2, gamma, 1e-2)
        dx = rms_norm_grad(dy, forward.x, forward.rstd, gamma).dx
        assert np.allclose(dx, oracle.numeric_gradient(loss, x1), rtol=1e-7, atol=1e-8)


class TestAddRmsNormDynamicQuant:
    @pytest.mark.parametrize(
        ("smooth", "y1"), [(None, [42, 85, 21, 127]), ([1, 0.5, 2, 1], [42, 42, 42, 127])]
    )
    def test_worked_example(self, smooth: Any, y1: list[int]) -> None:
        result = add_rms_norm_dynamic_quant(*arrays(PLAIN, np.float32), smooth)
        assert result.y1.tolist() == [y1]
        assert result.y1.dtype == np.int8
        assert np.allclose(result.scale1, [0.013638195], rtol=2e-7)
        assert result.y2 is None
        assert result.scale2 is None

    def test_two_smooth_scales_give_two_results(self) -> None:
        ones, smooth = f32([1, 1, 1, 1]), f32([1, 0.5, 2, 1])
        result = add_rms_norm_dynamic_quant(*arrays(PLAIN, np.float32), ones, smooth)
        assert result.y1.tolist() == [[42, 85, 21, 127]]
        assert result.y2 is not None
        assert result.y2.tolist() == [[42, 42, 42, 127]]
        assert np.array_equal(np.asarray(result.scale2), result.scale1)

    def test_the_second_alone_gives_none(self) -> None:
        result = add_rms_norm_dynamic_quant(*arrays(PLAIN, np.float32), None, f32([1, 1, 1, 1]))
        assert result.y2 is None

    def test_the_sum_is_rounded_after_it_was_normalized(self) -> None:
        # 2048 + 1 is 2048 in float16; the second element is 127 / 2049 of the first, times 100.
        result = add_rms_norm_dynamic_quant(
            f16([[2048, 0]]), f16([[1, 100]]), f32([1, 1]), epsilon=0
        )
        assert result.x.tolist() == [[2048, 100]]
        rms = np.sqrt((2049**2 + 100**2) / 2)
        assert result.scale1[0] == pytest.approx(2049 / rms / 127, rel=3e-7)

    def test_every_row_has_a_scale(self) -> None:
        x = np.random.default_rng(3).normal(size=(2, 3, 8)).astype(ml_dtypes.bfloat16)
        result = add_rms_norm_dynamic_quant(x, 0 * x, np.ones(8, np.float32))
        assert result.scale1.shape == (2, 3)
        assert (np.abs(result.y1).max(axis=2) == 127).all()
        expected = rms_norm(x.astype(np.float64), np.ones(8)).y
        assert np.allclose(result.y1 * result.scale1[..., None], expected, atol=result.scale1.max())

    def test_a_row_of_zeros_is_zero(self) -> None:
        zeros = np.zeros((1, 2), np.float32)
        result = add_rms_norm_dynamic_quant(zeros, zeros, f32([1, 1]))
        assert result.y1.tolist() == [[0, 0]]


class TestAddRmsNormQuant:
    def test_worked_example(self) -> None:
        scales, shifts = f32([0.1, 0.01, 0.1, 0.05]), np.array([0, 5, -3, 1], np.int32)
        result = add_rms_norm_quant(*arrays(PLAIN, np.float32), scales, zero_points1=shifts)
        assert result.y1.dtype == np.int8
        assert result.y1.tolist() == [[6, 120, 0, 36]]
        assert result.y2 is None
        assert result.x.tolist() == [[2, 2, 2, 6]]

    def test_official_sample(self) -> None:
        zeros = np.zeros((64, 2), np.float16)
        result = add_rms_norm_quant(
            zeros, zeros, zeros[0], np.ones(2, "f"), zero_points1=np.full(2, 100, np.int32)
        )
        assert (result.y1 == 100).all()
        assert not result.x.any()

    def test_each_scale_has_its_zero_points(self) -> None:
        ones = np.ones((1, 2), np.float32)
        result = add_rms_norm_quant(
            ones, 0 * ones, f32([1, 2]), f32([0.5, 0.5]), f32([2, 2]), None, f32([10, 20]), 0
        )
        assert result.y1.tolist() == [[2, 4]]
        assert result.y2 is not None
        assert result.y2.tolist() == [[10, 21]]  # 10.5 goes to the even neighbour

    def test_the_zero_point_is_added_before_ties_go_to_even(self) -> None:
        x, zero = f32([[1, 1]]), np.zeros((1, 2), np.float32)
        result = add_rms_norm_quant(x, zero, f32([0.5, 1.5]), x[0], None, f32([1, 1]), epsilon=0)
        assert result.y1.tolist() == [[2, 2]]  # 1.5 and 2.5

    def test_scales_multiply_instead(self) -> None:
        x, zero = f32([[1, 1]]), np.zeros((1, 2), np.float32)
        result = add_rms_norm_quant(x, zero, x[0], f32([8, 16]), epsilon=0, div_mode=False)
        assert result.y1.tolist() == [[8, 16]]

    def test_results_stay_in_range_and_nan_is_zero(self) -> None:
        x, zero = f32([[1, 1, 1, 1]]), np.zeros((1, 4), np.float32)
        gamma = f32([1000, -1000, np.nan, np.inf])
        assert add_rms_norm_quant(x, zero, gamma, x[0]).y1.tolist() == [[127, -128, 0, 127]]

    @pytest.mark.parametrize(
        ("family", "y1"),
        [(family, [92, -28, 84, 36]) for family in ROUNDING]
        + [(family, [91, -29, 83, 37]) for family in ONCE],
    )
    def test_float16_is_rounded_before_it_is_quantized(
        self, family: str | None, y1: list[int]
    ) -> None:
        # y is [0.484375, -0.27636719, 0.73193359, 1.2900391] where float16 is rounded after every
        # step, else [0.48410514, -0.27641773, 0.73191041, 1.2900994].
        factors, shifts = f32([2048, 16384, 32768, 16384]), f32([-900, 4500, -23900, -21100])
        operands = arrays(SENSITIVE, np.float16)
        result = add_rms_norm_quant(*operands, 1 / factors, zero_points1=shifts, family=family)
        assert result.y1.tolist() == [y1]

    def test_bfloat16_is_not_rounded_before_it_is_quantized(self) -> None:
        x1, x2, gamma = arrays(SENSITIVE, ml_dtypes.bfloat16)
        scales, shifts = np.full(4, 1 / 1000), f64([-450, 300, -700, -1250])
        x = (x1.astype(np.float32) + x2.astype(np.float32)).astype(ml_dtypes.bfloat16)
        y = rms_norm(x.astype(np.float64), gamma.astype(np.float64)).y
        actual = add_rms_norm_quant(x1, x2, gamma, scales, zero_points1=shifts, family="910b").y1
        assert actual.tolist() == np.rint(y * 1000 + shifts).tolist()
        narrow = add_rms_norm(x1, x2, gamma, family="910b").y.astype(np.float64)
        assert actual.tolist() != np.rint(narrow * 1000 + shifts).tolist()

    def test_scales_have_the_shape_of_gamma(self) -> None:
        x = np.ones((2, 3), np.float32)
        with pytest.raises(ValueError, match=re.escape("scales2 has the shape (1,)")):
            add_rms_norm_quant(x, x, x[0], x[0], x[0, :1])
