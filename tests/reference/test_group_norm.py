# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import (
    group_norm,
    group_norm_backward,
    group_norm_silu,
    group_norm_silu_v2,
    group_norm_swish,
    group_norm_swish_grad,
)

from . import oracle
from .problems import DTYPES, f16, f32

INPUT = [[[1, 2], [3, 4], [2, 0], [-2, 0]]]
WEIGHT, BIAS = [1, 2, 1, 0.5], [0, 0.5, 0, -0.5]


class TestKnownNumbers:
    def test_worked_example(self) -> None:
        result = group_norm(f32(INPUT), 2, f32(WEIGHT), f32(BIAS), eps=1e-5)
        assert result.mean.tolist() == [[2.5, 0]]
        assert np.allclose(result.rstd, [[0.89442366, 0.70710498]], rtol=1e-7)
        out = [[-1.34164, -0.447212], [1.39442, 3.18327], [1.41421, 0], [-1.2071, -0.5]]
        assert np.allclose(result.out, [out], rtol=1e-5)

    def test_official_sample(self) -> None:
        x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
        two = f32([2, 2, 2])
        result = group_norm(x, 1, two, two)
        assert result.mean.tolist() == [[6.5], [18.5]]
        assert np.allclose(result.rstd, 0.289683, rtol=1e-5)
        row = result.out.reshape(2, 12)
        assert np.allclose(row[:, :4], [-1.186509, -0.607143, -0.027778, 0.551587], rtol=2e-5)
        assert np.allclose(row[:, -1], 5.186509, rtol=1e-6)

    def test_statistics_come_in_the_type_of_the_input(self) -> None:
        result = group_norm(f16(INPUT), 2)
        assert result.mean.dtype == result.rstd.dtype == np.float16
        assert result.rstd.tolist() == f16([[0.89442366, 0.70710498]]).tolist()

    def test_a_910_forms_rstd_of_a_float16_variance(self) -> None:
        x = f16([[[0.005, -0.005]]])
        ideal, actual = group_norm(x, 1), group_norm(x, 1, family="910")
        variance = x[0, 0, 0].astype(np.float64) ** 2
        assert ideal.rstd[0, 0] == np.float16((variance + 1e-5) ** -0.5)
        sum_of_both = np.float16(variance) + np.float16(1e-5)
        assert actual.rstd[0, 0] == np.float16(np.float64(sum_of_both) ** -0.5)
        assert actual.rstd[0, 0] != ideal.rstd[0, 0]
        assert actual.out.tolist() == ideal.out.tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "groups"),
    [((3, 6), 2), ((2, 4, 5), 4), ((2, 6, 3, 2), 1), ((1, 2, 1, 3, 2, 2, 1, 2), 2)],
)
def test_agrees_with_the_closed_form(dtype: Any, shape: tuple[int, ...], groups: int) -> None:
    generator = np.random.default_rng(5)
    x = generator.normal(3, 2, shape).astype(dtype)
    weight, bias = generator.normal(size=(2, shape[1])).astype(dtype)
    result = group_norm(x, groups, weight, bias, eps=1e-2)
    expected = np.empty(shape)
    for sample, channel in np.ndindex(*shape[:2]):
        group = channel // (shape[1] // groups)
        members = slice(group * (shape[1] // groups), (group + 1) * (shape[1] // groups))
        values = x[sample, members].astype(np.float64)
        expected[sample, channel] = (x[sample, channel] - values.mean()) / np.sqrt(
            (values**2).mean() - values.mean() ** 2 + 1e-2
        ) * np.float64(weight[channel]) + np.float64(bias[channel])
        verdict = judge(result.mean[sample, group], np.asarray(values.mean()))
        assert verdict.passed, verdict
    verdict = judge(result.out, expected)
    assert verdict.passed, verdict
    assert result.mean.shape == result.rstd.shape == (shape[0], groups)
    assert result.mean.dtype == result.rstd.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("affine", [True, False])
def test_agrees_with_torch(dtype: Any, torch: Any, *, affine: bool) -> None:
    generator = np.random.default_rng(6)
    x = generator.normal(1, 2, (3, 6, 4, 5)).astype(dtype)
    weight, bias = generator.normal(size=(2, 6)).astype(dtype) if affine else (None, None)
    tensors = [
        None if array is None else torch.tensor(array.astype(np.float64))
        for array in (x, weight, bias)
    ]
    golden = torch.native_group_norm(*tensors, 3, 6, 20, 2, 1e-3)
    for actual, expected in zip(group_norm(x, 2, weight, bias, 1e-3), golden, strict=True):
        verdict = judge(actual, expected.numpy())
        assert verdict.passed, verdict


@pytest.mark.parametrize("shape", [(2, 4, 0), (0, 4, 3), (2, 0, 3)], ids=str)
def test_without_elements_means_are_zero_and_deviations_nan(shape: tuple[int, ...]) -> None:
    result = group_norm(np.empty(shape, np.float16), 2)
    assert result.out.shape == shape
    assert result.mean.shape == result.rstd.shape == (shape[0], 2)
    assert not result.mean.any()
    assert np.isnan(result.rstd).all()


class TestArguments:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"input": np.ones(4)}, "input has the shape (4,); it must have two axes"),
            ({"num_groups": 3}, "num_groups is 3; it must be at least 1 and divide the 4 channels"),
            ({"num_groups": 0}, "num_groups is 0"),
            ({"weight": np.ones(2)}, "weight has the shape (2,); it must be (4,)"),
            ({"bias": np.ones((1, 4))}, "bias has the shape (1, 4); it must be (4,)"),
        ],
    )
    def test_a_shape_that_does_not_fit_is_named(
        self, changes: dict[str, Any], message: str
    ) -> None:
        arguments: dict[str, Any] = {"input": f32(INPUT), "num_groups": 2}
        with pytest.raises(ValueError, match=re.escape(message)):
            group_norm(**(arguments | changes))

    def test_the_input_must_be_floating(self) -> None:
        with pytest.raises(TypeError, match="input has the data type int64"):
            group_norm(np.ones((2, 2), np.int64), 1)


