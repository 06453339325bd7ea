# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import instance_norm

from .problems import DTYPES, f32

X = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)


def test_worked_example() -> None:
    result = instance_norm(X, f32([1, 2]), f32([0, 1]), "NCHW", 1e-5)
    assert result.mean.tolist() == [[[[1.5]], [[5.5]]]]
    assert result.variance.tolist() == [[[[1.25]], [[1.25]]]]
    y = [-1.34164, -0.447212, 0.447212, 1.34164, -1.68327, 0.105576, 1.89442, 3.68327]
    assert np.allclose(result.y.ravel(), y, rtol=5e-6)


def test_channels_may_be_last() -> None:
    first = instance_norm(X, f32([1, 2]), f32([0, 1]), "NCHW")
    last = instance_norm(np.moveaxis(X, 1, -1), f32([1, 2]), f32([0, 1]), "NHWC")
    for one, other in zip(first, last, strict=True):
        assert np.moveaxis(one, 1, -1).tolist() == other.tolist()
        assert other.flags.c_contiguous


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_agrees_with_torch(dtype: Any, torch: Any) -> None:
    generator = np.random.default_rng(5)
    x = generator.normal(2, 3, (3, 4, 5, 6)).astype(dtype)
    gamma, beta = generator.normal(size=(2, 4)).astype(dtype)
    x64, gamma64, beta64 = (torch.tensor(part.astype(np.float64)) for part in (x, gamma, beta))
    golden = (
        torch.nn.functional.instance_norm(x64, weight=gamma64, bias=beta64, eps=1e-3),
        x64.mean((2, 3), keepdim=True),
        x64.var((2, 3), correction=0, keepdim=True),
    )
    for actual, expected in zip(instance_norm(x, gamma, beta, "NCHW", 1e-3), golden, strict=True):
        assert actual.dtype == dtype
        verdict = judge(actual, expected.numpy())
        assert verdict.passed, verdict


def test_without_positions_there_is_no_variance() -> None:
    result = instance_norm(np.empty((1, 2, 0, 3), np.float16), f32([1, 1]), f32([0, 0]))
    assert result.y.shape == (1, 2, 0, 3)
    assert not result.mean.any()
    assert np.isnan(result.variance).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data_format": "NCL"}, "data_format is 'NCL'"),
        ({"gamma": f32([1])}, "gamma has the shape"),
        ({"beta": f32([1])}, "beta has the shape"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"x": X, "gamma": f32([1, 2]), "beta": f32([0, 1])}
    with pytest.raises(ValueError, match=message):
        instance_norm(**(arguments | changes))
