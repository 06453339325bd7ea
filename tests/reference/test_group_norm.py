# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pyaclnn.accuracy import judge
from pyaclnn.reference import group_norm

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
def test_agrees_with_torch(dtype: Any, *, affine: bool) -> None:
    torch: Any = pytest.importorskip("torch")
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