DY = [[[1, 0], [-1, 2], [0.5, 1], [1, -1]]]


class TestBackward:
    def test_worked_example(self) -> None:
        forward = group_norm(f32(INPUT), 2)
        grads = group_norm_backward(f32(DY), f32(INPUT), forward.mean, forward.rstd, f32(WEIGHT), 2)
        assert grads.grad_input is not None
        grad_input = [
            [1.16274, -0.357772],
            [-2.77271, 1.96774],
            [0.0883881, 0.441941],
            [0.0883881, -0.618717],
        ]
        assert np.allclose(grads.grad_input, [grad_input], rtol=5e-6)
        grad_weight = [-1.34164, 2.23606, 0.707105, -1.41421]
        assert np.allclose(np.asarray(grads.grad_weight), grad_weight, rtol=5e-6)
        assert np.asarray(grads.grad_bias).tolist() == [1, 1, 1.5, 0]

    def test_official_sample(self) -> None:
        x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
        grads = group_norm_backward(x, x, f32([6.5, 18.5]), f32([0.2896827] * 2), None, 1)
        assert np.abs(np.asarray(grads.grad_input)).max() < 4e-6
        grad_weight = [-75.896867, 2.896827, 155.849293]
        assert np.allclose(np.asarray(grads.grad_weight), grad_weight, rtol=1e-6)
        assert np.asarray(grads.grad_bias).tolist() == [68, 100, 132]

    def test_is_the_derivative_of_the_forward_function(self) -> None:
        generator = np.random.default_rng(3)
        x, dy = generator.normal(1, 2, (2, 2, 4, 3))
        weight, bias = generator.normal(size=(2, 4))

        def loss(x: oracle.Array, weight: oracle.Array, bias: oracle.Array) -> float:
            ones, zeros = np.ones(6), np.zeros(6)
            out = oracle.layer_norm(x.reshape(4, 6), ones, zeros, 1e-2)[0].reshape(x.shape)
            return float((dy * (out * weight[:, None] + bias[:, None])).sum())

        forward = group_norm(x, 2, weight, bias, 1e-2)
        grads = group_norm_backward(dy, x, forward.mean, forward.rstd, weight, 2)
        numeric = (
            oracle.numeric_gradient(lambda at: loss(at, weight, bias), x),
            oracle.numeric_gradient(lambda at: loss(x, at, bias), weight),
            oracle.numeric_gradient(lambda at: loss(x, weight, at), bias),
        )
        for actual, expected in zip(grads, numeric, strict=True):
            assert np.allclose(np.asarray(actual), expected, rtol=1e-7, atol=1e-8)

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_agrees_with_torch(self, dtype: Any, torch: Any) -> None:
        generator = np.random.default_rng(6)
        x, dy = generator.normal(1, 2, (2, 3, 6, 4, 5)).astype(dtype)
        mean, rstd = generator.uniform(0.5, 2, (2, 3, 2)).astype(dtype)
        weight = generator.normal(size=6).astype(dtype)
        tensors = [torch.tensor(a.astype(np.float64)) for a in (dy, x, mean, rstd, weight)]
        golden = torch.ops.aten.native_group_norm_backward(*tensors, 3, 6, 20, 2, [True] * 3)
        grads = group_norm_backward(dy, x, mean, rstd, weight, 2)
        for actual, expected in zip(grads, golden, strict=True):
            assert actual is not None
            assert actual.dtype == dtype
            verdict = judge(actual, expected.numpy())
            assert verdict.passed, verdict

    @pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=str)
    @pytest.mark.parametrize("family", ["910b", "910_93", "910", "950", None])
    def test_ties_of_16_bit_results_go_away_from_zero_on_some(
        self, dtype: Any, family: str | None
    ) -> None:
        # grad_bias is 1 and half a unit, and minus that.
        unit = 2.0 ** (-10 if dtype is np.float16 else -7)
        dy = np.array([[[1, unit / 2], [-1, -unit / 2]]], dtype)
        none = np.zeros((1, 2), dtype)
        grads = group_norm_backward(dy, dy, none, none, None, 2, family=family)
        away = family in ("910b", "910_93")
        expected = [1 + unit, -1 - unit] if away else [1.0, -1.0]
        assert np.asarray(grads.grad_bias).tolist() == expected

    @pytest.mark.parametrize("mask", [(True, False, True), (False, True, False)])
    def test_what_is_masked_off_is_none(self, mask: tuple[bool, bool, bool]) -> None:
        one = np.ones((1, 2), np.float32)
        grads = group_norm_backward(f32(DY), f32(INPUT), one, one, None, 2, output_mask=mask)
        assert tuple(grad is not None for grad in grads) == mask

    def test_without_elements_the_parameters_have_no_gradient(self) -> None:
        x, one = np.empty((1, 4, 0), np.float32), np.ones((1, 2), np.float32)
        grads = group_norm_backward(x, x, one, one, None, 2)
        assert np.asarray(grads.grad_input).shape == (1, 4, 0)
        assert np.asarray(grads.grad_weight).tolist() == [0] * 4
        assert np.asarray(grads.grad_bias).tolist() == [0] * 4

    def test_a_statistic_of_another_size_is_named(self) -> None:
        one = np.ones((1, 2), np.float32)
        with pytest.raises(ValueError, match=re.escape("rstd has the shape (3,), which is 3")):
            group_norm_backward(f32(DY), f32(INPUT), one, np.ones(3), None, 2)


