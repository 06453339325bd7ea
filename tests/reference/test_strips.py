# SPDX-License-Identifier: Apache-2.0
"""Programs on strips: statements, absent operands, bands and panels."""

from __future__ import annotations

import itertools
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
KINDS = [np.float32, np.float16, ml_dtypes.bfloat16]


@pytest.mark.parametrize("portable", [0, 1])
@pytest.mark.parametrize("dtype", KINDS, ids=str)
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
    weighted = np.empty(shape[1]) if has_sums else None
    lib.portable = portable
    with in_pieces(500):
        found = run(
            PROGRAM,
            shape,
            {"x": x, "weight": weight, "out": out},
            {"columns": shape[1]},
            {"weighted": weighted},
        )
    lib.portable = 0
    centred = wide - wide.mean(axis=1, keepdims=True)
    product = centred * weight.astype(np.float64)
    np.testing.assert_array_equal(found["total"], wide.sum(axis=1))
    np.testing.assert_allclose(found["squares"], (centred**2).sum(axis=1), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(out, product, rtol=1e-5, atol=1e-5)
    if weighted is not None:
        np.testing.assert_allclose(weighted, product.sum(axis=0), rtol=1e-5, atol=2e-3)


def test_a_statement_with_an_absent_operand_is_left_out() -> None:
    x, out = np.ones((2, 3), np.float32), np.empty((2, 3), np.float32)
    text = "a = x\na = a * weight\na = a + x\nout = a"
    run(text, (2, 3), {"x": x, "weight": None, "out": out})
    assert out.tolist() == [[2, 2, 2]] * 2


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_a_number_is_repeated_for_columns_and_rows_begin_anew(dtype: Any) -> None:
    x, out = np.zeros((4, 6), np.float32), np.empty((4, 6), np.float32)
    each = Operand(np.array([[1, 2], [3, 4]], dtype), period=2, repeat=3)
    run("a = x + each\nout = a", (4, 6), {"x": x, "each": each, "out": out})
    assert out.tolist() == [[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]] * 2


def test_a_number_is_repeated_beyond_a_strip() -> None:
    x, out = np.ones((1, 6000), np.float32), np.empty((1, 6000), np.float32)
    each = Operand(np.arange(2000, dtype=np.float32)[np.newaxis], repeat=3)
    run("out = x * each", (1, 6000), {"x": x, "each": each, "out": out})
    np.testing.assert_array_equal(out[0], np.repeat(np.arange(2000), 3))


@pytest.mark.parametrize("portable", [0, 1])
@pytest.mark.parametrize("kinds", [*itertools.product(KINDS, repeat=3)], ids=str)
def test_operands_of_a_statement_may_have_several_types(kinds: Any, portable: int) -> None:
    generator = np.random.default_rng(7)
    x, y, z = (generator.integers(-4, 5, (2, 1030)).astype(kind) for kind in kinds)
    out = np.empty((2, 1030), np.float32)
    lib.portable = portable
    found = run(
        "out = x * y + z\ntotal dot += x * y", x.shape, {"x": x, "y": y, "z": z, "out": out}
    )
    lib.portable = 0
    product = x.astype(np.float64) * y.astype(np.float64)
    np.testing.assert_array_equal(out, product + z.astype(np.float64))
    np.testing.assert_array_equal(found["dot"], product.sum(axis=1))
    np.testing.assert_array_equal(found["total"], x.astype(np.float64).sum(axis=1))


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_products_of_long_rows_are_added_up_in_float64(dtype: Any) -> None:
    x = np.full((2, 40_000), 0.1, dtype)
    found = run("squares += x * x\ntotal dot += x * x", x.shape, {"x": x})
    square = np.square(x[0, 0].astype(np.float32)).astype(np.float64)
    for name in ("squares", "dot"):
        np.testing.assert_allclose(found[name], square * 40_000, rtol=3e-7)


@pytest.mark.parametrize("portable", [0, 1])
def test_nans_stay_nans_in_bfloat16(portable: int) -> None:
    bits = np.array([0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001, 0x7F800000, 0x3F800000] * 7, np.uint32)
    x, out = bits.view(np.float32)[np.newaxis], np.empty((1, bits.size), ml_dtypes.bfloat16)
    lib.portable = portable
    run("out = x", x.shape, {"x": x, "out": out})
    lib.portable = 0
    np.testing.assert_array_equal(out.astype(np.float32), x)


def test_fewer_rows_than_pieces_are_cut_into_panels() -> None:
    sizes = (False, strips.PIECE_ELEMENTS, strips.PANEL_COLUMNS)
    assert [cut(rows, 262_144, *sizes)[2] for rows in (1, 8, 15, 16)] == [False] * 3 + [True]


@pytest.mark.parametrize("shape", [(8, 262144), (4096, 4096), (7, 50_001), (1, 64)], ids=str)
@pytest.mark.parametrize("has_sums", [False, True])
def test_the_pieces_cover_a_matrix_once(shape: tuple[int, int], has_sums: bool) -> None:
    pieces, count, _ = cut(*shape, has_sums, strips.PIECE_ELEMENTS, strips.PANEL_COLUMNS)
    covered = np.zeros(shape, np.int8)
    for place in range(count):
        piece = pieces[place]
        covered[piece.first_row : piece.last_row, piece.first_column : piece.last_column] += 1
    assert (covered == 1).all()
    assert count <= strips.PIECES


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
    each = np.empty(2048, np.float32)
    found = run(text, x.shape, {"x": x}, {"two": 2}, {"each": each if has_sums else None})
    assert set(found["mean"]) == {4}
    assert not has_sums or set(each) == {4 * 4096}


@pytest.mark.parametrize("has_sums", [False, True])
def test_a_number_that_changes_itself_does_so_once_a_row(has_sums: bool) -> None:
    x = np.ones((4096, 2048), np.float32)
    text = "factor = factor * two\na = x * factor\neach += a\ntotal += a"
    sums = {"each": np.empty(2048) if has_sums else None}
    found = run(text, x.shape, {"x": x}, {"two": 2, "factor": 1}, sums)
    assert set(found["total"]) == {2 * 2048}


PAIRS = {
    "a = (x - n) * m\nout = a": "(x - n) * m",
    "out = (x - n) * m": "(x - n) * m",
    "a = (x - v) * m\nout = a": "(x - v) * m",
    "out = x * v + x": "x * v + x",
    "a = x\nout = a * n + v": "x * n + v",
    "out = x * none + v": "x + v",
    "out = x * v + none": "x * v",
    "out = x * none + none": "x",
    "out = v": "v + 0 * x",
}


@pytest.mark.parametrize("portable", [0, 1])
@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("columns", [1, 7, 8, 75, 1030])
@pytest.mark.parametrize("text", PAIRS)
def test_a_result_is_that_of_one_expression(
    text: str, columns: int, dtype: Any, portable: int
) -> None:
    generator = np.random.default_rng(7)
    x = generator.integers(-4, 5, (3, columns)).astype(dtype)
    v = generator.integers(-4, 5, columns).astype(dtype)
    out = np.empty_like(x)
    n, m = np.array([1.0, 2, 3]), np.array([2.0, -1, 3])
    lib.portable = portable
    run(text, x.shape, {"x": x, "v": v, "none": None, "out": out}, {"n": n, "m": m})
    lib.portable = 0
    each: dict[str, Any] = {"x": x, "v": v, "n": n[:, None], "m": m[:, None]}
    wide = {name: array.astype(np.float64) for name, array in each.items()}
    wanted = eval(PAIRS[text], wide)  # noqa: S307  # our own
    np.testing.assert_array_equal(out.astype(np.float64), wanted)


@pytest.mark.parametrize("portable", [0, 1])
@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (3, 1030), (50, 75), (40, 5000)], ids=str)
@pytest.mark.parametrize("absent", ["", "each", "products"])
def test_two_sums_are_added_up_at_once(
    absent: str, shape: tuple[int, int], dtype: Any, portable: int
) -> None:
    generator = np.random.default_rng(7)
    x, y = (generator.integers(-4, 5, shape).astype(dtype) for _ in range(2))
    wide, other = x.astype(np.float64), y.astype(np.float64)
    sums = {
        name: None if name == absent else np.empty(shape[1], np.float32)
        for name in ("each", "products")
    }
    lib.portable = portable
    with in_pieces(500):
        found = run("total dot += x * y\neach products += x * y", shape, {"x": x, "y": y}, {}, sums)
    lib.portable = 0
    np.testing.assert_array_equal(found["total"], wide.sum(axis=1))
    np.testing.assert_array_equal(found["dot"], (wide * other).sum(axis=1))
    for name, wanted in (("each", wide), ("products", wide * other)):
        if name != absent:
            np.testing.assert_array_equal(sums[name], wanted.sum(axis=0))


