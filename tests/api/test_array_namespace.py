# SPDX-License-Identifier: Apache-2.0
"""The namespace of the array API, and NumPy's reductions, give what NumPy gives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn import DeviceArray, Stream, aclnn, array_api as xp, to_device
from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.facts.operators.array_functions import array_functions, operators_to_call
from pyaclnn.facts.operators.catalogue import catalogue

from .array_truth import check, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.runtime.device import Device

REDUCTIONS = {
    **dict.fromkeys(("sum", "max", "min", "all", "any"), "f32 f16 bf16 f64 i8 u8 i16 i32 i64 bool"),
    **dict.fromkeys(("mean", "argmax", "argmin"), "f32 f16 bf16 f64 i8 u8 i16 i32 i64"),
    **dict.fromkeys(("var", "std"), "f32 f16 bf16"),
}
# The names of the array API's 2024.12 that are not here: no operator computes them, they need
# indices of bools, or a program calls their operators.
MISSING = {
    *("broadcast_arrays", "broadcast_to", "conj", "copysign", "cumulative_prod", "diff", "flip"),
    *("hypot", "imag", "meshgrid", "nextafter", "nonzero", "prod", "real", "repeat", "roll"),
    *("searchsorted", "take_along_axis", "tensordot", "tile", "tril", "triu", "unique_all"),
    *("unique_counts", "unique_inverse", "unique_values", "vecdot"),
}


def test_every_reduction_of_the_table_is_tested_and_exists() -> None:
    table = {f.names[0]: f for f in array_functions().values() if f.is_reduction}
    assert set(REDUCTIONS) == set(table)
    for function in table.values():
        parameters = catalogue()[function.on_arrays.operator].parameters
        assert len([p for p in parameters if p.read]) == len(function.on_arrays.arguments)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("word", "f32 f16 bf16 f64 i8 u8 i16 i32 i64 bool".split())  # noqa: SIM905
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_gives_what_numpy_gives(name: str, word: str, device: Device) -> None:
    if word not in REDUCTIONS[name].split():
        return
    host = numbers(word, (3, 4, 2))
    x, wide = to_device(host, device), host.astype(np.float64)
    function, expected = getattr(xp, name), getattr(np, name)
    dtype = {"all": np.bool_, "any": np.bool_, "argmax": np.int64, "argmin": np.int64}.get(name)
    if host.dtype.kind in "biu" and name in ("sum", "mean"):
        dtype = np.int64 if name == "sum" else np.float32
    dtype = dtype or host.dtype.type
    for axis in (None, 0, -1, (0, 2)):
        for keep in (False, True):
            if isinstance(axis, tuple) and name.startswith("arg"):
                continue
            for index in (np.s_[...], np.s_[:, ::2]):
                found = function(x[index], axis=axis, keepdims=keep)
                wanted = expected(wide[index], axis=axis, keepdims=keep)
                assert (found.shape, found.dtype) == (np.shape(wanted), dtype)
                found.device.synchronize()
                tolerance = {"f16": 4e-3, "bf16": 3e-2}.get(word, 1e-5)
                np.testing.assert_allclose(
                    found.numpy().astype(np.float64), wanted, tolerance, tolerance
                )
    if name in ("var", "std"):
        check(function(x, correction=1), np.asarray(expected(wide, ddof=1)), "bf16")


@pytest.mark.parametrize("function", [np.sum, np.max, np.min, np.all, np.any])
def test_a_reduction_of_numpy_is_computed_on_the_device(
    function: Callable[..., Any], device: Device
) -> None:
    host = numbers("f32", (3, 4))
    found = function(to_device(host, device), axis=1)
    assert isinstance(found, DeviceArray)
    check(found, function(host, axis=1), "f32")


FUNCTIONS: list[Callable[[Any, Any, Any], Any]] = [
    lambda xp, x, y: xp.where(x > 0, x, y),
    lambda xp, x, _: xp.where(x > 0, x, np.float32(0) if xp is np else 0),
    lambda xp, x, y: xp.concat([x, y], axis=1) if xp is not np else np.concatenate([x, y], 1),
    lambda xp, x, y: xp.concat([x, y], axis=None) if xp is not np else np.concatenate([x, y], None),
    lambda xp, x, y: xp.stack([x, y], axis=1),
    lambda xp, x, y: xp.stack([x, y], axis=-1),
    lambda xp, x, _: xp.sort(x, axis=0),
    lambda xp, x, _: xp.argsort(x, axis=1),
    lambda xp, x, _: xp.clip(x, -0.25, 0.5) if xp is not np else x.clip(-0.25, 0.5),
    lambda xp, x, y: xp.clip(x, y, None) if xp is not np else np.maximum(x, y),
    lambda xp, x, _: xp.moveaxis(x, 0, -1),
    lambda xp, x, _: xp.squeeze(xp.expand_dims(x, axis=1), axis=1),
    lambda xp, x, _: xp.reshape(x.T, (-1,)),
    lambda xp, x, _: xp.count_nonzero(x > 0, axis=0) + 0,
    lambda xp, x, y: xp.matmul(x, y.T),
    lambda xp, x, _: xp.pow(x, 2) if xp is not np else x**2,
    lambda xp, x, _: xp.acos(x / 2) if xp is not np else np.arccos(x / 2),
    lambda xp, x, _: xp.isnan(x),
    lambda xp, x, _: xp.zeros_like(x) + xp.ones_like(x),
    lambda xp, x, _: xp.full_like(x, 3) * x,
    lambda xp, *_: xp.asarray(np.arange(5)),
    lambda xp, *_: xp.eye(2, 3, k=1),
    lambda xp, *_: xp.linspace(0, 1, 5),
    lambda xp, x, _: xp.permute_dims(x, (1, 0)) if xp is not np else x.T,
    lambda xp, x, _: xp.matrix_transpose(x) if xp is not np else x.T,
    lambda xp, x, _: xp.cumulative_sum(x, axis=1) if xp is not np else x.cumsum(1),
    lambda xp, x, _: xp.take(x, xp.asarray(np.array([2, 0])), axis=1),
    lambda xp, x, _: xp.unstack(x, axis=1)[1] + 0 if xp is not np else x[:, 1],
    lambda xp, x, _: xp.astype(x, xp.int32) if xp is not np else x.astype(np.int32),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_gives_what_numpy_gives(
    function: Callable[[Any, Any, Any], Any], device: Device
) -> None:
    left, right = numbers("f32", (3, 4)), numbers("f32", (3, 4), 1)
    found = function(xp, to_device(left, device), to_device(right, device))
    assert isinstance(found, DeviceArray)
    check(found, np.asarray(function(np, left, right)), "f32")


def test_an_array_has_its_namespace(device: Device) -> None:
    x = pyaclnn.ones(3, device=device)
    found: object = x.__array_namespace__()
    again: object = x.__array_namespace__(api_version="2024.12")
    assert found is xp
    assert again is xp
    with pytest.raises(InvalidArgumentError, match=r"'2021\.12'; it must be '2024\.12', or None"):
        x.__array_namespace__(api_version="2021.12")
    assert {"sum", "add", "asarray", "float32", "newaxis", "pi", "result_type"} <= {*dir(xp)}
    for name in dir(xp):
        assert getattr(xp, name, x) is not x
    assert sum([1, 2]) == 3  # Python's own are as they were
    assert xp.sum is xp.sum


@pytest.mark.parametrize("name", sorted(MISSING - operators_to_call().keys()))
def test_a_name_without_an_operator_is_one_clear_refusal(name: str) -> None:
    with pytest.raises(AttributeError, match=f"no operator of CANN computes '{name}'"):
        getattr(xp, name)


@pytest.mark.parametrize("name", sorted(MISSING & operators_to_call().keys()))
def test_a_name_whose_operator_is_to_be_called_names_the_call(name: str) -> None:
    with pytest.raises(
        AttributeError, match=rf"^'{name}' .* call pyaclnn\.aclnn\.\w+\(\)"
    ) as caught:
        getattr(xp, name)
    for function in re.findall(r"pyaclnn\.aclnn\.(\w+)", str(caught.value)):
        assert hasattr(aclnn, function)


def test_operators_to_call_exist_and_have_no_function() -> None:
    assert {c_name for names in operators_to_call().values() for c_name in names} <= {*catalogue()}
    assert array_functions().keys().isdisjoint(operators_to_call())


def test_matrix_transposes_are_views(device: Device) -> None:
    x = pyaclnn.ones((2, 3, 4), device=device)
    assert x.mT.shape == (2, 4, 3)
    assert x.to_device(device) is x
    assert x[0, 0].mT.shape == (4,)
    with pytest.raises(InvalidArgumentError, match="one of two axes or more"):
        xp.matrix_transpose(x[0, 0])


def test_dtypes_are_those_of_the_standard(device: Device) -> None:
    x = pyaclnn.ones(3, np.float16, device)
    assert xp.result_type(x, 1.5) == xp.float16
    assert xp.result_type(xp.int8, xp.uint8) == xp.int16
    assert xp.can_cast(xp.int8, xp.int16)
    assert not xp.can_cast(xp.int16, xp.int8)
    assert xp.isdtype(xp.uint8, ("bool", "integral"))
    assert not xp.isdtype(xp.bfloat16, "integral")
    assert xp.isdtype(xp.bfloat16, "real floating")
    assert float(xp.finfo(x).max) == 65504
    assert xp.iinfo(xp.int8).min == -128
    assert xp.asarray([1.5]).dtype == xp.float32
    assert (xp.asarray(2).dtype, xp.asarray(2).shape) == (xp.int64, ())
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=True) is not x
    with pytest.raises(InvalidArgumentError, match="no common data type is known"):
        xp.result_type(xp.uint16, xp.int8)


def test_functions_follow_what_is_still_to_be_written(stream: Stream) -> None:
    host = numbers("f32", (64, 8))
    twice = aclnn.muls(to_device(host), 2.0, stream=stream)
    functions = (xp.sum, lambda x: xp.concat([x, x]), xp.sort, lambda x: -x)
    found = [function(twice) for function in functions]
    assert not stream.is_done()
    doubled = 2 * host
    for one, wanted in zip(
        found,
        (doubled.sum(), np.concatenate([doubled, doubled]), np.sort(doubled), -doubled),
        strict=True,
    ):
        check(one, np.asarray(wanted), "bf16")


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda x: xp.sum(x, axis=3), "different axes of an array of 2 axes"),
        (lambda x: xp.sum(x, axis=(0, 0)), "different axes of an array of 2 axes"),
        (lambda x: xp.argmax(x, axis=(0, 1, 2)), "different axes"),
        (lambda x: xp.squeeze(x, axis=0), "axes of length 1"),
        (xp.cumulative_sum, "given for several axes"),
        (lambda x: xp.isdtype(x.dtype, "real"), r"one of \['bool'"),
    ],
)
def test_arguments_that_cannot_be_are_refused(
    action: Callable[[Any], Any], text: str, device: Device
) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        action(pyaclnn.ones((2, 3), device=device))
