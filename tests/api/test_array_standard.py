# SPDX-License-Identifier: Apache-2.0
"""Every name of the array API 2023.12: it computes what NumPy computes, or is one clear refusal.

The names are those of the standard's text, typed here, and not those of any namespace.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn import DeviceArray, array_api as xp, to_device

from .array_truth import check, numbers

# Of one array of numbers, of integers, of bools; a colon precedes NumPy's own name.
UNARY = """
    abs acos:arccos asin:arcsin atan:arctan atanh:arctanh asinh:arcsinh ceil cos cosh exp expm1
    floor isfinite isinf isnan negative positive round sign signbit sin sinh square tan tanh trunc
"""
POSITIVE = "log log1p log2 log10 sqrt acosh:arccosh"
BINARY = """
    add atan2:arctan2 divide equal floor_divide greater greater_equal less less_equal logaddexp
    maximum minimum multiply not_equal remainder subtract
"""
INTEGERS = "bitwise_and bitwise_or bitwise_xor"
SHIFTS = ("bitwise_left_shift", "bitwise_right_shift")  # CANN has them since 9.1
REDUCTIONS = "all any argmax argmin max mean min std sum var"
# The others: a call of the namespace, and the same of NumPy.
CALLS = {
    "arange": ("xp.arange(1, 7, 2)", "np.arange(1, 7, 2)"),
    "argsort": ("xp.argsort(x, axis=0)", "np.argsort(a, axis=0)"),
    "asarray": ("xp.asarray([[1, 2], [3, 4]])", "np.array([[1, 2], [3, 4]])"),
    "astype": ("xp.astype(i, xp.float32)", "j.astype(np.float32)"),
    "bitwise_invert": ("xp.bitwise_invert(i)", "~j"),
    "clip": ("xp.clip(x, -0.5, 0.5)", "a.clip(-0.5, 0.5)"),
    "concat": ("xp.concat([x, y], axis=1)", "np.concatenate([a, b], 1)"),
    "cumulative_sum": ("xp.cumulative_sum(x, axis=1)", "a.cumsum(1)"),
    "empty": ("xp.empty((2, 3)) * 0 == 1", "np.zeros((2, 3), bool)"),
    "empty_like": ("xp.empty_like(x) * 0 == 1", "np.zeros_like(a, bool)"),
    "expand_dims": ("xp.expand_dims(x, axis=1)", "np.expand_dims(a, 1)"),
    "eye": ("xp.eye(2, 3, k=1)", "np.eye(2, 3, 1)"),
    "from_dlpack": ("xp.from_dlpack(a.copy())", "a"),
    "full": ("xp.full((2,), 3)", "np.full(2, 3)"),
    "full_like": ("xp.full_like(x, 3)", "np.full_like(a, 3)"),
    "linspace": ("xp.linspace(0, 1, 5)", "np.linspace(0, 1, 5)"),
    "logical_and": ("xp.logical_and(x > 0, y > 0)", "(a > 0) & (b > 0)"),
    "logical_not": ("xp.logical_not(x > 0)", "~(a > 0)"),
    "logical_or": ("xp.logical_or(x > 0, y > 0)", "(a > 0) | (b > 0)"),
    "logical_xor": ("xp.logical_xor(x > 0, y > 0)", "(a > 0) ^ (b > 0)"),
    "matmul": ("xp.matmul(x, y.mT)", "a @ b.T"),
    "matrix_transpose": ("xp.matrix_transpose(x)", "a.T"),
    "moveaxis": ("xp.moveaxis(x, 0, 1)", "a.T"),
    "ones": ("xp.ones((2,))", "np.ones(2)"),
    "ones_like": ("xp.ones_like(x)", "np.ones_like(a)"),
    "permute_dims": ("xp.permute_dims(x, (1, 0))", "a.T"),
    "pow": ("xp.pow(x, 2)", "a**2"),
    "reshape": ("xp.reshape(x, (-1,))", "a.ravel()"),
    "sort": ("xp.sort(x, axis=0)", "np.sort(a, 0)"),
    "squeeze": ("xp.squeeze(x[:1], 0)", "a[0]"),
    "stack": ("xp.stack([x, y])", "np.stack([a, b])"),
    "take": ("xp.take(x, i[0, :2] * 0, axis=0)", "a[[0, 0]]"),
    "unstack": ("xp.unstack(x)[1] + 0", "a[1]"),
    "where": ("xp.where(x > 0, x, y)", "np.where(a > 0, a, b)"),
    "zeros": ("xp.zeros((2,))", "np.zeros(2)"),
    "zeros_like": ("xp.zeros_like(x)", "np.zeros_like(a)"),
}
VALUES = {
    "can_cast": "xp.can_cast(xp.float32, xp.float64) and not xp.can_cast(xp.float64, xp.float32)",
    "e": "xp.e == math.e",
    "finfo": "xp.finfo(xp.float32).eps == np.finfo('f4').eps and xp.finfo(xp.float64).bits == 64",
    "iinfo": "xp.iinfo(xp.int8).max == 127",
    "inf": "xp.inf == math.inf",
    "isdtype": "xp.isdtype(xp.int8, 'integral') and not xp.isdtype(xp.int8, 'real floating')",
    "nan": "math.isnan(xp.nan)",
    "newaxis": "xp.newaxis is None",
    "pi": "xp.pi == math.pi",
    "result_type": "xp.result_type(xp.int8, xp.int16) == xp.int16",
    "__array_namespace_info__": (
        "xp.__array_namespace_info__().capabilities()['boolean indexing'] is False"
    ),
}
DTYPES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
"""
REFUSED = """
    broadcast_arrays broadcast_to conj copysign flip hypot imag meshgrid nonzero prod real repeat
    roll searchsorted tensordot tile tril triu unique_all unique_counts unique_inverse unique_values
    vecdot
"""


