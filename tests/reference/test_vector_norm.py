# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import foreach_norm, linalg_vector_norm, norm

from .problems import DTYPES, Problem, f16, f32, f64, problems

ORDERS = [0, 0.5, 1, 1.5, 2, 3, -1, -2, math.inf, -math.inf]


@pytest.mark.parametrize(
    ("ord", "norms"),
    [
        (2, [5, 2]),
        (1, [7, 2]),
        (0, [2, 1]),
        (3, [4.49794, 2]),
        (0.5, [13.9282, 2]),
        (math.inf, [4, 2]),
        (-math.inf, [3, 0]),
    ],
)
def test_worked_example(ord: float, norms: list[float]) -> None:
    assert np.allclose(linalg_vector_norm(f32([[3, -4], [0, 2]]), ord, 1), norms, rtol=2e-6)


@settings(deadline=None, max_examples=150)
@given(problem=problems(), ord=st.sampled_from(ORDERS), keepdim=st.booleans(), data=st.data())
def test_agrees_with_exact_sums(
    problem: Problem, ord: float, *, keepdim: bool, data: st.DataObject
) -> None:
    x = problem.tensor(0)
    dim = data.draw(st.lists(st.integers(0, x.ndim - 1), unique=True) | st.none())
    axes = tuple(dim or range(x.ndim))
    norms = linalg_vector_norm(x, ord, dim, keepdim)
    assert norms.dtype == x.dtype
    sizes = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    kept = [size for axis, size in enumerate(sizes) if keepdim or axis not in axes]
    assert list(norms.shape) == kept
    rest = tuple(axis for axis in range(x.ndim) if axis not in axes)
    if not x.size:
        assert not norms.any()
        return
    vectors = np.transpose(x, (*rest, *axes)).reshape(norms.size, -1).astype(np.float64)
    golden = [exact_norm(vector, ord) for vector in np.abs(vectors).tolist()]
    verdict = judge(norms, np.reshape(golden, norms.shape))
    assert verdict.passed, verdict


def exact_norm(vector: list[float], order: float) -> float:
    if math.isinf(order):
        return max(vector) if order > 0 else min(vector)
    if order == 0:
        return sum(value != 0 for value in vector)
    if order < 0 and 0 in vector:
        return 0
    return float(math.fsum(value**order for value in vector) ** (1 / order))


@pytest.mark.sampled(40)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [None, 0, (0, 2), -1], ids=str)
@pytest.mark.parametrize("ord", ORDERS)
def test_agrees_with_torch(ord: float, dim: Any, dtype: Any, torch: Any) -> None:
    x = np.random.default_rng(8).normal(1, 2, (4, 5, 6)).astype(dtype)
    golden = torch.linalg.vector_norm(torch.tensor(x.astype(np.float64)), ord, dim)
    verdict = judge(linalg_vector_norm(x, ord, dim), golden.numpy())
    assert verdict.passed, verdict


class TestDataTypes:
    @pytest.mark.parametrize("narrow", [np.float16, ml_dtypes.bfloat16], ids=str)
    def test_narrow_tensors_are_added_up_in_float32(self, narrow: Any) -> None:
        x = np.full(2**20, 1, narrow)
        assert linalg_vector_norm(x) == 1024
        assert linalg_vector_norm(x, 1, dtype=np.float32) == 2**20

    def test_a_result_beyond_its_type_is_infinite(self) -> None:
        assert linalg_vector_norm(f16([60000, 60000]), 1) == np.inf

    def test_a_wide_result_is_computed_in_its_type(self) -> None:
        norms = linalg_vector_norm(f32([3e30, 4e30]), dtype=np.float64)
        assert norms.dtype == np.float64
        assert norms == np.hypot(*f32([3e30, 4e30]).astype(np.float64))

    @pytest.mark.parametrize("changes", [{"input": np.ones(2, int)}, {"dtype": np.int32}])
    def test_others_are_refused(self, changes: dict[str, Any]) -> None:
        arguments: dict[str, Any] = {"input": f32([1]), **changes}
        with pytest.raises(TypeError, match="has the data type int"):
            linalg_vector_norm(**arguments)


