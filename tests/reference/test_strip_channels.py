# SPDX-License-Identifier: Apache-2.0
"""Large tensors of channels, strip by strip: moments and results against float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.reference import batch_norm, batch_norm_elemt
from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.fast.channels import StripChannels, channels_of

SHAPES = {
    "samples": (3000, 64),
    "panels of channels": (40, 20_000),
    "channels side by side": (64, 64, 7, 7),
    "channels as rows": (32, 16, 300),
    "as many positions as channels": (4, 64, 8, 8),
    "one channel": (20_000, 1),
    "panels of positions": (2, 3, 200_000),
}
ULPS = {np.float64: 1e-14, np.float32: 2**-23, np.float16: 2**-10, ml_dtypes.bfloat16: 2**-7}
"""Distance from 1 to the next number; for float64 what its sums may differ by."""
EPSILON = 1e-5
FAR = 1000
"""A mean so large that the difference of two sums would lose the variance in float32."""

with_shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


def drawn(shape: tuple[int, ...], dtype: Any, offset: float = 1.0) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(3)
    scales = 1 + np.arange(shape[1]).reshape(-1, *(1,) * (len(shape) - 2)) % 3
    return (generator.standard_normal(shape) * scales + offset).astype(dtype)


def along_channels(vector: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return vector.reshape(-1, *(1,) * (len(shape) - 2))


@with_shapes
def test_a_large_tensor_is_computed_in_strips(shape: tuple[int, ...]) -> None:
    assert isinstance(channels_of("input", np.zeros(shape, np.float32)), StripChannels)


@with_shapes
@pytest.mark.parametrize("offset", [1.0, FAR])
def test_the_moments_are_those_of_float64(shape: tuple[int, ...], offset: float) -> None:
    x = drawn(shape, np.float32, offset)
    axes = (0, *range(2, len(shape)))
    mean, variance = StripChannels(ChannelLayout.of("x", x), x).moments()
    np.testing.assert_allclose(mean[:, 0], x.mean(axis=axes, dtype=np.float64), 1e-6, 1e-6)
    np.testing.assert_allclose(variance[:, 0], x.var(axis=axes, dtype=np.float64), rtol=1e-5)


@with_shapes
@pytest.mark.parametrize("dtype", ULPS)
def test_the_results_are_those_of_float64(shape: tuple[int, ...], dtype: Any) -> None:
    x = drawn(shape, dtype)
    axes, wide = (0, *range(2, len(shape))), x.astype(np.float64)
    weight, bias = np.linspace(0.5, 2, shape[1]), np.linspace(-1, 1, shape[1])
    narrow = weight.astype(dtype), bias.astype(dtype)
    weight, bias = (along_channels(given.astype(np.float64), shape) for given in narrow)
    mean, variance = wide.mean(axis=axes, keepdims=True), wide.var(axis=axes, keepdims=True)
    wanted = (wide - mean) / np.sqrt(variance + EPSILON) * weight + bias
    ulp = ULPS[dtype]
    got = batch_norm(x, None, None, *narrow, training=True, eps=EPSILON).output
    assert got.dtype == x.dtype
    np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=2 * ulp, atol=8 * ulp)
    statistics = mean.reshape(-1).astype(np.float32), 1 / np.sqrt(variance.reshape(-1) + EPSILON)
    got = batch_norm_elemt(x, *narrow, statistics[0], statistics[1].astype(np.float32), EPSILON)
    np.testing.assert_allclose(
        got.astype(np.float64), wanted, rtol=2 * ulp, atol=8 * max(ulp, ULPS[np.float32])
    )


def test_a_channel_with_an_infinity_is_no_number_and_leaves_the_others_alone() -> None:
    x = drawn((3000, 64), np.float32)
    x[2999, 5] = np.inf
    output = batch_norm(x, None, None, training=True).output
    assert np.isnan(output[:, 5]).all()
    assert np.isfinite(np.delete(output, 5, axis=1)).all()


def test_the_mean_of_a_channel_with_an_infinite_number_is_infinite() -> None:
    x = drawn((3000, 64), np.float32)
    x[7, 3] = np.inf
    found = channels_of("input", x).moments()
    mean, variance = (moment.ravel() for moment in found)
    assert mean[3] == np.inf
    assert np.isnan(variance[3])
    assert np.isfinite(np.delete(mean, 3)).all()
