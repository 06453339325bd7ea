# SPDX-License-Identifier: Apache-2.0
"""foreach_norm: lists of any length, what is wrong at a place of one, and what CANN itself says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn import aclnn
from pyaclnn.base.errors import AclError, InvalidArgumentError

X = [np.array([[3, -4]], "f"), np.array([2], "f"), np.full((2, 3, 4), 0.5, "f")]
NORMS = [5.0, 2.0, 6**0.5]
HALF = np.zeros(2, np.float16)
OUT = [np.empty(1, "f") for _ in X]
NULL, INVALID, TILING = 161001, 161002, 561002


@pytest.mark.parametrize("length", [1, 2, 3, 60])
def test_every_tensor_has_its_norm(length: int) -> None:
    places = [place % 3 for place in range(length)]
    found = pyaclnn.foreach_norm([X[place] for place in places])
    assert [part.shape for part in found] == [(1,)] * length
    np.testing.assert_allclose(np.concatenate(found), [NORMS[p] for p in places], rtol=1e-6)


def test_device_arrays_give_device_arrays_that_are_queued() -> None:
    with pyaclnn.Stream() as stream:
        found = pyaclnn.foreach_norm([pyaclnn.to_device(x) for x in X], stream=stream)
        values = [part.numpy(stream=stream).item() for part in found]
    np.testing.assert_allclose(values, NORMS, rtol=1e-6)


def test_some_results_may_be_given_and_others_be_made() -> None:
    mine = np.empty(1, "f")
    found = pyaclnn.foreach_norm(tuple(X), float("inf"), out=[None, mine, None])
    assert found[1] is mine
    assert [part.item() for part in found] == [4, 2, 0.5]


def test_the_norm_of_no_elements_is_0() -> None:
    assert pyaclnn.foreach_norm([np.empty((0, 2), "f")])[0].tolist() == [0]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an array": ({"x": X[0]}, "'x' is an ndarray; it must be a list or tuple of"),
    "no list": ({"x": None}, "'x' is None; it must be a list or tuple of"),
    "no tensors": ({"x": []}, "'x' is empty; it must be a list of at least one array"),
    "NULL": ({"x": [X[0], None]}, r"'x\[1\]' is None; it must be a NumPy array"),
    "a type": ({"x": [X[0], X[0].astype("f8")]}, r"'x\[1\]' is float64; it must be float32"),
    "two types": ({"x": [X[0], HALF]}, r"'x\[1\]' is float16; it must be float32, as 'x\[0\]' is"),
    "an out too few": ({"out": OUT[1:]}, "'out' is a list of 2; it must be a list of 3"),
    "one out": ({"out": OUT[0]}, "'out' is an ndarray; it must be a list or tuple"),
    "a wide out": (
        {"out": [*OUT[1:], np.empty(2, "f")]},
        r"'out: out\[2\]' is float32 of shape \(2,\); it must be float32 of shape \(1,\)",
    ),
    "one out twice": ({"out": [OUT[0]] * 3}, r"out\[.\]' is an array that shares memory with"),
    "an order": ({"scalar": float("nan")}, "'scalar' is nan; it must be a number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named_by_its_place(name: str) -> None:
    given, says = REFUSED[name]
    with pytest.raises(InvalidArgumentError, match=says):
        pyaclnn.foreach_norm(**{"x": X, **given})


CODES: dict[str, tuple[list[Any], list[Any], int]] = {
    "NULL after another type": ([HALF, None], OUT[:2], NULL),
    "NULL after another shape": (X[:2], [np.empty(2, "f"), None], NULL),
    "two types": ([X[0], HALF], OUT[:2], INVALID),
    "two types after a shape": ([X[0], HALF], [np.empty(2, "f"), OUT[0]], INVALID),
    "a type of the last": ([X[0], X[0].astype("f8")], OUT[:2], INVALID),
    "a shape of the last": (X[:2], [OUT[0], np.empty(2, "f")], TILING),
    "a list too short": (X, OUT[:2], TILING),
    "a list too long": (X[:2], OUT, TILING),
}


@pytest.mark.parametrize("name", CODES)
def test_the_earliest_step_answers_wherever_in_a_list_it_finds_something(name: str) -> None:
    x, out, code = CODES[name]
    with pytest.raises(AclError) as caught:
        aclnn.foreach_norm(x, 2.0, out)
    assert caught.value.code == code
