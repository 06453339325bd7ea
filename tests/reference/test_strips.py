# SPDX-License-Identifier: Apache-2.0
"""Programs on strips: statements, absent operands, bands and panels."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.reference.arithmetic._narrow_floats import lib
from pyaclnn.reference.fast import strips
from pyaclnn.reference.fast.strips import Operand, assembled, cut, run

from .problems import in_pieces

PROGRAM = """
    total += x
    mean = total / columns
    a = x - mean
    squares += a * a
    b = a * weight
    weighted += b
    out = b
"""


@pytest.mark.parametrize("portable", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=str)
@pytest.mark.parametrize("has_sums", [True, False])
@pytest.mark.parametrize("shape", [(3, 2500), (2000, 5), (1, 1), (9, 40_031)], ids=str)
def test_a_program_computes_what_it_states(
    shape: tuple[int, int], has_sums: bool, dtype: Any, portable: int
) -> None:
    generator = np.random.default_rng(5)
    x = generator.integers(-8, 9, shape).astype(dtype)
    weight = generator.integers(-3, 4, shape[1]).astype(dtype)
    out = np.empty(shape, np.float32)
    wide = x.astype(np.float64)
    lib.portable = portable
    with in_pieces(500):
        found = run(
            PROGRAM,
            shape,
            {"x": x, "weight": weight, "out": out},
            {"columns": shape[1]},
            {"weighted": has_sums},
        )
    lib.portable = 0
    centred = wide - wide.mean(axis=1, keepdims=True)
    product = centred * weight.astype(np.float64)
    np.testing.assert_array_equal(found["total"], wide.sum(axis=1))
    np.testing.assert_allclose(found["squares"], (centred**2).sum(axis=1), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(out, product, rtol=1e-5, atol=1e-5)
    assert ("weighted" in found) == has_sums
    if has_sums:
        np.testing.assert_allclose(found["weighted"], product.sum(axis=0), rtol=1e-5, atol=2e-3)


def test_a_statement_with_an_absent_operand_is_left_out() -> None:
    x, out = np.ones((2, 3), np.float32), np.empty((2, 3), np.float32)
    text = "a = x\na = a * weight\na = a + x\nout = a"
    run(text, (2, 3), {"x": x, "weight": None, "out": out})
    assert out.tolist() == [[2, 2, 2]] * 2


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=str)
def test_a_number_is_repeated_for_columns_and_rows_begin_anew(dtype: Any) -> None:
    x, out = np.zeros((4, 6), np.float32), np.empty((4, 6), np.float32)
    each = Operand(np.array([[1, 2], [3, 4]], dtype), period=2, repeat=3)
    run("a = x + each\nout = a", (4, 6), {"x": x, "each": each, "out": out})
    assert out.tolist() == [[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]] * 2


@pytest.mark.parametrize("shape", [(8, 262144), (4096, 4096), (7, 50_001), (1, 64)], ids=str)
@pytest.mark.parametrize("has_sums", [False, True])
def test_the_pieces_cover_a_matrix_once(shape: tuple[int, int], has_sums: bool) -> None:
    pieces, _ = cut(*shape, has_sums)
    covered = np.zeros(shape, np.int8)
    for top, bottom, left, right in pieces:
        covered[top:bottom, left:right] += 1
    assert (covered == 1).all()
    assert len(pieces) <= strips.PIECES


@pytest.mark.parametrize("has_sums", [False, True])
def test_statements_on_numbers_stand_before_and_behind_a_pass(has_sums: bool) -> None:
    x = np.ones((4096, 2048), np.float32)
    text = """
        double = two * two
        a = x * double
        total += a
        each += a
        mean = total / columns
    """
    found = run(text, x.shape, {"x": x}, {"two": 2}, {"each": has_sums})
    assert set(found["mean"]) == {4}
    assert not has_sums or set(found["each"]) == {4 * 4096}


@pytest.mark.parametrize("has_sums", [False, True])
def test_a_number_that_changes_itself_does_so_once_a_row(has_sums: bool) -> None:
    x = np.ones((4096, 2048), np.float32)
    text = "factor = factor * two\na = x * factor\neach += a\ntotal += a"
    found = run(text, x.shape, {"x": x}, {"two": 2, "factor": 1}, {"each": has_sums})
    assert set(found["total"]) == {2 * 2048}


def test_what_is_no_statement_is_refused() -> None:
    with pytest.raises(ValueError, match="'a := x' is no statement"):
        assembled("a := x", ("x",), (), frozenset())
