# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import batch_norm, batch_norm_backward, fast_batch_norm_backward

from . import oracle
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


@pytest.mark.sampled(8)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(9, 3), (4, 3, 5), (2, 3, 4, 2, 3)], ids=str)
def test_agrees_with_torch(
    shape: tuple[int, ...], dtype: Any, torch: Any, *, training: bool
) -> None:
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


GRAD_OUT = [[[1, 0], [-1, 2]], [[0.5, 1], [1, -1]]]


class TestBackward:
    @pytest.mark.parametrize(
        ("family", "saved"),
        [(family, [4.25, 5.6875]) for family in OF_VARIANCE]
        + [(family, [0.48507071, 0.41931358]) for family in OF_DEVIATION],
    )
    def test_worked_example_of_training(self, family: str | None, saved: list[float]) -> None:
        x, mean, variance, weight, _ = ARGUMENTS
        grads = batch_norm_backward(
            f32(GRAD_OUT), x, weight, mean, variance, f32([3.5, 5.75]), f32(saved), family=family
        )
        grad_input = [
            [[0.235402, -0.271069], [-1.32706, 1.2902]],
            [[-0.092734, 0.128401], [0.755686, -0.718824]],
        ]
        assert np.allclose(np.asarray(grads.grad_input), grad_input, rtol=5e-6)
        assert np.allclose(np.asarray(grads.grad_weight), [0.363803, -1.15311], rtol=5e-6)
        assert np.asarray(grads.grad_bias).tolist() == [2.5, 1]

    @pytest.mark.parametrize("family", [None, "910b", "950"])
    def test_worked_example_of_inference(self, family: str | None) -> None:
        x, mean, variance, weight, _ = ARGUMENTS
        grads = batch_norm_backward(
            f32(GRAD_OUT), x, weight, mean, variance, None, None, training=False, family=family
        )
        grad_input = [
            [[0.999995, 0], [-1.41421, 2.82842]],
            [[0.499997, 0.999995], [1.41421, -1.41421]],
        ]
        assert np.allclose(np.asarray(grads.grad_input), grad_input, rtol=5e-6)
        assert np.allclose(np.asarray(grads.grad_weight), [8.24996, 1.76776], rtol=5e-6)

    @pytest.mark.parametrize(
        ("family", "grad_input", "grad_weight"),
        [
            (
                "910b",
                [
                    [-1.499993, -3.999945, -6.499898, -8.99985],
                    [-127.498103, -157.997635, -188.497168, -218.9967],
                ],
                [13.99993, 125.99937],
            ),
            ("950", [[-1.5, -4, -6.5, -9], [-127.5, -158, -188.5, -219]], [14, 126]),
        ],
    )
    def test_official_sample_tells_a_variance_from_a_deviation(
        self, family: str, grad_input: list[list[float]], grad_weight: list[float]
    ) -> None:
        x = np.arange(8, dtype=np.float32).reshape(1, 2, 4)
        one, zero = np.ones(2, np.float32), np.zeros(2, np.float32)
        grads = batch_norm_backward(x, x, one, zero, one, zero, one, family=family)
        assert np.allclose(np.asarray(grads.grad_input), [grad_input], rtol=1e-6)
        assert np.allclose(np.asarray(grads.grad_weight), grad_weight, rtol=1e-6)
        assert np.asarray(grads.grad_bias).tolist() == [6, 22]

    @pytest.mark.parametrize("family", [None, "910b"])
    def test_is_the_derivative_of_the_forward_function(self, family: str | None) -> None:
        generator = np.random.default_rng(3)
        x, dy = generator.normal(1, 2, (2, 3, 2, 4))
        weight, bias = generator.normal(size=(2, 2))

        def loss(x: oracle.Array, weight: oracle.Array, bias: oracle.Array) -> float:
            rows = np.moveaxis(x, 1, 0).reshape(2, 12)
            xhat = oracle.layer_norm(rows, np.ones(12), np.zeros(12), 1e-2)[0]
            out = xhat * weight[:, None] + bias[:, None]
            return float((np.moveaxis(dy, 1, 0).reshape(2, 12) * out).sum())

        forward = batch_norm(x, None, None, weight, bias, True, eps=1e-2, family=family)
        saved = forward.save_mean, forward.save_invstd
        grads = batch_norm_backward(
            dy, x, weight, None, None, *saved, training=True, eps=1e-2, family=family
        )
        numeric = (
            oracle.numeric_gradient(lambda at: loss(at, weight, bias), x),
            oracle.numeric_gradient(lambda at: loss(x, at, bias), weight),
            oracle.numeric_gradient(lambda at: loss(x, weight, at), bias),
        )
        for actual, expected in zip(grads, numeric, strict=True):
            assert np.allclose(np.asarray(actual), expected, rtol=1e-7, atol=1e-8)

    @pytest.mark.parametrize("training", [True, False])
    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    def test_agrees_with_torch(self, dtype: Any, torch: Any, *, training: bool) -> None:
        generator = np.random.default_rng(7)
        x, dy = generator.normal(1, 2, (2, 4, 3, 5)).astype(dtype)
        wide = np.float64 if dtype == np.float64 else np.float32
        weight, mean, save_mean = generator.normal(size=(3, 3)).astype(wide)
        variance, invstd = generator.uniform(0.5, 2, (2, 3)).astype(wide)
        arguments = dy, x, weight, mean, variance, save_mean, invstd
        tensors = [torch.tensor(array.astype(np.float64)) for array in arguments]
        golden = torch.ops.aten.native_batch_norm_backward(*tensors, training, 1e-3, [True] * 3)
        for actual, expected in zip(
            batch_norm_backward(*arguments, training, 1e-3), golden, strict=True
        ):
            assert actual is not None
            verdict = judge(actual, expected.numpy())
            assert verdict.passed, verdict

    @pytest.mark.parametrize("mask", [(True, False, True), (False, True, False)])
    def test_what_is_masked_off_is_none(self, mask: tuple[bool, bool, bool]) -> None:
        grads = batch_norm_backward(
            f32(GRAD_OUT), f32(INPUT), None, None, None, None, None, output_mask=mask
        )
        assert tuple(grad is not None for grad in grads) == mask

    @pytest.mark.parametrize("training", [True, False])
    @pytest.mark.parametrize("family", [None, "910b"])
    def test_the_fast_one_computes_the_same(self, family: str | None, *, training: bool) -> None:
        x, mean, variance, weight, _ = ARGUMENTS
        operands = f32(GRAD_OUT), x, weight, mean, variance, mean, variance, training, 1e-3
        mask = (True, False, True)
        one = batch_norm_backward(*operands, output_mask=mask, family=family)
        other = fast_batch_norm_backward(*operands, output_mask=mask, family=family)
        for actual, expected in zip(other, one, strict=True):
            assert (actual is None) == (expected is None)
            assert np.array_equal(np.asarray(actual), np.asarray(expected))