class TestSpecialValues:
    @pytest.mark.parametrize("ord", ORDERS)
    def test_the_norm_of_nothing_is_zero(self, ord: float) -> None:
        assert linalg_vector_norm(np.empty((2, 0), np.float32), ord, 1).tolist() == [0, 0]
        assert linalg_vector_norm(np.empty((0, 2), np.float16), ord, 1).shape == (0,)

    @pytest.mark.parametrize("ord", [1, 2, 3, math.inf, -math.inf])
    def test_nan_spoils_its_vector_only(self, ord: float) -> None:
        norms = linalg_vector_norm(f32([[np.nan, 1], [1, 1]]), ord, 1)
        assert np.isnan(norms).tolist() == [True, False]

    def test_a_number_has_a_norm(self) -> None:
        assert linalg_vector_norm(f64(-3.0)) == 3

    @pytest.mark.parametrize("family", ["910b", "910_93", "910", "310p", "310b"])
    @pytest.mark.parametrize(("ord", "norm"), [(2**31 - 1, 4), (-(2**31 - 1), 3)])
    def test_older_chips_take_the_largest_integer_for_infinity(
        self, family: str, ord: int, norm: int
    ) -> None:
        assert linalg_vector_norm(f32([3, -4]), ord, family=family) == norm
        for other in (None, "950"):
            assert linalg_vector_norm(f32([3, -4]), ord, family=other) != norm


@pytest.mark.parametrize("dim", [None, 0, -1, (0,), (-1,)])
def test_a_number_has_one_axis_to_name(dim: int | tuple[int, ...] | None) -> None:
    found = linalg_vector_norm(np.array(-3, np.float32), 2, dim)
    assert found.shape == ()
    assert found == 3


def test_an_axis_must_exist_and_be_named_once() -> None:
    with pytest.raises(ValueError, match="out of bounds"):
        linalg_vector_norm(np.ones(2), dim=1)
    with pytest.raises(ValueError, match="out of bounds"):
        linalg_vector_norm(np.array(-3.0), dim=1)
    with pytest.raises(ValueError, match="duplicate"):
        linalg_vector_norm(np.ones((2, 2)), dim=(0, -2))


@pytest.mark.sampled(33)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("family", [None, "910b", "950"])
@pytest.mark.parametrize("p", [*ORDERS, 2**31 - 1])
def test_norm_is_the_same_with_another_name_for_the_order(
    p: float, family: str | None, dtype: Any
) -> None:
    x = f32([[3, -4, 1], [0, 2, 5]]).astype(dtype)
    assert (
        norm(x, p, 1, family=family).tolist() == linalg_vector_norm(x, p, 1, family=family).tolist()
    )
    assert norm(x, p).shape == ()
    assert norm(x, p, keepdim=True).shape == (1, 1)
    assert norm(x, p, dtype=np.float32).dtype == np.float32


class TestForeachNorm:
    def test_worked_example(self) -> None:
        assert [part.tolist() for part in foreach_norm([f32([3, -4]), f32([2])])] == [[5], [2]]

    @pytest.mark.parametrize("dtype", DTYPES, ids=str)
    @pytest.mark.parametrize("scalar", [1, 2, 3, math.inf])
    def test_agrees_with_torch(self, scalar: float, dtype: Any, torch: Any) -> None:
        generator = np.random.default_rng(8)
        tensors = [generator.normal(size=shape).astype(dtype) for shape in ((3, 4), (), (2, 1, 5))]
        wide = [torch.tensor(np.asarray(tensor).astype(np.float64)) for tensor in tensors]
        for actual, golden in zip(
            foreach_norm(tensors, scalar), torch._foreach_norm(wide, scalar), strict=True
        ):
            assert actual.shape == (1,)
            assert actual.dtype == dtype
            verdict = judge(actual, golden.numpy().reshape(1))
            assert verdict.passed, verdict

    @pytest.mark.parametrize(
        ("scalar", "norm"),
        [(1, 7), (1.5, 7), (2, 5), (3, 5), (0, 5), (-math.inf, 5), (math.inf, 4)],
    )
    def test_a_950_knows_three_orders(self, scalar: float, norm: float) -> None:
        (actual,) = foreach_norm([f32([3, -4])], scalar, family="950")
        assert actual.tolist() == [norm]

    def test_an_empty_tensor_has_none(self) -> None:
        assert [part.tolist() for part in foreach_norm([np.empty((0, 2), "f")])] == [[0]]