def calls_of(words: str, arguments: str, truth: str) -> dict[str, tuple[str, str]]:
    """Return a call of each function, with the arguments of the namespace and of NumPy."""
    pairs = [word.partition(":") for word in words.split()]
    return {
        name: (f"xp.{name}({arguments})", f"np.{numpy or name}({truth})")
        for name, _, numpy in pairs
    }


ALL_CALLS = {
    **calls_of(UNARY, "x / 2", "a / 2"),
    **calls_of(POSITIVE, "x * x + 1", "a * a + 1"),
    **calls_of(BINARY, "x, y", "a, b"),
    **calls_of(INTEGERS, "i, i", "j, j"),
    **calls_of(REDUCTIONS, "x, axis=1", "a, axis=1"),
    **CALLS,
}


def test_the_standard_has_as_many_names() -> None:
    lists = [[*ALL_CALLS], SHIFTS, [*VALUES], DTYPES.split(), REFUSED.split()]
    everything = [name for names in lists for name in names]
    assert len(everything) == len({*everything}) == 146


@pytest.mark.parametrize("name", ALL_CALLS)
def test_a_function_of_the_standard_computes(name: str) -> None:
    call, truth = ALL_CALLS[name]
    a, b, j = numbers("f32", (3, 4)), numbers("f32", (3, 4), 1), numbers("i32", (3, 4))
    space: dict[str, Any] = {"np": np, "xp": xp, "a": a, "b": b, "j": j}
    space |= {"x": to_device(a), "y": to_device(b), "i": to_device(j)}
    found = eval(call, space)  # noqa: S307  # the calls above
    assert isinstance(found, DeviceArray)
    check(found, np.asarray(eval(truth, space)), "f32")  # noqa: S307


@pytest.mark.parametrize("name", SHIFTS)
def test_a_shift_computes_or_names_the_release_that_has_it(name: str) -> None:
    truth = np.array([1, 2, 3]) << 1 if "left" in name else np.array([1, 2, 3]) >> 1
    try:
        found = getattr(xp, name)(xp.asarray([1, 2, 3]), xp.asarray([1, 1, 1]))
    except pyaclnn.MissingSymbolError as missing:
        message = str(missing)  # not the error, whose traceback keeps the arrays
    else:
        check(found, truth, "i64")
        return
    assert "since CANN 9.1" in message


@pytest.mark.parametrize("name", VALUES)
def test_a_constant_or_function_of_dtypes_is_as_the_standard_has_it(name: str) -> None:
    assert eval(VALUES[name], {"np": np, "xp": xp, "math": math})  # noqa: S307


def test_dtypes_are_listed_by_the_inspection() -> None:
    info = xp.__array_namespace_info__()
    assert {*info.dtypes()} == {*DTYPES.split()}
    assert {*info.dtypes(kind="signed integer")} == {"int8", "int16", "int32", "int64"}
    assert {*info.dtypes(kind=("bool", "complex floating"))} == {"bool", "complex64", "complex128"}
    assert info.default_dtypes()["real floating"] == xp.asarray([1.0]).dtype
    assert info.default_dtypes()["integral"] == xp.asarray([1]).dtype
    assert info.default_device() == xp.zeros(1).device
    opened = info.devices()
    assert len(opened) == pyaclnn.device_count()
    for device in opened:
        device.close()


@pytest.mark.parametrize("name", REFUSED.split())
def test_another_name_is_one_clear_refusal(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"'{name}' of the array API") as caught:
        getattr(xp, name)
    assert ".numpy()" in str(caught.value)
    assert name not in dir(xp)
