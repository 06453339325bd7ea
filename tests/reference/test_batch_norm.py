# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pyaclnn.accuracy import judge
from pyaclnn.reference import batch_norm

from .problems import DTYPES, f16, f32, f64

INPUT = [[[1, 2], [3, 4]], [[5, 6], [7, 9]]]
WEIGHT, BIAS, RUNNING_MEAN, RUNNING_VAR = [1, 2], [0, 1], [0.5, 0.5], [1, 2]
ARGUMENTS = f32(INPUT), f32(RUNNING_MEAN), f32(RUNNING_VAR), f32(WEIGHT), f32(BIAS)

OF_VARIANCE = ["910b", "910_93", "910", "310p"]
OF_DEVIATION = [None, "950"]


class TestKnownNumbers:
    @pytest.mark.parametrize(
        ("family", "saved"),
        [(family, [4.25, 5.6875]) for family in OF_VARIANCE]
        + [(family, [0.48507071, 0.41931358]) for family in OF_DEVIATION],
    )
    def test_worked_example_of_training(self, family: str | None, saved: list[float]) -> None:
        result = batch_norm(*ARGUMENTS, training=True, family=family)
        output = [
            [[-1.21268, -0.727606], [-1.30622, -0.467597]],
            [[0.727606, 1.21268], [2.04828, 3.72554]],
        ]
        assert np.allclose(result.output, output, rtol=1e-5)
        assert result.save_mean is not None
        assert result.save_mean.tolist() == [3.5, 5.75]
        assert np.allclose(np.asarray(result.save_invstd), saved, rtol=1e-7)
        assert np.allclose(np.asarray(result.running_mean), [0.8, 1.025], rtol=1e-7)
        assert np.allclose(np.asarray(result.running_var), [1.4666667, 2.5583334], rtol=1e-7)

    def test_worked_example_of_inference(self) -> None:
        result = batch_norm(*ARGUMENTS)
        output = [
            [[0.499997, 1.49999], [4.53553, 5.94974]],
            [[4.49998, 5.49997], [10.1924, 13.0208]],
        ]
        assert np.allclose(result.output, output, rtol=1e-5)
        assert result.save_mean is None
        assert result.save_invstd is None
        assert np.asarray(result.running_mean).tolist() == RUNNING_MEAN
        assert np.asarray(result.running_var).tolist() == RUNNING_VAR

    @pytest.mark.parametrize(("family", "saved"), [("910b", 1.25), ("950", 0.894424)])
    def test_official_sample(self, family: str, saved: float) -> None:
        x = np.arange(8, dtype=np.float32).reshape(1, 2, 4)
        ones, zeros = np.ones(2, np.float32), np.zeros(2, np.float32)
        result = batch_norm(x, zeros, ones, ones, zeros, training=True, family=family)
        row = [-1.341635, -0.447212, 0.447212, 1.341635]
        assert np.allclose(result.output, [[row, row]], rtol=2e-6)
        assert np.asarray(result.save_mean).tolist() == [1.5, 5.5]
        assert np.allclose(np.asarray(result.save_invstd), saved, rtol=1e-6)
        assert np.allclose(np.asarray(result.running_mean), [0.15, 0.55], rtol=1e-6)
        assert np.allclose(np.asarray(result.running_var), 1.0666667, rtol=2e-7)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(9, 3), (4, 3, 5), (2, 3, 4, 2, 3)], ids=str)
def test_agrees_with_torch(shape: tuple[int, ...], dtype: Any, *, training: bool) -> None:
    torch: Any = pytest.importorskip("torch")
    generator = np.random.default_rng(7)
    x = generator.normal(1, 2, shape).astype(dtype)
    wide = np.float64 if dtype == np.float64 else np.float32
    weight, bias, mean = generator.normal(size=(3, 3)).astype(wide)
    variance = generator.uniform(0.5, 2, 3).astype(wide)
    result = batch_norm(x, mean, variance, weight, bias, training, 0.3, 1e-3)
    tensors = [
        torch.tensor(array.astype(np.float64)) for array in (x, weight, bias, mean, variance)
    ]
    golden = torch.native_batch_norm(*tensors, training, 0.3, 1e-3)
    for actual, expected in zip(
        (*result[: 3 if training else 1], *result[3:]),
        (*golden[: 3 if training else 1], *tensors[3:]),
        strict=True,
    ):
        verdict = judge(np.asarray(actual), expected.numpy())
        assert verdict.passed, verdict


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_shapes_and_data_types(dtype: Any) -> None:
    result = batch_norm(np.ones((2, 3, 4), dtype), f16([0, 0, 0]), f32([1, 1, 1]), training=True)
    wide = np.float64 if dtype == np.float64 else np.float32
    assert result.output.dtype == dtype
    for part, expected in zip(result[1:], (wide, wide, np.float16, np.float32), strict=True):
        assert part is not None
        assert part.shape == (3,)
        assert part.dtype == expected


class TestRunningStatistics:
    def test_missing_ones_are_zero_and_one_and_are_not_returned(self) -> None:
        x = f64(INPUT)
        result = batch_norm(x, None, None, eps=0)
        assert result.output.tolist() == INPUT
        assert result.running_mean is None
        assert result.running_var is None

    def test_those_given_are_not_written_to(self) -> None:
        mean, variance = f32(RUNNING_MEAN), f32(RUNNING_VAR)
        batch_norm(f32(INPUT), mean, variance, training=True)
        assert mean.tolist() == RUNNING_MEAN
        assert variance.tolist() == RUNNING_VAR

    def test_one_element_a_channel_has_no_variance(self) -> None:
        result = batch_norm(f64([[3.0]]), f64([1]), f64([2]), training=True, momentum=0.5)
        assert np.asarray(result.running_mean).tolist() == [2]
        assert np.asarray(result.running_var).tolist() == [1]


@pytest.mark.parametrize("family", [None, "910b", "950"])
@pytest.mark.parametrize("shape", [(0, 2), (3, 2, 0)], ids=str)
def test_without_elements_nothing_runs_along(shape: tuple[int, ...], family: str | None) -> None:
    mean, variance = f32(RUNNING_MEAN), f32(RUNNING_VAR)
    x = np.empty(shape, np.float32)
    result = batch_norm(x, mean, variance, training=True, family=family)
    assert result.output.shape == shape
    assert np.asarray(result.save_mean).tolist() == [0, 0]
    assert np.isnan(np.asarray(result.save_invstd)).all()
    assert np.asarray(result.running_mean).tolist() == RUNNING_MEAN
    assert np.asarray(result.running_var).tolist() == RUNNING_VAR


def test_the_deviation_of_large_numbers_is_not_cancelled() -> None:
    x = np.float32(1e5) + f32([[0], [1], [2], [3]])
    result = batch_norm(x, None, None, training=True, eps=0)
    assert np.allclose(result.output[:, 0], f64([-3, -1, 1, 3]) / np.sqrt(5), rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input": np.ones(2)}, "input has the shape (2,); it must have two axes"),
        ({"running_mean": np.ones(3)}, "running_mean has the shape (3,); it must be (2,)"),
        ({"running_var": np.ones(())}, "running_var has the shape (); it must be (2,)"),
        ({"weight": np.ones(1)}, "weight has the shape (1,)"),
        ({"bias": np.ones((2, 1))}, "bias has the shape (2, 1)"),
    ],
)
def test_a_shape_that_does_not_fit_is_named(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"input": ARGUMENTS[0], "running_mean": None, "running_var": None}
    with pytest.raises(ValueError, match=re.escape(message)):
        batch_norm(**(arguments | changes))
