# SPDX-License-Identifier: Apache-2.0
"""Operators of Python on device arrays, and conversions of these to Python's numbers."""

from __future__ import annotations

import gc
import itertools
import operator
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn import DeviceArray, Stream, aclnn, to_device
from pyaclnn.base.errors import (
    AclError,
    InvalidArgumentError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.runtime.device import Device

from .array_truth import check, numbers

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
OPERATORS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    (name, getattr(operator, name)) for name in (*ARITHMETIC, *COMPARISONS)
]
BITS = [(name, getattr(operator, name)) for name in ("and_", "or_", "xor")]


@pytest.mark.parametrize(("name", "function"), [*OPERATORS, *BITS])
def test_an_operator_of_python_computes_on_the_device(
    name: str, function: Callable[[Any, Any], Any], device: Device
) -> None:
    word = "i32" if (name, function) in BITS else "f32"
    left, right = np.abs(numbers(word, (2, 3))), np.abs(numbers(word, (3,), 1))
    x, y = to_device(left, device), to_device(right, device)
    for found, expected in (
        (function(x, y), function(left, right)),
        (function(x, 2), function(left, 2)),
        (function(2, x), function(2, left)),
    ):
        assert isinstance(found, DeviceArray)
        check(found, expected, word)


@pytest.mark.parametrize("index", [np.s_[...], np.s_[:, ::2]])
@pytest.mark.parametrize(
    "name",
    ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor"],
)
def test_an_operator_in_place_writes_the_array(name: str, index: Any, device: Device) -> None:
    word = "i32" if name[1:] in ("and", "or", "xor") else "f32"
    function = getattr(operator, name)
    for other in (2, numbers(word, (2, 4), 1)[index], None):
        host = np.abs(numbers(word, (2, 4)))
        x = to_device(host, device)
        part, expected = x[index], host[index].copy()
        if other is None:  # by itself
            assert function(part, part) is part
            expected = function(expected, expected)
        else:
            there = other if isinstance(other, int) else to_device(np.abs(other), device)
            assert function(part, there) is part
            expected = function(expected, np.abs(other))
        host[index] = expected
        check(x, host, word)


def test_in_place_operators_go_by_those_of_cann_without_a_temporary(device: Device) -> None:
    x = to_device(numbers("f32", (2, 3)), device)
    y = to_device(numbers("f32", (2, 3), 1), device)
    expected = x.numpy() * y.numpy() + 1
    with_view = x
    x *= y
    x += 1
    assert x is with_view
    check(x, expected, "f32")
    x[0] -= x[1]
    expected[0] -= expected[1]
    check(x, expected, "f32")
    x += x.T[:2, :2].T[:, :1]  # shares memory with the result
    check(x, expected + expected.T[:2, :2].T[:, :1], "f32")


PROMOTIONS = [
    ("i8", "i32", np.int32),
    ("u8", "i8", np.int16),
    ("f16", "bf16", np.float32),
    ("i64", "f16", np.float16),
    ("f32", "f64", np.float64),
    ("bool", "i8", np.int8),
    ("f32", "c64", np.complex64),
    ("f64", "c64", np.complex128),
]


@pytest.mark.parametrize(("one", "other", "dtype"), PROMOTIONS)
def test_arrays_of_two_dtypes_have_the_common_one_of_cann(
    one: str, other: str, dtype: Any, device: Device
) -> None:
    left, right = numbers(one, (3,)), numbers(other, (3,), 1)
    x, y = to_device(left, device), to_device(right, device)
    for found in (x + y, y + x):
        assert found.dtype == dtype
        check(found, (left.astype(dtype) + right.astype(dtype)), "bf16")


@pytest.mark.parametrize(
    ("word", "number", "dtype"),
    [
        ("f16", 2, np.float16),
        ("bf16", 0.5, ml_dtypes.bfloat16),
        ("f32", np.float64(0.5), np.float32),
        ("i8", 2.5, np.float32),
        ("i8", np.int64(2), np.int8),
        ("bool", 2, np.int64),
        ("u8", True, np.uint8),
        ("f32", 1j, np.complex64),
        ("i32", np.array(2.5), np.float32),
    ],
)
def test_a_number_counts_by_its_category(
    word: str, number: Any, dtype: Any, device: Device
) -> None:
    found = to_device(numbers(word, (3,)), device) + number
    assert found.dtype == dtype
    check(found, numbers(word, (3,)).astype(dtype) + np.asarray(number).astype(dtype), "bf16")


