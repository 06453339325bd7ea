# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings

from pyaclnn.reference.ascendc import LayerNormConfig, LayerNormPara, layer_norm, layer_norm_rstd

from .samples import Sample, f32, samples
from .textbook import row_norm, row_statistics, rows


def test_the_document_s_tensor_gives_the_document_s_rows() -> None:
    # The printed numbers are those of the other form; this one differs in its third output only.
    ramp = np.arange(8, dtype=np.float32)
    result = layer_norm_rstd(np.arange(64, dtype="f").reshape(8, 8), ramp, ramp, 1e-4)
    row = [0, -0.09107912, 0.69070506, 2.3453526, 4.8728633, 8.273237, 12.546474, 17.692575]
    assert np.allclose(result.output, [row] * 8, rtol=2e-6)
    assert result.output_mean.tolist() == [3.5 + 8 * k for k in range(8)]
    assert np.allclose(result.output_rstd, 5.2501**-0.5, rtol=1e-6)


def test_by_hand() -> None:
    x = np.array([[1.0, 5.0]])
    result = layer_norm_rstd(x, np.array([10.0, 100]), np.array([1.0, 2]), 2.25)
    assert np.allclose(result.output, [[-7, 82]], rtol=1e-15)
    assert result.output_mean.tolist() == [3.0]
    assert result.output_rstd.tolist() == [0.4]


@settings(deadline=None, max_examples=60)
@given(sample=samples())
def test_agrees_with_exact_sums(sample: Sample) -> None:
    x = sample.x.reshape(-1, sample.shape[-1])
    result = layer_norm_rstd(x, sample.gamma, sample.beta, 0.125)
    gamma, beta = rows(sample.gamma)[0], rows(sample.beta)[0]
    assert sample.close(result.output, [row_norm(row, gamma, beta, 0.125) for row in rows(x)])
    statistics = [row_statistics(row) for row in rows(x)]
    assert np.allclose(result.output_mean, [mean for mean, _ in statistics], rtol=1e-6, atol=1e-6)
    exact = [(variance + 0.125) ** -0.5 for _, variance in statistics]
    assert np.allclose(result.output_rstd, exact, rtol=1e-6)


@settings(deadline=None, max_examples=30)
@given(sample=samples())
def test_the_two_forms_agree(sample: Sample) -> None:
    x = sample.x.reshape(-1, sample.shape[-1])
    first = layer_norm(sample.x, sample.gamma, sample.beta, 0.125)
    second = layer_norm_rstd(x, sample.gamma, sample.beta, 0.125)
    assert sample.close(second.output.reshape(sample.shape), first.output)


@pytest.mark.parametrize(
    ("x_dtype", "weight_dtype", "statistic_dtype"),
    [
        (np.float16, np.float16, np.float32),
        (np.float16, np.float32, np.float32),
        (ml_dtypes.bfloat16, ml_dtypes.bfloat16, np.float32),
        (ml_dtypes.bfloat16, np.float32, np.float32),
        (np.float32, np.float32, np.float32),
        (np.float64, np.float64, np.float64),
    ],
)
def test_data_types(x_dtype: Any, weight_dtype: Any, statistic_dtype: Any) -> None:
    x, weight = np.array([[-1, 1, 3, 5]], x_dtype), np.ones(4, weight_dtype)
    result = layer_norm_rstd(x, weight, weight, 4.0)
    assert result.output.dtype == x_dtype
    assert result.output_mean.dtype == result.output_rstd.dtype == statistic_dtype
    # mean 2, variance 5, deviation 3
    assert np.allclose(result.output.astype("d"), [[0, 2 / 3, 4 / 3, 2]], rtol=4e-3)


