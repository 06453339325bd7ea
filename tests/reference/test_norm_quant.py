# SPDX-License-Identifier: Apache-2.0
"""Normalizations that give integers, and one that takes them."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.reference import (
    add_layer_norm,
    add_layer_norm_quant,
    add_layer_norm_quant_v2,
    add_rms_norm,
    add_rms_norm_dynamic_quant,
    add_rms_norm_dynamic_quant_v2,
    add_rms_norm_quant,
    add_rms_norm_quant_v2,
    group_norm_silu,
    group_norm_silu_quant,
    layer_norm_quant,
    quantized_batch_norm,
    rms_norm_dynamic_quant,
    rms_norm_grad_quant,
    rms_norm_quant,
    rms_norm_quant_v3,
)

from .problems import f16, f32

X, GAMMA, BETA = f32([[1, 2, 3, 4]]), f32([1, 2, 0.5, 1]), f32([0, 0, 1, 0])
X2 = f32([[1, 0, -1, 2]])


class TestRmsNorm:
    @pytest.mark.parametrize("wrap", [False, True])
    def test_worked_example(self, *, wrap: bool) -> None:
        gamma, beta = (GAMMA[None], BETA[None]) if wrap else (GAMMA, BETA)
        y = rms_norm_quant(X, gamma, beta, f32([0.02]), f32([3]))
        assert y.tolist() == [[21, 76, 80, 76]]
        assert y.dtype == np.int8

    def test_worked_example_by_row(self) -> None:
        result = rms_norm_dynamic_quant(X, GAMMA, beta=BETA)
        assert result.y.tolist() == [[30, 120, 127, 120]]
        assert np.allclose(result.scale, [0.012186792], rtol=2e-7)

    def test_worked_example_of_the_gradient(self) -> None:
        dy = f32([[1, -1, 0.5, 2]])
        operands = dy, X, f32([0.36514835]), GAMMA
        result = rms_norm_grad_quant(*operands, f32([0.01]), f32([1]))
        assert result.dx.tolist() == [[31, -86, -11, 46]]
        assert np.allclose(result.dgamma, [0.365148, -0.730297, 0.547723, 2.92118], rtol=3e-6)
        factor = rms_norm_grad_quant(*operands, f32([100]), f32([1]), div_mode=False)
        assert factor.dx.tolist() == result.dx.tolist()
        assert rms_norm_grad_quant(*operands, f32([0.01])).dx.tolist() == [[30, -87, -12, 45]]

    def test_the_gradient_is_not_rounded_before(self) -> None:
        dy, rstd = f16([[1, -1, 0.5, 2]]), f32([0.36514835])
        operands = dy, X.astype(np.float16), rstd, GAMMA
        wide = rms_norm_grad_quant(dy.astype(np.float32), X, rstd, GAMMA, f32([1e-2]))
        assert rms_norm_grad_quant(*operands, f32([1e-2])).dx.tolist() == wide.dx.tolist()

    def test_what_may_be_left_out(self) -> None:
        result = rms_norm_quant_v3(X, GAMMA, f32([0.02]))
        assert result.y.tolist() == [[18, 73, 27, 73]]
        assert result.rstd is None
        result = rms_norm_quant_v3(X, GAMMA, f32([50]), div_mode=False, output_rstd=True)
        assert result.y.tolist() == [[18, 73, 27, 73]]
        assert np.allclose(np.asarray(result.rstd), [[0.36514837]], rtol=1e-7)

    def test_no_number_is_zero(self) -> None:
        x = f32([[np.nan, 1], [1, 1]])
        one = f32([1, 1])
        y = rms_norm_quant(x, one, one, f32([0.1]), f32([0]))
        assert y.tolist() == [[0, 0], [20, 20]]
        assert not rms_norm_quant(x, one, one, f32([np.nan]), f32([0])).any()


class TestFourBits:
    @pytest.mark.parametrize(
        ("dtype", "y"),
        [
            (np.int8, [[-3, 5, 8, 0, -9, 1, 2, 7]]),
            (ml_dtypes.int4, [[-3, 5, 7, 0, -8, 1, 2, 7]]),
            # The first one lowest: -3 is 0xD, -8 is 0x8.
            (np.int32, [[0x7218075D]]),
        ],
    )
    def test_integers_are_cut_and_packed(self, dtype: Any, y: list[list[int]]) -> None:
        beta = f32([-3, 5, 8, 0, -9, 1, 2, 7])
        x, zero = np.ones((1, 8), np.float32), np.zeros(8, np.float32)
        actual = rms_norm_quant(x, zero, beta, f32([1]), f32([0]), dtype=dtype)
        assert actual.dtype == dtype
        assert actual.tolist() == y

    def test_rows_have_shapes_of_their_own(self) -> None:
        x = np.random.default_rng(1).normal(size=(2, 3, 16)).astype(np.float16)
        operands = x, x, np.ones(16, np.float16)
        small = add_rms_norm_dynamic_quant_v2(*operands, dtype=ml_dtypes.int4)
        packed = add_rms_norm_dynamic_quant_v2(*operands, dtype=np.int32)
        assert small.y1 is not None
        assert packed.y1 is not None
        assert packed.y1.shape == (2, 3, 2)
        eights = small.y1.astype(np.int64).reshape(2, 3, 2, 8)
        words = ((eights & 0xF) << (4 * np.arange(8))).sum(axis=-1)
        assert (packed.y1.astype(np.int64) & 0xFFFFFFFF).tolist() == words.tolist()
        assert np.abs(small.y1.astype(int)).max(axis=2).tolist() == [[7] * 3] * 2

    def test_worked_example_by_row(self) -> None:
        result = add_rms_norm_dynamic_quant_v2(X, X2, GAMMA, dtype=ml_dtypes.int4)
        assert result.y1 is not None
        assert result.y1.tolist() == [[2, 5, 1, 7]]
        assert np.allclose(np.asarray(result.scale1), [0.24743582], rtol=2e-7)

    def test_only_whole_words_are_packed(self) -> None:
        with pytest.raises(ValueError, match="must be a multiple of 8"):
            rms_norm_quant(X, GAMMA, BETA, f32([1]), f32([0]), dtype=np.int32)

    def test_there_are_no_other_integers(self) -> None:
        with pytest.raises(TypeError, match="must be int8, int4 or int32"):
            rms_norm_quant(X, GAMMA, BETA, f32([1]), f32([0]), dtype=np.int16)


class TestAddRmsNormV2:
    @pytest.mark.parametrize("family", [None, "950", "910b", "910_93", "310p"])
    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32], ids=str)
    def test_without_what_is_new_it_is_the_first(self, dtype: Any, family: str | None) -> None:
        generator = np.random.default_rng(4)
        x1, x2 = generator.normal(size=(2, 5, 32)).astype(dtype)
        gamma, scales = generator.uniform(0.5, 2, (2, 32)).astype(dtype)
        operands = x1, x2, gamma, 0.01 * scales, scales, f32(range(32)), None
        first = add_rms_norm_quant(*operands, family=family)
        second = add_rms_norm_quant_v2(*operands, family=family)
        for one, other in zip(first, second[:3], strict=True):
            assert one is not None
            assert other is not None
            assert one.tolist() == other.tolist()
        y = add_rms_norm(x1, x2, gamma).y.astype(np.float64)
        assert np.allclose(second.rms_norm.astype(np.float64), y, rtol=2e-2)
        if dtype is np.float16:
            golden = add_rms_norm(x1, x2, gamma, family=family).y
            assert second.rms_norm.tolist() == golden.tolist()

    def test_the_shift_is_not_in_the_norm(self) -> None:
        result = add_rms_norm_quant_v2(X, X2, GAMMA, f32([0.01]), beta=BETA)
        assert result.y1.tolist() == [[58, 115, 127, 127]]
        assert np.allclose(
            result.rms_norm, [[0.57735026, 1.1547005, 0.28867513, 1.7320508]], rtol=2e-7
        )

    def test_with_one_scale_float16_is_not_rounded_in_between(self) -> None:
        operands = [
            f16(values)
            for values in (
                [[0.1, 0.2, 0.3, 0.7]],
                [[0.33, -0.5, 0.25, 1.1]],
                [[1.1, 0.9, 1.3, 0.7]],
            )
        ]
        arguments = operands[0], operands[1], operands[2], f32([2**-14]), None, f32([-11920])
        old = add_rms_norm_quant_v2(*arguments, family="910b")
        # 0.73193359 in float16, 0.7319 something in float32: 11992 against 11991.
        exact = operands[0].astype(np.float64) + operands[1]
        exact = exact.astype(np.float16).astype(np.float64)
        exact = exact / np.sqrt((exact**2).mean() + 1e-6) * operands[2]
        assert old.y1[0, 2] == np.rint(exact[0, 2] * 2**14 - 11920)
        assert old.y1[0, 2] != 11992 - 11920

    @pytest.mark.parametrize(
        ("mask", "smooth", "there"),
        [
            (None, 0, (True, False)),
            (None, 1, (True, False)),
            (None, 2, (True, True)),
            ((True, True), 0, (True, True)),
            ((False, True), 0, (False, True)),
            ((True, False), 1, (True, False)),
        ],
    )
    def test_the_mask_decides_before_the_smooth_scales_do(
        self, mask: Any, smooth: int, there: tuple[bool, bool]
    ) -> None:
        scales = [f32([1, 1, 1, 1]) if index < smooth else None for index in range(2)]
        result = add_rms_norm_dynamic_quant_v2(X, X2, GAMMA, scales[0], scales[1], output_mask=mask)
        golden = add_rms_norm_dynamic_quant(X, X2, GAMMA)
        pairs = (result.y1, result.scale1), (result.y2, result.scale2)
        for (y, scale), wanted in zip(pairs, there, strict=True):
            assert (y is not None) == (scale is not None) == wanted
            assert y is None or y.tolist() == golden.y1.tolist()
            assert scale is None or scale.tolist() == golden.scale1.tolist()

    def test_the_shift_comes_before_the_smooth_scale(self) -> None:
        result = add_rms_norm_dynamic_quant_v2(X, X2, GAMMA, f32([0, 0, 2, 1]), beta=BETA)
        y = [0, 0, 2 * 1.28867513, 1.7320508]
        assert np.asarray(result.y1).tolist() == [np.rint(127 * np.array(y) / y[2]).tolist()]


class TestLayerNorm:
    @pytest.mark.parametrize("wrap", [False, True])
    def test_worked_example(self, *, wrap: bool) -> None:
        gamma, beta = (GAMMA[None], BETA[None]) if wrap else (GAMMA, BETA)
        res = layer_norm_quant(X, gamma, beta, f32([0.02]), np.array([3], np.int8))
        assert res.tolist() == [[-64, -42, 64, 70]]
        assert res.dtype == np.int8

    def test_worked_example_of_a_sum(self) -> None:
        operands = X, X2, GAMMA, f32([0, 1, 0, -1]), f32([0.5, 0.5, 0, 0])
        result = add_layer_norm_quant(*operands, quant_mode="dynamic")
        assert result.y1.tolist() == [[-83, 11, -69, 127]]
        assert np.allclose(np.asarray(result.out_scales1), [0.00565282], rtol=2e-6)
        assert result.y2 is None
        assert result.x is None
        assert result.out_scales2 is None
        both = add_layer_norm_quant_v2(
            *operands, f32([1] * 4), f32([-2] * 4), quant_mode="dynamic", additional_output=True
        )
        assert both.y1.tolist() == result.y1.tolist()
        assert np.asarray(both.y2).tolist() == (-result.y1).tolist()
        assert np.allclose(np.asarray(both.out_scales2), [2 * 0.00565282], rtol=2e-6)
        golden = add_layer_norm(*operands, additional_output=True)
        assert both.layernorm_res.tolist() == golden.y.tolist()
        assert np.asarray(both.x).tolist() == np.asarray(golden.x).tolist()

    @pytest.mark.parametrize("scale", [f32([0.02] * 4), f32([0.02])])
    @pytest.mark.parametrize("div_mode", [True, False])
    def test_static_scales_divide_or_multiply(self, scale: Any, *, div_mode: bool) -> None:
        result = add_layer_norm_quant(
            X, 0 * X, GAMMA, BETA, None, scale if div_mode else 1 / scale, scale * 100,
            f32([3] * 4), div_mode=div_mode,
        )  # fmt: skip
        assert result.y1.tolist() == [[-64, -42, 64, 70]]
        step = 2 if div_mode else 0.5
        y = [-1.34164, -0.894424, 1.22361, 1.34164]
        assert np.asarray(result.y2).tolist() == [np.rint(np.array(y) / step).tolist()]
        assert result.out_scales1 is None

    def test_one_scale_goes_with_a_wrapped_gamma(self) -> None:
        x = np.stack([X, 2 * X])
        parameters = GAMMA[None], BETA[None], BETA[None]
        result = add_layer_norm_quant_v2(x, 0 * x, *parameters, f32([0.02]))
        plain = add_layer_norm_quant_v2(x, 0 * x, GAMMA, BETA, BETA, f32([0.02]))
        assert result.y1.tolist() == plain.y1.tolist()

    def test_there_are_two_modes(self) -> None:
        with pytest.raises(ValueError, match="quant_mode is 'fixed'"):
            add_layer_norm_quant(X, X2, GAMMA, BETA, quant_mode="fixed")


class TestGroupNorm:
    @pytest.mark.parametrize("scale", [f32([0.1]), f32([0.1] * 4)])
    def test_worked_example(self, scale: Any) -> None:
        x = f32([[[1, 2], [3, 4], [2, 0], [-2, 0]]])
        parameters = f32([1, 2, 1, 0.5]), f32([0, 0.5, 0, -0.5])
        result = group_norm_silu_quant(x, *parameters, scale, 2)
        assert result.out.tolist() == [[[-3, -2], [11, 31], [11, 0], [-3, -2]]]
        golden = group_norm_silu(x, *parameters, 2)
        assert result.mean.tolist() == golden.mean.tolist()
        assert result.rstd.tolist() == golden.rstd.tolist()

    def test_a_wrong_scale_is_named(self) -> None:
        x = np.ones((1, 4), np.float16)
        with pytest.raises(ValueError, match=re.escape("quant_scale has the shape (2,)")):
            group_norm_silu_quant(x, None, None, f32([1, 1]), 2)


class TestBatchNorm:
    @pytest.mark.parametrize("dtype", [np.int8, np.int32])
    def test_worked_example(self, dtype: Any) -> None:
        x = np.array([10, -5, 0, 20], dtype).reshape(1, 1, 2, 2)
        actual = quantized_batch_norm(x, f32([1]), f32([4]), 0.5, 2, 0.25, 3, f32([2]), f32([0.5]))
        assert actual.dtype == dtype
        assert actual.ravel().tolist() == [17, -13, -3, 37]

    @pytest.mark.parametrize(("dtype", "limits"), [(np.int8, [-128, 127]), (np.uint8, [0, 255])])
    def test_the_output_stays_in_its_type(self, dtype: Any, limits: list[int]) -> None:
        x = np.array([[-100], [100]], np.int8)
        actual = quantized_batch_norm(x, f32([0]), f32([1]), 1, 0, 0.01, 0, dtype=dtype)
        assert actual.ravel().tolist() == limits

    def test_the_largest_integers_do_not_turn_over(self) -> None:
        x = np.array([[-(2**31)], [2**31 - 1]], np.int32)
        actual = quantized_batch_norm(x, f32([0]), f32([1]), 4, 0, 1, 0)
        assert actual.ravel().tolist() == [-(2**31), 2**31 - 1]

    def test_other_types_are_refused(self) -> None:
        with pytest.raises(TypeError, match="input has the data type int16"):
            quantized_batch_norm(np.ones((1, 1), np.int16), f32([0]), f32([1]), 1, 0, 1, 0)
        x = np.ones((1, 1), np.int8)
        with pytest.raises(TypeError, match="the output has the data type float32"):
            quantized_batch_norm(x, f32([0]), f32([1]), 1, 0, 1, 0, dtype=np.float32)