class TestSilu:
    def test_worked_example(self) -> None:
        arguments = f32(INPUT), f32(WEIGHT), f32(BIAS), 2
        result = group_norm_silu(*arguments)
        out = [
            [-0.278042, -0.174423],
            [1.11735, 3.05658],
            [1.13763, 0],
            [-0.277892, -0.18877],
        ]
        assert np.allclose(result.out, [out], rtol=5e-6)
        assert group_norm_silu_v2(*arguments).out.tolist() == result.out.tolist()

    def test_without_the_activation_it_is_the_norm(self) -> None:
        weight, bias = f32(WEIGHT), f32(BIAS)
        result = group_norm_silu_v2(f32(INPUT), weight, bias, 2, activate_silu=False)
        for actual, golden in zip(result, group_norm(f32(INPUT), 2, weight, bias), strict=True):
            assert actual.tolist() == golden.tolist()

    def test_official_sample(self) -> None:
        x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
        two = f32([2, 2, 2])
        row = group_norm_silu(x, two, two, 1).out.reshape(2, 12)
        first = [-0.277505, -0.214146, -0.013696, 0.349984, 0.855016, 1.448429]
        assert np.allclose(row[:, :6], first, rtol=3e-5)
        assert np.allclose(row[:, -1], 5.15767, rtol=1e-6)

    @pytest.mark.parametrize(("family", "dtype"), [("910b", np.float16), ("950", np.float32)])
    def test_statistics_beside_wide_parameters(self, family: str, dtype: Any) -> None:
        result = group_norm_silu(f16(INPUT), f32(WEIGHT), f32(BIAS), 2, family=family)
        assert result.out.dtype == np.float16
        assert result.mean.dtype == result.rstd.dtype == dtype

    def test_the_activation_is_rounded_once(self) -> None:
        x = np.random.default_rng(5).normal(size=(2, 4, 50)).astype(np.float16)
        wide = group_norm_silu(x.astype(np.float64), None, None, 2).out
        assert (group_norm_silu(x, None, None, 2).out == wide.astype(np.float16)).mean() > 0.99

    def test_a_wrong_argument_has_its_own_name(self) -> None:
        with pytest.raises(ValueError, match="group is 3"):
            group_norm_silu(f32(INPUT), None, None, 3)
        with pytest.raises(ValueError, match="gamma has the shape"):
            group_norm_silu(f32(INPUT), f32([1]), None, 2)