@pytest.mark.parametrize("portable", [0, 1])
@pytest.mark.parametrize("offset", [0, 1000, 1e6])
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (3, 40_030), (50, 75)], ids=str)
@pytest.mark.parametrize("pivot", ["first", "outlier", "infinite"])
def test_moments_are_those_of_float64(
    pivot: str, shape: tuple[int, int], offset: float, portable: int
) -> None:
    x = (np.random.default_rng(7).standard_normal(shape) + offset).astype(np.float32)
    if pivot == "outlier":
        x[:, 0] = 0
    wide = x.astype(np.float64)
    if pivot == "infinite":
        x[0, 0] = np.inf
    text = "pivot = first x\ntotal squares += x - pivot\nleft right += x - v"
    columns = {name: np.empty(shape[1]) for name in ("left", "right")}
    v = np.zeros(shape[1], np.float32) + np.float32(offset)
    lib.portable = portable
    with in_pieces(500):
        found = run(text, shape, {"x": x, "v": v}, {}, columns)
    lib.portable = 0
    finite = slice(pivot == "infinite", None)
    first, total, squares = (found[name][finite] for name in ("pivot", "total", "squares"))
    mean, variance = first + total / shape[1], squares / shape[1] - (total / shape[1]) ** 2
    np.testing.assert_allclose(mean, wide[finite].mean(axis=1), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(variance, wide[finite].var(axis=1), rtol=2e-5, atol=1e-9)
    distances = (wide - v)[:, finite]
    np.testing.assert_allclose(columns["left"][finite], distances.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(columns["right"][finite], (distances**2).sum(axis=0), rtol=1e-9)
    if pivot == "infinite":
        assert (found["pivot"][0], found["total"][0]) == (0, np.inf)


@pytest.mark.parametrize("number", [1e6 + 0.25, -3.3e-5, 0.1])
def test_equal_numbers_have_no_variance(number: float) -> None:
    x = np.full((3, 40_030), number, np.float32)
    found = run("pivot = first x\ntotal squares += x - pivot", x.shape, {"x": x})
    assert not found["total"].any()
    assert not found["squares"].any()


REFUSED = {
    "a := x": "'a := x' is no statement",
    "out = (x - x) * n": "'out' needs a strip",
    "n = m * m\nl n += x * x": "'n' does not come next to 'l'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_statement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[text]):
        assembled(text, ("x", "out"), (), frozenset())
