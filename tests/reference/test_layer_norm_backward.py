# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import re
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import definition, layer_norm_backward
from pyaclnn.reference.fast import layer_norm as fast, strips

from . import oracle
from .problems import Problem, f32, f64, in_pieces, problems

MASKS = list(itertools.product((True, False), repeat=3))


def sample() -> dict[str, Any]:
    """The official sample: the given mean and rstd are not those of the input."""
    x = f32([[2, 3], [4, 5]])
    return {
        "grad_out": x,
        "input": x,
        "normalized_shape": [2],
        "mean": f32([2, 3]),
        "rstd": f32([4, 5]),
        "weight": np.ones(2, np.float32),
        "bias": np.zeros(2, np.float32),
    }


class TestKnownNumbers:
    def test_official_sample(self) -> None:
        grads = layer_norm_backward(**sample())
        assert grads.grad_input is not None
        assert grads.grad_weight is not None
        assert grads.grad_bias is not None
        assert grads.grad_input.tolist() == [[-2, -94], [-877.5, -1747.5]]
        assert grads.grad_weight.tolist() == [20, 62]
        assert grads.grad_bias.tolist() == [6, 8]

    def test_by_hand(self) -> None:
        # xhat = [-1, 0, 1], g = [3, 6, 0]; mean(g) = 3, mean(g xhat) = -1
        grads = layer_norm_backward(
            f64([[1, 3, 0]]),
            f64([[1, 2, 3]]),
            [3],
            f64([2]),
            f64([1]),
            f64([3, 2, 5]),
        )
        assert grads.grad_input is not None
        assert grads.grad_weight is not None
        assert grads.grad_input.tolist() == [[-1, 3, -2]]
        assert grads.grad_weight.tolist() == [-1, 0, 0]

    def test_the_sum_over_a_row_of_a_plain_gradient_is_zero(self) -> None:
        generator = np.random.default_rng(2)
        x, dy = generator.normal(size=(2, 6, 10))
        mean, rstd = x.mean(1), (x.var(1) + 1e-5) ** -0.5
        grads = layer_norm_backward(dy, x, [10], mean, rstd)
        assert grads.grad_input is not None
        assert np.abs(grads.grad_input.sum(1)).max() < 1e-14


@pytest.mark.sampled(1)
@pytest.mark.parametrize("operator", [layer_norm_backward, definition("layer_norm_backward")])
@settings(deadline=None, max_examples=200)
@given(
    problem=problems(),
    mask=st.sampled_from(MASKS),
    weighted=st.booleans(),
    flat=st.booleans(),
    block=st.integers(1, 99),
)
def test_agrees_with_the_jacobian(
    operator: Any,
    problem: Problem,
    *,
    mask: tuple[bool, bool, bool],
    weighted: bool,
    flat: bool,
    block: int,
) -> None:
    x, dy = problem.tensor(0), problem.tensor(1, 16)
    weight = problem.parameter(2) if weighted else None
    leading = problem.shape[: problem.lead]
    statistic = (problem.rows,) if flat else leading + (1,) * len(problem.normalized)
    mean, rstd = problem.statistic(3, statistic), problem.statistic(4, statistic)
    with in_pieces(block):
        grads = operator(dy, x, problem.normalized, mean, rstd, weight, weight, output_mask=mask)

    golden = oracle.layer_norm_backward(
        oracle.matrix(dy, problem.lead),
        oracle.matrix(x, problem.lead),
        mean.astype(np.float64).ravel(),
        rstd.astype(np.float64).ravel(),
        np.ones(problem.columns) if weight is None else oracle.matrix(weight, 0)[0],
    )
    shapes = (problem.shape, problem.normalized, problem.normalized)
    dtypes = (problem.dtype, problem.wide_dtype, problem.wide_dtype)
    for wanted, actual, expected, shape, dtype in zip(
        mask, grads, golden, shapes, dtypes, strict=True
    ):
        if not wanted:
            assert actual is None
            continue
        assert actual is not None
        assert (actual.shape, actual.dtype) == (shape, dtype)
        verdict = judge(actual, expected.reshape(shape))
        assert verdict.passed, verdict