class TestSwish:
    def test_worked_example(self) -> None:
        result = group_norm_swish(f32(INPUT), f32(WEIGHT), f32(BIAS), 2, swish_scale=2)
        y = [
            [-0.0858214, -0.12978],
            [1.31365, 3.17781],
            [1.33529, 0],
            [-0.0990979, -0.134471],
        ]
        assert np.allclose(result.y, [y], rtol=5e-6)

    def test_without_the_activation_it_is_the_norm(self) -> None:
        result = group_norm_swish(f32(INPUT), f32(WEIGHT), f32(BIAS), 2, activate_swish=False)
        for actual, golden in zip(
            result, group_norm(f32(INPUT), 2, f32(WEIGHT), f32(BIAS)), strict=True
        ):
            assert actual.tolist() == golden.tolist()

    @pytest.mark.parametrize("dtype", [np.float16, np.float32])
    def test_statistics_have_the_type_of_gamma(self, dtype: Any) -> None:
        result = group_norm_swish(f16(INPUT), np.array(WEIGHT, dtype), np.array(BIAS, dtype), 2)
        assert result.y.dtype == np.float16
        assert result.mean.dtype == result.rstd.dtype == dtype

    def test_worked_example_of_the_gradient(self) -> None:
        forward = group_norm(f32(INPUT), 2)
        grads = group_norm_swish_grad(
            f32(DY), forward.mean, forward.rstd, f32(INPUT), f32(WEIGHT), f32(BIAS), 2
        )
        dx = [
            [0.953615, -0.0162307],
            [-2.82842, 1.89104],
            [0.0268048, 0.195941],
            [0.0268029, -0.249549],
        ]
        assert np.allclose(grads.dx, [dx], rtol=1e-5)
        dgamma, dbeta = np.asarray(grads.dgamma), np.asarray(grads.dbeta)
        assert np.allclose(dgamma, [0.0176816, 2.44526, 0.726138, -0.0230462], rtol=1e-5)
        assert np.allclose(dbeta, [-0.0131791, 1.14039, 1.01346, -0.243743], rtol=1e-5)

    def test_official_sample_of_the_gradient(self) -> None:
        x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
        two = f32([2, 2, 2])
        grads = group_norm_swish_grad(x, two[:2], two[:2], x, two, two, 1)
        first = [634.102, -16.98354, -673.7368, -1330.053]
        assert np.allclose(grads.dx.ravel()[:4], first, rtol=1e-5)
        assert grads.dx[0].ravel()[-1] == pytest.approx(-6579.459, rel=1e-5)
        assert np.allclose(np.asarray(grads.dgamma), [1482.262, 2696.0003, 4424], rtol=1e-6)
        assert np.allclose(np.asarray(grads.dbeta), [67.129398, 100.000056, 132], rtol=1e-6)

    def test_the_gradient_is_the_derivative_of_the_forward_function(self) -> None:
        generator = np.random.default_rng(3)
        x, dy = generator.normal(1, 2, (2, 2, 4, 3))
        gamma, beta = generator.normal(size=(2, 4))

        def loss(x: oracle.Array, gamma: oracle.Array, beta: oracle.Array) -> float:
            xhat = oracle.layer_norm(x.reshape(4, 6), np.ones(6), np.zeros(6), 1e-2)[0]
            z = xhat.reshape(x.shape) * gamma[:, None] + beta[:, None]
            return float((dy * z / (1 + np.exp(-1.5 * z))).sum())

        forward = group_norm_swish(x, gamma, beta, 2, 1e-2)
        grads = group_norm_swish_grad(
            dy, forward.mean, forward.rstd, x, gamma, beta, 2, swish_scale=1.5
        )
        numeric = (
            oracle.numeric_gradient(lambda at: loss(at, gamma, beta), x),
            oracle.numeric_gradient(lambda at: loss(x, at, beta), gamma),
            oracle.numeric_gradient(lambda at: loss(x, gamma, at), beta),
        )
        for actual, expected in zip(grads, numeric, strict=True):
            assert np.allclose(np.asarray(actual), expected, rtol=1e-7, atol=1e-8)

    def test_what_is_not_required_is_none(self) -> None:
        one = np.ones((1, 2), np.float32)
        grads = group_norm_swish_grad(
            f32(DY), one, one, f32(INPUT), f32(WEIGHT), f32(BIAS), 2, 1.0, False, False
        )
        assert grads.dgamma is None
        assert grads.dbeta is None