def test_an_integer_that_a_dtype_does_not_hold(device: Device) -> None:
    x = to_device(np.array([1, 255], np.uint8), device)
    with pytest.raises(InvalidArgumentError, match="'x2' is 300; it must be a number that uint8"):
        _ = x + 300
    check(x < 300, np.array([True, True]), "bool")
    check(x == -1, np.array([False, False]), "bool")


I_ADD: Callable[[Any, Any], Any] = operator.iadd
REFUSALS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: x + np.ones(3, np.float32), r"'x2' is a NumPy array; .*to_device\(\)"),
    (lambda x: np.ones(3, np.float32) * x, r"'x1' is a NumPy array; .*to_device\(\)"),
    (lambda x: x == [1, 2, 3], "'x2' is a list"),
    (lambda x: x + x[:2], r"shape \(3,\) and float32 of shape \(2,\); it must be of shapes that"),
    (lambda x: x @ x[:2], "as many columns as the second has rows"),
    (lambda x: x @ 2, "as many columns as the second has rows"),
    (lambda x: I_ADD(x, 1j), r"'out' is float32 .* complex64 is cast safely"),
    (lambda x: I_ADD(x[:1], x), r"'out' is float32 of shape \(1,\)"),
    (lambda x: np.add(x, 1, out=np.ones(3, np.float32)), "'out' is a NumPy array"),
    (lambda x: np.add(1, 2, out=x), "one device array at least"),
    (lambda x: I_ADD(np.ones(3), x), "'out' is a NumPy array"),
]


@pytest.mark.parametrize(("action", "text"), REFUSALS)
def test_what_does_not_go_together_is_refused(
    action: Callable[[Any], Any], text: str, device: Device
) -> None:
    x = to_device(np.ones(3, np.float32), device)
    with pytest.raises(InvalidArgumentError, match=f"(?s){text}"):
        action(x)
    np.testing.assert_array_equal(x.numpy(), np.ones(3, np.float32))


def test_what_is_no_number_and_no_array_is_not_equal(device: Device) -> None:
    x: Any = to_device(np.ones(3, np.float32), device)
    assert (x == None) is False  # noqa: E711  # what many programs write
    assert (x != "a") is True
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = x + "a"


def test_an_array_is_a_key_by_its_identity(device: Device) -> None:
    x, y = (to_device(np.ones(3, np.float32), device) for _ in range(2))
    assert {x: 1, y: 2}[x] == 1
    assert len({x, y, x}) == 2


def test_an_operator_follows_what_is_still_to_be_written(stream: Stream) -> None:
    host = numbers("f32", (64,))
    twice = aclnn.muls(to_device(host), 2.0, stream=stream)
    found = twice + 1  # on another stream
    assert not stream.is_done()
    check(found, 2 * host + 1, "f32")


def test_a_temporary_lives_as_long_as_queued_work_needs_it(device: Device) -> None:
    host = numbers("f32", (256, 256))
    x = to_device(host, device)
    found = ((x + 1) * 2 - x) / 4
    del x
    gc.collect()
    check(found, ((host + 1) * 2 - host) / 4, "f32")


def test_the_value_of_one_element_is_waited_for_and_copied(stream: Stream) -> None:
    x = aclnn.muls(to_device(np.array([[2.5]], np.float32)), 2.0, stream=stream)
    assert (float(x), int(x), complex(x), bool(x)) == (5.0, 5, 5 + 0j, True)
    assert bool(x == 5)
    assert [10, 20, 30][to_device(np.array(1))] == 20
    with pytest.raises(TypeError, match="only integers are"):
        _ = [1][x]
    for kind, shape in itertools.product((float, int, complex), ((3,), (0,))):
        with pytest.raises(TypeError, match=rf"{kind.__name__}\(\) needs an array of one element"):
            kind(to_device(np.ones(shape, np.float32)))


def test_an_array_is_iterated_by_its_first_axis(device: Device) -> None:
    host = numbers("f32", (3, 2))
    rows = list(to_device(host, device))
    assert len(rows) == 3
    np.testing.assert_array_equal(np.stack([row.numpy() for row in rows]), host)
    with pytest.raises(TypeError, match="an array without axes"):
        iter(to_device(np.array(1.5), device))
    with pytest.raises(TypeError, match="'in' would compare"):
        _ = 1 in to_device(host, device)


def test_a_notebook_shows_the_properties_and_no_data(device: Device) -> None:
    text = to_device(numbers("f32", (2, 3)), device)._repr_html_()
    for words in ("float32", "(2, 3)", "24 bytes", "<th>device</th><td>0</td>"):
        assert words in text


def test_what_cann_refuses_is_its_error(device: Device) -> None:
    x = to_device(np.array([True, False]), device)
    with pytest.raises(AclError, match="aclnnNeg"):
        _ = -x
