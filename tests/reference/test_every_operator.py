# SPDX-License-Identifier: Apache-2.0
"""Properties of every operator of the reference."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any
from unittest import mock

import ml_dtypes
import numpy as np
import pytest

from pyaclnn import reference
from pyaclnn.facts.accuracy import judge
from pyaclnn.reference.fast import blocks

from .problems import in_pieces
from .samples import FAST, OPERATORS, arguments

if TYPE_CHECKING:
    from collections.abc import Callable

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
NARROW = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32)]

every_operator = pytest.mark.parametrize("operator", OPERATORS)


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def compare(actual: Any, expected: Any) -> None:
    """Integers may be one apart, other numbers as far as the standard says."""
    for part, golden in zip(parts(actual), parts(expected), strict=True):
        if golden is None:
            assert part is None
            continue
        assert part.shape == golden.shape
        if golden.dtype.kind == "i":
            assert part.dtype == golden.dtype
            assert np.abs(part.astype(int) - golden).max() <= 1
            continue
        verdict = judge(part, golden.astype(np.float64))
        assert verdict.passed, verdict


@pytest.mark.sampled(80)
@every_operator
@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_agrees_with_its_float64_self(operator: str, dtype: np.dtype[Any]) -> None:
    given = arguments(operator, dtype)
    exact = {name: widened(value) for name, value in given.items()}
    function = getattr(reference, operator)
    result = function(**given)
    compare(result, reference.definition(operator)(**exact))
    assert any(np.any(part) for part in parts(result) if part is not None)


def widened(value: Any) -> Any:
    if isinstance(value, list):
        return [widened(element) for element in value]
    if isinstance(value, np.ndarray) and value.dtype in NARROW:
        return value.astype(np.float64)
    return value


@pytest.mark.sampled(120)
@every_operator
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 3e38, 0])
def test_no_number_raises_a_warning(operator: str, special: float) -> None:
    given = arguments(operator, FLOAT32)
    for value in given.values():
        for array in value if isinstance(value, list) else [value]:
            if isinstance(array, np.ndarray) and array.dtype == FLOAT32:
                array[...] = special
    getattr(reference, operator)(**given)
    reference.definition(operator)(**given)


@pytest.mark.sampled(80)
@every_operator
@pytest.mark.parametrize("dtype", [np.dtype(np.float16), FLOAT32, FLOAT64], ids=str)
def test_no_argument_is_changed_nor_returned(operator: str, dtype: np.dtype[Any]) -> None:
    given = arguments(operator, dtype)
    before = copy.deepcopy(given)
    for function in (getattr(reference, operator), reference.definition(operator)):
        for part in parts(function(**given)):
            if part is not None:
                part[...] = 1
        for name, value in given.items():
            for now, then in zip(parts(value), parts(before[name]), strict=True):
                assert np.array_equal(now, then), name


def in_small_pieces(work: Callable[[], Any]) -> Any:
    with (
        in_pieces(50),
        mock.patch.object(blocks, "BLOCK_ELEMENTS", 50),
        mock.patch.object(blocks, "FEWEST_ELEMENTS", 20),
    ):
        return work()


@pytest.mark.sampled(120)
@pytest.mark.parametrize("operator", FAST)
@pytest.mark.parametrize("layout", ["contiguous", "strided"])
@pytest.mark.parametrize("dtype", [*NARROW, FLOAT64], ids=str)
def test_a_fast_version_gives_what_the_definition_gives(
    operator: str, dtype: np.dtype[Any], layout: str
) -> None:
    given = arguments(operator, dtype)
    if layout == "strided":
        given = {name: strided(value) for name, value in given.items()}
    actual = in_small_pieces(lambda: getattr(reference, operator)(**given))
    expected = reference.definition(operator)(**given)
    assert type(actual) is type(expected)
    for part, golden in zip(parts(actual), parts(expected), strict=True):
        assert (part is None) == (golden is None)
        if golden is not None:
            assert (part.shape, part.dtype) == (golden.shape, golden.dtype)
    compare(actual, expected)


def strided(value: Any) -> Any:
    return np.repeat(value, 2, axis=-1)[..., ::2] if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("operator", FAST)
def test_the_bits_of_a_result_do_not_depend_on_the_number_of_threads(operator: str) -> None:
    given = arguments(operator, FLOAT32)
    results = []
    for processors in (1, 3):
        with mock.patch("os.sched_getaffinity", return_value=set(range(processors))):
            result = in_small_pieces(lambda: getattr(reference, operator)(**given))
        results.append([None if part is None else part.tobytes() for part in parts(result)])
    assert results[0] == results[1]


@pytest.mark.parametrize("operator", FAST)
def test_what_is_wrong_is_told_of_the_whole_tensor(operator: str) -> None:
    given = {
        name: value.astype(np.int64) if isinstance(value, np.ndarray) else value
        for name, value in arguments(operator, FLOAT32).items()
    }

    def message(function: Callable[..., Any]) -> str:
        with pytest.raises((TypeError, ValueError)) as caught:
            function(**given)
        return str(caught.value)

    expected = message(reference.definition(operator))
    assert in_small_pieces(lambda: message(getattr(reference, operator))) == expected