@pytest.mark.parametrize("shape", [(1, 5), (4, 3), (3, 2)], ids=str)
def test_is_the_derivative_of_the_forward_function(shape: tuple[int, int]) -> None:
    generator = np.random.default_rng(3)
    x, dy = generator.normal(1, 2, (2, *shape))
    weight, bias = generator.normal(size=(2, shape[1]))
    eps = 1e-2

    def loss(x: oracle.Array, weight: oracle.Array, bias: oracle.Array) -> float:
        return float((dy * oracle.layer_norm(x, weight, bias, eps)[0]).sum())

    _, mean, rstd = oracle.layer_norm(x, weight, bias, eps)
    grads = layer_norm_backward(dy, x, shape[1:], mean, rstd, weight, bias)
    expected = (
        oracle.numeric_gradient(lambda at: loss(at, weight, bias), x),
        oracle.numeric_gradient(lambda at: loss(x, at, bias), weight),
        oracle.numeric_gradient(lambda at: loss(x, weight, at), bias),
    )
    for actual, numeric in zip(grads, expected, strict=True):
        assert actual is not None
        assert np.allclose(actual, numeric, rtol=1e-7, atol=1e-8)


class TestMask:
    @pytest.mark.parametrize("mask", MASKS, ids=str)
    def test_each_output_is_the_same_whatever_else_is_computed(
        self, mask: tuple[bool, bool, bool]
    ) -> None:
        with in_pieces(1):
            everything = layer_norm_backward(**sample())
            some = layer_norm_backward(**sample(), output_mask=mask)
        for wanted, full, actual in zip(mask, everything, some, strict=True):
            assert (actual is not None) == wanted
            assert full is not None
            assert actual is None or actual.tolist() == full.tolist()

    @pytest.mark.parametrize("mask", MASKS, ids=str)
    def test_nothing_is_computed_for_a_masked_output(self, mask: tuple[bool, bool, bool]) -> None:
        with in_pieces(1), mock.patch.object(fast, "run", wraps=strips.run) as run:
            layer_norm_backward(**sample(), output_mask=mask)
        assert run.called == any(mask)
        if run.called:
            text, _, operands, _, sums = run.call_args.args
            assert ("along_xhat" in text) == (operands["grad_input"] is not None) == mask[0]
            found = [sums[name] is not None for name in ("grad_weight", "grad_bias")]
            assert tuple(found) == mask[1:]


