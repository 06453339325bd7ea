# SPDX-License-Identifier: Apache-2.0
"""Operators and ufuncs of device arrays give what NumPy gives, where the arrays are."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn import to_device
from pyaclnn.base.errors import (
    InvalidArgumentError,
    MissingSymbolError,
    UnsupportedError,
)
from pyaclnn.facts.operators.array_functions import array_functions, operators_to_call
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.releases import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyaclnn.runtime.device import Device

from .array_truth import DTYPES, TOLERANCE, check, numbers

# The types that CANN's documents list for the operators on an A2; of others a chip has no kernels.
FLOATS, LONG = "f32 f16 bf16 f64", "i32 i64"
ALL_INTEGERS = f"i8 u8 i16 {LONG}"
REALS = f"{FLOATS} {ALL_INTEGERS}"
COMPLEX = "c64 c128"
LISTED = {
    **dict.fromkeys(("add", "multiply", "divide"), f"{REALS} bool {COMPLEX}"),
    "power": f"{REALS} {COMPLEX}",
    "subtract": f"{REALS} {COMPLEX}",
    "floor_divide": REALS,
    "remainder": f"{FLOATS} {LONG}",
    "fmod": f"{FLOATS} i8 u8 {LONG}",
    "matmul": "f32 f16 bf16",
    "negative": f"{FLOATS} i8 {LONG} {COMPLEX}",
    "positive": f"{REALS} {COMPLEX}",
    "absolute": f"{REALS} c64",
    "fabs": f"{FLOATS} i32",
    "sign": f"{FLOATS} {LONG}",
    "square": f"{REALS} {COMPLEX}",
    "reciprocal": f"{FLOATS} {COMPLEX}",
    "gcd": ALL_INTEGERS,
    **dict.fromkeys(("maximum", "minimum"), f"{REALS} bool"),
    "heaviside": "f32 f16 bf16",
    **dict.fromkeys(("ceil", "floor", "rint", "trunc"), f"f32 f16 bf16 {LONG}"),
    **dict.fromkeys(("exp", "log", "log2", "log10", "sqrt"), f"{REALS} bool {COMPLEX}"),
    **dict.fromkeys(("sin", "cos", "tan"), f"{REALS} bool {COMPLEX}"),
    **dict.fromkeys(("sinh", "cosh", "arcsinh"), f"{REALS} {COMPLEX}"),
    **dict.fromkeys(("exp2", "expm1", "log1p", "tanh", "arctan", "arctan2"), f"{REALS} bool"),
    **dict.fromkeys(("degrees", "radians"), FLOATS),
    **dict.fromkeys(("logaddexp", "logaddexp2"), "f32 f16 bf16"),  # CANN's have no float64 result
    **dict.fromkeys(("arcsin", "arccos", "arccosh", "arctanh"), REALS),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "invert"), f"{ALL_INTEGERS} bool"),
    **dict.fromkeys(("left_shift", "right_shift"), ALL_INTEGERS),
    **dict.fromkeys(("equal", "not_equal"), f"{REALS} bool {COMPLEX}"),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), f"{REALS} bool"),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "logical_not"), f"{REALS} bool"),
    "isfinite": f"{REALS} bool",
    "isinf": "f32 f16 bf16",
    "isnan": FLOATS,
    "signbit": REALS,
}  # fmt: skip
REFUSED = {"log10": "writes", "expm1": "reads", "tanh": "reads"}
"""The functions without float64, which their operators of CANN do not read or do not write."""
TABLE = {f.names[0]: f for f in array_functions().values() if not f.is_reduction}
NARROW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def truth(name: str, *operands: Any) -> Any:
    """Compute with NumPy in the types in which CANN computes: 16-bit types in float32."""
    if TABLE[name].result == "whole" and operands[0].dtype.kind == "i":
        return operands[0]  # as in the array API, and in newer releases of NumPy
    real = TABLE[name].result == "real"
    wide = [
        np.asarray(a, np.float32)
        if isinstance(a, np.ndarray) and (a.dtype in NARROW or (real and a.dtype.kind in "biu"))
        else a
        for a in operands
    ]
    with np.errstate(all="ignore"):
        return getattr(np, name)(*wide)


def test_every_function_of_the_table_is_tested_and_exists() -> None:
    assert set(LISTED) == set(TABLE)
    for function in TABLE.values():
        calls = (function.on_arrays, function.on_right_number, function.on_left_number)
        for call in filter(None, calls):
            read = [p for p in catalogue()[call.operator].parameters if p.read]
            assert len(read) == len(call.arguments), call
    every = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
    assert {getattr(np, name).__name__ for name in every} & set(array_functions()) >= set(LISTED)


RELEASE = os.environ.get("PYACLNN_MOCK_CANN", DEFAULT)


def needs(name: str) -> AbstractContextManager[object]:
    """Expect the error of an operator that the release of CANN does not have yet."""
    if catalogue()[TABLE[name].on_arrays.operator].is_in(RELEASE):
        return contextlib.nullcontext()
    return pytest.raises(MissingSymbolError, match=r"declares it since CANN 9\.1")


CASES = [
    (name, word)
    for name, words in LISTED.items()
    for word in words.split()
    if name not in REFUSED or word != "f64"
]


@pytest.mark.sampled(40)
@pytest.mark.parametrize(("name", "word"), CASES)
def test_a_ufunc_gives_what_numpy_gives(name: str, word: str, device: Device) -> None:
    ufunc: Any = getattr(np, name)
    left = numbers(word, (3, 4))
    if word in TOLERANCE and name in ("log", "log2", "log10", "sqrt", "log1p", "power", "arccosh"):
        left = np.abs(left) + (name == "arccosh")
        left = left.astype(DTYPES[word])
    if name in ("arcsin", "arccos", "arctanh"):
        left = np.zeros_like(left) if word not in TOLERANCE else (left / 2).astype(left.dtype)
    right = numbers(word, (4, 3) if name == "matmul" else (4,), 1)
    x, y = to_device(left, device), to_device(right, device)
    with needs(name):
        ufunc(*[x, y][: TABLE[name].operands])
    if not isinstance(needs(name), contextlib.nullcontext):
        return
    if TABLE[name].operands == 1:
        check(ufunc(x), truth(name, left), word)
        check(ufunc(x[:, ::2]), truth(name, left[:, ::2]), word)
        assert ufunc(x[:0]).shape == (0, 4)
        return
    check(ufunc(x, y), truth(name, left, right), word)
    if name == "matmul":
        return
    check(ufunc(x.T[:, 1:2], y[:, None]), truth(name, left.T[:, 1:2], right[:, None]), word)
    assert ufunc(x[:0], y).shape == (0, 4)
    number: Any = right.reshape(-1)[0].item()
    if word == "bool":
        number = True
    check(ufunc(x, number), truth(name, left, number), word)
    check(ufunc(number, y), truth(name, number, right), word)
    check(ufunc(x, right.reshape(-1)[0]), truth(name, left, number), word)


@pytest.mark.parametrize(("name", "verb"), REFUSED.items())
def test_float64_is_one_clear_refusal_where_cann_has_none(
    name: str, verb: str, device: Device
) -> None:
    x = to_device(np.ones(3), device)
    text = (
        rf"{name}\(\): 'operands' is float64 .* aclnn{name.title()} {verb}: bfloat16 or .*float32"
    )
    with pytest.raises(InvalidArgumentError, match=text):
        getattr(np, name)(x)


def test_a_result_that_cann_does_not_write_in_16_bits_is_cast(device: Device) -> None:
    host = np.arange(-4, 4).astype(ml_dtypes.bfloat16)
    x, out = to_device(host, device), to_device(host, device)
    floor_divide: Any = np.floor_divide
    results = [floor_divide(x, 3), floor_divide(x, x * 0 + 3, out=out), out]
    x //= 3
    for found in (*results, x):
        assert found.dtype == host.dtype
        check(found, np.asarray(host, np.float32) // 3, "bf16")


UFUNCS = sorted({f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc)}.items())


@pytest.mark.parametrize(("name", "ufunc"), [u for u in UFUNCS if u[0] not in array_functions()])
def test_a_ufunc_without_an_operator_is_one_clear_refusal(
    name: str, ufunc: np.ufunc, device: Device
) -> None:
    x = to_device(np.ones(3, np.float32), device)
    text = rf"no operator of CANN computes (numpy\.)?{name} "
    if name in operators_to_call():
        text = rf"{name} takes no device arrays here.*\n.* call pyaclnn\.aclnn\."
    with pytest.raises(UnsupportedError, match=text):
        ufunc(*[x] * ufunc.nin)


def test_other_uses_of_a_ufunc_are_refused(device: Device) -> None:
    x = to_device(np.ones(3, np.float32), device)
    calls: list[Callable[[], Any]] = [
        lambda: np.add.outer(x, x),
        lambda: np.add(x, 1, where=False),
        lambda: np.add(x, 1, dtype=np.float64),
    ]
    for call in calls:
        with pytest.raises(UnsupportedError, match=r"copy them to the host with \.numpy\(\)"):
            call()
