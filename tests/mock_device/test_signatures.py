# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of operators without a description: checks by the signature, then by the kernel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.operators import operators_of
from pyaclnn.mock.operators.arguments import signature_of
from pyaclnn.mock.operators.finding import find_operator
from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import Call, IntArray, Scalar, Tensor, TensorList, Value
from pyaclnn.reference.kernels import built_in
from pyaclnn.reference.kernels.kernel import Kernel, kernels_of, operator
from tests.releases import OLDEST

from .bench import tensor

if TYPE_CHECKING:
    from .bench import Bench

X, WHOLE = tensor(2, 3), tensor(2, 3, data_type=DATA_TYPES["INT32"])
ONE = Scalar(DATA_TYPES["INT64"], (1).to_bytes(8, "little"))
STRANGE = Scalar(99, b"\0" * 8)
PAIR, SINGLE = TensorList((X, X)), TensorList((X,))

WRONG: dict[str, tuple[str, dict[str, Value], int, str]] = {
    "NULL": (
        "aclnnAdd",
        {"self": None, "other": X, "alpha": ONE, "out": X},
        161001,
        "self is NULL",
    ),
    "no result": ("aclnnSqrt", {"self": X, "out": None}, 161001, "out is NULL"),
    "no result that the kernel looks at": (
        "aclnnSort",
        {
            "self": X,
            "stable": True,
            "dim": 0,
            "descending": False,
            "valuesOut": X,
            "indicesOut": None,
        },
        161001,
        "indicesOut is NULL",
    ),
    "NULL in a list": (
        "aclnnCat",
        {"tensors": TensorList((X, None)), "dim": 0, "out": X},
        161001,
        "element 1 of tensors is NULL",
    ),
    "a data type that does not exist": (
        "aclnnInplaceFillScalar",
        {"selfRef": X, "value": STRANGE},
        161002,
        "value has the data type unknown (99)",
    ),
    "lists of two lengths": (
        "aclnnForeachMulList",
        {"x1": PAIR, "x2": SINGLE, "out": PAIR},
        161002,
        "x2 has 1 elements; it must have 2, as x1 has",
    ),
    "another shape": (
        "aclnnSqrt",
        {"self": X, "out": tensor(3, 2)},
        161002,
        "out has shape (3, 2)",
    ),
    "another data type": (
        "aclnnSoftmax",
        {"self": X, "dim": 0, "out": WHOLE},
        161002,
        "out has data type int32; it must be bfloat16 or float16 or float32",
    ),
    "a cast that loses": (
        "aclnnMul",
        {"self": X, "other": X, "out": tensor(2, 3, data_type=DATA_TYPES["INT32"])},
        161002,
        "cannot be cast to int32",
    ),
    "shapes that do not broadcast": (
        "aclnnMul",
        {"self": X, "other": tensor(2, 4), "out": X},
        161002,
        "broadcast",
    ),
    "a list of nothing": (
        "aclnnCat",
        {"tensors": TensorList(()), "dim": 0, "out": X},
        161002,
        "tensors is a list of no tensors",
    ),
    "a data type that NumPy has not": (
        "aclnnCast",
        {"self": X, "dtype": 99, "out": X},
        161002,
        "dtype: data type unknown (99) has no array type",
    ),
    "indices that are none": (
        "aclnnEmbedding",
        {"weight": X, "indices": X, "out": X},
        161002,
        "indices has data type float32; it must be int32 or int64",
    ),
    "more than there are": (
        "aclnnTopk",
        {
            "self": X,
            "k": 4,
            "dim": 1,
            "largest": True,
            "sorted": True,
            "valuesOut": X,
            "indicesOut": tensor(2, 3, data_type=DATA_TYPES["INT64"]),
        },
        161002,
        "k is 4; it must be in [0, 3]",
    ),
    "an axis that is not there": (
        "aclnnReduceSum",
        {"self": X, "dims": IntArray((2,)), "keepDims": False, "dtype": 0, "out": tensor(2)},
        161002,
        "dimension 2 is not in [-2, 1]",
    ),
}


@pytest.mark.parametrize(("name", "arguments", "status", "text"), WRONG.values(), ids=list(WRONG))
def test_what_is_wrong_is_refused(
    name: str, arguments: dict[str, Value], status: int, text: str, bench: Bench
) -> None:
    reply = bench.check(name, arguments)
    assert reply.status == status, reply.text
    assert reply.text.startswith(f"{name}: ")
    assert text in reply.text


def test_every_operator_without_a_kernel_says_so_and_never_succeeds(bench: Bench) -> None:
    without = [
        name for name in catalogue() if name not in built_in() and name not in operators_of(OLDEST)
    ]
    assert len(without) > 100
    values: dict[str, Value] = {"t": X, "T": PAIR, "a": ONE, "s": "", "b": True, "d": 0.0, "f": 0.0}
    for name in without:
        given = {p.name: values.get(p.kind, 0) for p in catalogue()[name].parameters}
        for parameter in catalogue()[name].parameters:
            if parameter.kind in "AIFB":
                given[parameter.name] = None
        reply = bench.check(name, given)
        assert reply.status in {999001, 161001, 161002}, (name, reply.text)
        if reply.status == 999001:
            assert f'@pyaclnn.mock.operator("{name}")' in reply.text
        if reply.status == 161002:
            assert re.search("data type|it must have at most", reply.text), reply.text


def test_an_operator_in_no_table_and_without_a_kernel_is_not_there(bench: Bench) -> None:
    reply = bench.check("aclnnNobodyHasIt", {"x": X})
    assert reply.status == 999001
    assert "no table" in reply.text


def test_an_operator_in_no_table_writes_what_its_kernel_does_not_name() -> None:
    types = (("x", Tensor), ("cacheRef", Tensor), ("scale", float), ("y", Tensor))
    kernel = Kernel("aclnnOfMyOwn", lambda x, cache, scale: (cache, x * scale))
    signature = signature_of(kernel.name, kernel, types)
    assert signature is not None
    assert signature.written == ("cacheRef", "y")
    assert signature.read == ("x", "cacheRef", "scale")


@pytest.mark.parametrize(
    ("name", "read"), [("aclnnAbs", ["self"]), ("aclnnPrecisionCompare", ["golden", "realdata"])]
)  # with a kernel, and without
def test_an_operator_is_made_once(name: str, read: list[str]) -> None:
    call = Call(name, 0, {**dict.fromkeys(read, X), "out": X})
    assert find_operator(call, OLDEST) is find_operator(call, OLDEST)


def test_names_may_leave_out_what_python_cannot_say() -> None:
    def function(self: int, bias: int, lambda_: int) -> tuple[int, int, int]:
        return self, bias, lambda_

    kernel = Kernel("aclnnX", function)
    named = ["selfRef", "biasOptional", "lambda", "out"]
    assert [kernel.parameter_for(name) for name in named] == ["self", "bias", "lambda_", None]


def test_the_decorator_gives_the_function_back_and_leaves_its_mark() -> None:
    @operator("aclnnA", "aclnnB")
    def both(x: object) -> object:
        return x

    module = type(np)("made")
    module.both = both  # type: ignore[attr-defined]
    assert both(3) == 3
    assert [kernel.name for kernel in kernels_of(module)] == ["aclnnA", "aclnnB"]
