# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings

from pyaclnn import reference
from pyaclnn.reference.ascendc import layer_norm

from .samples import Sample, f32, samples
from .textbook import row_norm, row_statistics, rows


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("float16", 1e-3)])
def test_printed_numbers_of_the_document(dtype: str, tolerance: float) -> None:
    ramp = np.arange(8, dtype=dtype)
    x = np.arange(64, dtype=dtype).reshape(1, 8, 8)
    result = layer_norm(x, ramp, ramp, 1e-4)
    row = [0, -0.09107912, 0.69070506, 2.3453526, 4.8728633, 8.273237, 12.546474, 17.692575]
    assert np.allclose(result.output.astype("d"), [[row] * 8], rtol=tolerance)
    assert result.output_mean.tolist() == [[3.5 + 8 * k for k in range(8)]]
    assert result.output_variance.tolist() == [[5.25] * 8]
    assert {array.dtype.name for array in result} == {dtype}


def test_by_hand() -> None:
    # mean 3, variance 4; the epsilon makes the deviation 2.5
    result = layer_norm(np.array([[[1.0, 5.0]]]), np.array([10.0, 100]), np.array([1.0, 2]), 2.25)
    assert np.allclose(result.output, [[[-7, 82]]], rtol=1e-15)
    assert result.output_mean.tolist() == [[3.0]]
    assert result.output_variance.tolist() == [[4.0]]  # without the epsilon


@settings(deadline=None, max_examples=60)
@given(sample=samples())
def test_agrees_with_exact_sums(sample: Sample) -> None:
    result = layer_norm(sample.x, sample.gamma, sample.beta, 0.125)
    gamma, beta = rows(sample.gamma)[0], rows(sample.beta)[0]
    every = rows(sample.x)
    assert sample.close(result.output, [row_norm(row, gamma, beta, 0.125) for row in every])
    assert sample.close(result.output_mean, [row_statistics(row)[0] for row in every])
    assert sample.close(result.output_variance, [row_statistics(row)[1] for row in every])


@settings(deadline=None, max_examples=30)
@given(sample=samples())
def test_agrees_with_the_operator_of_the_host_interface(sample: Sample) -> None:
    h = sample.shape[-1]
    operator = reference.layer_norm(sample.x, [h], sample.gamma, sample.beta, eps=0.125)
    result = layer_norm(sample.x, sample.gamma, sample.beta, 0.125)
    assert sample.close(result.output, operator.out)
    assert sample.close(result.output_variance, operator.rstd.astype("d") ** -2.0 - 0.125)


class TestPadding:
    """Rows of 5 floats are stored as 8, padded with zeros."""

    x = f32([[[1, 4, -2, 0.5, 8], [3, 3, 1, 7, -6]]])
    gamma = f32([1, 2, 3, 4, 5])
    beta = f32([5, 4, 3, 2, 1])

    def padded(self, array: Any, fill: float = 0) -> Any:
        widths = [(0, 0)] * (array.ndim - 1) + [(0, 3)]
        return np.pad(array, widths, constant_values=fill)

    def test_changes_nothing_about_the_data(self) -> None:
        bare = layer_norm(self.x, self.gamma, self.beta, 1e-5)
        x, gamma, beta = map(self.padded, (self.x, self.gamma, self.beta))
        result = layer_norm(x, gamma, beta, 1e-5, origin_h=5)
        assert result.output.shape == (1, 2, 8)
        assert np.array_equal(result.output[..., :5], bare.output)
        assert np.array_equal(result.output_mean, bare.output_mean)
        assert np.array_equal(result.output_variance, bare.output_variance)

    def test_of_zeros_stays_zero(self) -> None:
        x, gamma, beta = map(self.padded, (self.x, self.gamma, self.beta))
        assert not layer_norm(x, gamma, beta, 1e-5, origin_h=5).output[..., 5:].any()

    def test_goes_through_the_elementwise_part(self) -> None:
        gamma, beta = self.padded(self.gamma), self.padded(self.beta, 7)
        result = layer_norm(self.padded(self.x), gamma, beta, 1e-5, origin_h=5)
        assert (result.output[..., 5:] == 7).all()


class TestHalf:
    def test_accumulates_in_float(self) -> None:
        # In half, 2048 + 1 is 2048.
        x = np.ones((1, 1, 4096), np.float16)
        assert layer_norm(x, x[0, 0], x[0, 0], 1.0).output_mean.item() == 1

    def test_a_square_beyond_half_does_not_overflow_the_output(self) -> None:
        x = np.array([[[-1000, 1000] * 8]], np.float16)
        result = layer_norm(x, np.ones(16, "e"), np.zeros(16, "e"), 0.0)
        assert result.output.ravel().tolist() == [-1, 1] * 8
        assert np.isinf(result.output_variance).all()  # a million is no half

    def test_the_epsilon_is_a_half(self) -> None:
        # 1e-8 is zero in half, so a row of equal numbers has nothing to be divided by.
        x = np.ones((1, 1, 16), np.float16)
        assert np.isnan(layer_norm(x, x[0, 0], x[0, 0], 1e-8).output).all()
        wide = x.astype(np.float32)
        assert np.isfinite(layer_norm(wide, wide[0, 0], wide[0, 0], 1e-8).output).all()


def test_leaves_its_operands_alone() -> None:
    x, gamma, beta = np.ones((1, 2, 8), "f"), np.ones(8, "f"), np.ones(8, "f")
    result = layer_norm(x, gamma, beta, 1.0)
    result.output[...] = 9
    assert (x == 1).all()
    assert (gamma == 1).all()


GOOD: dict[str, Any] = {
    "input_x": np.ones((2, 3, 8), "f"),
    "gamma": np.ones(8, "f"),
    "beta": np.ones(8, "f"),
    "epsilon": 1e-5,
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"input_x": np.ones((3, 8), "f")}, "input_x has the shape (3, 8); it must be [B, S, H]"),
        (
            {"input_x": np.ones((2, 3, 8), ml_dtypes.bfloat16)},
            "input_x has the data type bfloat16; it must be float16 or float32 or float64",
        ),
        ({"input_x": np.ones((2, 3, 8), int)}, "input_x has the data type int64"),
        ({"gamma": np.ones(7, "f")}, "gamma has the shape (7,); it must be (8,)"),
        ({"gamma": np.ones(8)}, "gamma has the data type float64; it must be float32"),
        ({"beta": np.ones((1, 8), "f")}, "beta has the shape (1, 8); it must be (8,)"),
        ({"beta": np.ones(8, "e")}, "beta has the data type float16; it must be float32"),
        ({"epsilon": [1e-5]}, "epsilon has the shape (1,); it must be one number"),
        ({"origin_h": 9}, "origin_h is 9; it must be at least 1 and at most 8"),
        ({"origin_h": 0}, "origin_h is 0; it must be at least 1"),
    ],
)
def test_refuses(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        layer_norm(**{**GOOD, **wrong})