class TestConfig:
    x = np.array([[1.0, 5.0]])
    gamma = np.array([10.0, 100.0])
    beta = np.array([1.0, 2.0])

    @pytest.mark.parametrize(
        ("config", "expected"),
        [
            (LayerNormConfig(), [-7, 82]),
            (LayerNormConfig(is_no_beta=True), [-8, 80]),
            (LayerNormConfig(is_no_gamma=True), [0.2, 2.8]),
            (LayerNormConfig(is_no_beta=True, is_no_gamma=True), [-0.8, 0.8]),
        ],
    )
    def test_leaves_out_what_it_says(self, config: LayerNormConfig, expected: list[float]) -> None:
        result = layer_norm_rstd(self.x, self.gamma, self.beta, 2.25, config=config)
        assert np.allclose(result.output, [expected], rtol=1e-15)
        gamma = None if config.is_no_gamma else self.gamma
        beta = None if config.is_no_beta else self.beta
        without = layer_norm_rstd(self.x, gamma, beta, 2.25, config=config)
        assert np.array_equal(without.output, result.output)

    def test_variance_in_place_of_rstd(self) -> None:
        config = LayerNormConfig(is_output_rstd=False)
        result = layer_norm_rstd(self.x, self.gamma, self.beta, 2.25, config=config)
        assert result.output_rstd.tolist() == [4.0]
        assert np.allclose(result.output, [[-7, 82]], rtol=1e-15)


class TestPadding:
    x = f32([[1, 4, -2, 0.5, 8], [3, 3, 1, 7, -6]])
    gamma = f32([1, 2, 3, 4, 5])
    beta = f32([5, 4, 3, 2, 1])
    para = LayerNormPara(a_length=2, r_length=5, r_length_with_padding=8)

    @pytest.mark.parametrize("padded_weights", [False, True])
    def test_is_ignored_and_comes_out_as_zero(self, padded_weights: bool) -> None:
        bare = layer_norm_rstd(self.x, self.gamma, self.beta, 1e-5)
        x = np.pad(self.x, [(0, 0), (0, 3)], constant_values=np.nan)
        extra = (0, 3 if padded_weights else 0)
        gamma, beta = (np.pad(w, extra, constant_values=9) for w in (self.gamma, self.beta))
        result = layer_norm_rstd(x, gamma, beta, 1e-5, self.para)
        assert np.array_equal(result.output[:, :5], bare.output)
        assert not result.output[:, 5:].any()
        assert np.array_equal(result.output_mean, bare.output_mean)
        assert np.array_equal(result.output_rstd, bare.output_rstd)


GOOD: dict[str, Any] = {
    "input_x": np.ones((2, 8), "f"),
    "gamma": np.ones(8, "f"),
    "beta": np.ones(8, "f"),
    "epsilon": 1e-5,
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"input_x": np.ones((1, 2, 8), "f")}, "input_x has the shape (1, 2, 8); it must be [A, R"),
        ({"input_x": np.ones((2, 0), "f")}, "input_x's R axis is 0; it must be at least 1"),
        ({"gamma": None}, "gamma is None; it must be a tensor unless config has is_no_gamma=True"),
        ({"beta": None}, "beta is None; it must be a tensor unless config has is_no_beta=True"),
        ({"gamma": np.ones(9, "f")}, "gamma has the shape (9,); it must be (8,)"),
        (
            {"gamma": np.ones(9, "f"), "para": LayerNormPara(2, 5, 8)},
            "gamma has the shape (9,); it must be (5,) or (8,)",
        ),
        ({"gamma": np.ones(8, "e")}, "gamma has the data type float16; it must be float32"),
        (
            {"input_x": np.ones((2, 8), "e"), "beta": np.ones(8, "e")},
            "beta has the data type float16; it must be gamma's, float32",
        ),
        (
            {"para": LayerNormPara(3, 5, 8)},
            "input_x has the shape (2, 8); it must be (3, 8), para's a_length",
        ),
        ({"para": LayerNormPara(2, 9, 8)}, "para.r_length is 9; it must be at least 1 and at most"),
        ({"config": LayerNormConfig(is_only_output=True)}, "config has is_only_output=True"),
    ],
)
def test_refuses(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        layer_norm_rstd(**{**GOOD, **wrong})