class TestEmpty:
    @pytest.mark.parametrize("lead", [(0,), (3, 0)], ids=str)
    def test_without_rows_the_parameter_gradients_are_zeros(self, lead: tuple[int, ...]) -> None:
        x = np.empty((*lead, 4), np.float16)
        none = np.empty(lead, np.float32)
        grads = layer_norm_backward(x, x, [4], none, none)
        assert grads.grad_input is not None
        assert grads.grad_weight is not None
        assert grads.grad_bias is not None
        assert grads.grad_input.shape == x.shape
        assert grads.grad_weight.tolist() == grads.grad_bias.tolist() == [0, 0, 0, 0]
        assert grads.grad_weight.dtype == grads.grad_bias.dtype == np.float32

    def test_without_columns_everything_is_empty(self) -> None:
        x = np.empty((3, 0, 2), np.float32)
        one_a_row = np.ones(3, np.float32)
        grads = layer_norm_backward(x, x, [0, 2], one_a_row, one_a_row)
        assert [None if grad is None else grad.shape for grad in grads] == [x.shape, (0, 2), (0, 2)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("columns", [1, 16])
def test_sums_over_many_rows_stay_accurate(columns: int) -> None:
    generator = np.random.default_rng(4)
    shape = (200_000, columns)
    # A gradient that does not average out: the sums grow with every row.
    dy = generator.uniform(0, 1, shape).astype(np.float32)
    x = generator.normal(1, 2, shape).astype(np.float32)
    mean, rstd = np.full(200_000, -1, "f"), np.full(200_000, 0.5, "f")
    grads = layer_norm_backward(dy, x, [columns], mean, rstd)
    assert grads.grad_weight is not None
    assert grads.grad_bias is not None
    wide_x, wide_dy = x.astype(np.float64), dy.astype(np.float64)
    xhat = (wide_x + 1) / 2
    # The row's Jacobian, diag(1) - (1 1' + xhat xhat') / N, all rows at once.
    jacobians = np.eye(columns) - (1 + np.einsum("ij,ik->ijk", xhat, xhat)) / columns
    grad_input = np.einsum("ijk,ik->ij", jacobians, wide_dy) / 2
    assert np.allclose(grads.grad_weight, oracle.column_totals(wide_dy * xhat), rtol=2e-7)
    assert np.allclose(grads.grad_bias, oracle.column_totals(wide_dy), rtol=2e-7)
    assert grads.grad_input is not None
    verdict = judge(grads.grad_input, grad_input)
    assert verdict.passed, verdict
    assert verdict.max_abs_error < 2e-5, verdict


def test_sums_gather_no_rounding_errors() -> None:
    # Adding the same number again and again rounds in the same direction each time.
    dy = np.full((2000, 16), 0.1, np.float32)
    none = np.zeros(2000, np.float32)
    grads = layer_norm_backward(dy, dy, [16], none, none)
    assert grads.grad_bias is not None
    assert set(grads.grad_bias.tolist()) == {float(np.float32(2000 * float(dy[0, 0])))}


class TestSpecialValues:
    def test_nan_stays_in_its_row_and_its_column(self) -> None:
        arguments = sample() | {"grad_out": f32([[1, np.nan], [1, 1]])}
        grads = layer_norm_backward(**arguments)
        assert grads.grad_input is not None
        assert grads.grad_weight is not None
        assert grads.grad_bias is not None
        assert np.isnan(grads.grad_input).tolist() == [[True, True], [False, False]]
        assert np.isnan(grads.grad_weight).tolist() == [False, True]
        assert np.isnan(grads.grad_bias).tolist() == [False, True]

    def test_infinities_of_both_signs_sum_to_nan(self) -> None:
        arguments = sample() | {"grad_out": f32([[np.inf, np.inf], [-np.inf, 1]])}
        grads = layer_norm_backward(**arguments)
        assert grads.grad_bias is not None
        assert np.isnan(grads.grad_bias[0])
        assert grads.grad_bias[1] == np.inf

    def test_a_sum_beyond_float32_is_infinite(self) -> None:
        arguments = sample() | {"grad_out": np.full((2, 2), 3e38, np.float32)}
        grads = layer_norm_backward(**arguments)
        assert grads.grad_bias is not None
        assert grads.grad_bias.tolist() == [np.inf, np.inf]


class TestArguments:
    def test_no_argument_is_changed(self) -> None:
        arguments, untouched = sample(), sample()
        layer_norm_backward(**arguments)
        for name, value in untouched.items():
            assert np.array_equal(arguments[name], value), name

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"normalized_shape": [3]}, "normalized_shape is (3,)"),
            ({"grad_out": np.ones((2, 3))}, "grad_out has the shape (2, 3); it must be (2, 2)"),
            ({"grad_out": np.ones(4)}, "grad_out has the shape (4,)"),
            ({"mean": np.ones(3)}, "mean has the shape (3,), which is 3 elements"),
            ({"rstd": np.ones((2, 2))}, "rstd has the shape (2, 2), which is 4 elements"),
            ({"weight": np.ones((2, 2))}, "weight has the shape (2, 2); it must be (2,)"),
            ({"bias": np.ones(3)}, "bias has the shape (3,); it must be (2,)"),
            ({"output_mask": (True, False)}, "output_mask has 2 elements"),
        ],
    )
    def test_a_shape_that_does_not_fit_is_named(
        self, changes: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValueError, match=re.escape(message)):
            layer_norm_backward(**(sample() | changes))
