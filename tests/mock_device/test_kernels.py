# SPDX-License-Identifier: Apache-2.0
"""Kernels of operators that are no norms give what PyTorch's CPU kernels gave.

`kernel_vectors.jsonl` was written by PyTorch 2.13 for the CPU, a line a call: tensors by their data
type, as rows of numbers; everything else as it is. What stands under ``results`` alone is only
written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.types import TYPES
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, numpy_dtype
from pyaclnn.mock.protocol.values import (
    BoolArray,
    FloatArray,
    IntArray,
    Scalar,
    ScalarList,
    Tensor,
    TensorList,
    Unsigned,
    Value,
)
from pyaclnn.reference.kernels import built_in

from .test_group_kernels import GROUPED
from .test_random import RANDOM

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench

LINES = Path(__file__).with_name("kernel_vectors.jsonl").read_text(encoding="utf-8").splitlines()
VECTORS = [json.loads(line) for line in LINES]
NAMES = [f"{i}-{vector['operator']}" for i, vector in enumerate(VECTORS)]
TOLERANCE = {"f32": 3e-6, "f16": 1e-3, "bf16": 8e-3, "c64": 3e-6}
CODES = {word: int(DATA_TYPES[kind.acl.removeprefix("ACL_")]) for word, kind in TYPES.items()}
CODES |= {"e4m3": DATA_TYPES["FLOAT8_E4M3FN"], "e8m0": DATA_TYPES["FLOAT8_E8M0"]}


def is_tensor(value: Any) -> bool:
    return isinstance(value, dict)


def is_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_tensor, value)) and value != []


def scalar(number: complex) -> Scalar:
    """As PyTorch's own plugin makes it: of a double, an int64 or a bool."""
    code = DATA_TYPES[{float: "DOUBLE", int: "INT64", bool: "BOOL"}[type(number)]]
    return Scalar(code, np.array(number, numpy_dtype(code)).tobytes())


PLAIN: dict[str, Callable[[Any], Value]] = {
    "a": scalar,
    "A": lambda values: ScalarList(tuple(map(scalar, values))),
    "I": lambda values: IntArray(tuple(values)),
    "F": lambda values: FloatArray(tuple(values)),
    "B": lambda values: BoolArray(tuple(values)),
    "y": lambda word: CODES[word],
    "Q": Unsigned,
}


class Stage:
    """The arguments of one vector on a device."""

    def __init__(self, bench: Bench, vector: Any) -> None:
        self._bench = bench
        self.given, self.results = vector["given"], vector["results"]
        self.arguments = {
            parameter.name: self._argument(parameter.name, parameter.kind)
            for parameter in catalogue()[vector["operator"]].parameters
        }

    def _argument(self, name: str, kind: str) -> Value:
        value = self.given[name] if name in self.given else self.results[name]
        if value is None:
            return None
        filled = name in self.given
        if is_list(value):
            return TensorList(tuple(self._tensor(item, filled=filled) for item in value))
        if is_tensor(value):
            return self._tensor(value, filled=filled)
        made: Value = PLAIN[kind](value) if kind in PLAIN else value
        return made

    def _tensor(self, value: dict[str, Any], *, filled: bool) -> Tensor:
        ((word, numbers),) = value.items()
        array = np.array(numbers)
        if array.dtype.kind == "U":
            array = array.astype(np.complex128)
        if filled:
            return self._bench.put(array, CODES[word])
        return self._bench.empty(*array.shape, data_type=CODES[word])

    def look(self) -> None:
        """Compare what lies in the results with what should."""
        for name, expected in self.results.items():
            found = self.arguments[name]
            if expected is None:
                continue
            items = found.items if isinstance(found, TensorList) else (found,)
            for tensor, value in zip(items, expected if is_list(expected) else [expected]):  # noqa: B905
                ((word, numbers),) = value.items()
                assert isinstance(tensor, Tensor)
                number = np.complex128 if word == "c64" else np.float64
                np.testing.assert_allclose(
                    self._bench.array(tensor).astype(number),
                    np.array(numbers).astype(number),
                    rtol=TOLERANCE.get(word, 0),
                    atol=TOLERANCE.get(word, 0) / 4,
                    err_msg=name,
                )


@pytest.mark.sampled(400)
@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_a_kernel_gives_what_pytorch_gives(vector: Any, bench: Bench) -> None:
    stage = Stage(bench, vector)
    bench.launch(vector["operator"], stage.arguments)
    stage.look()


def test_every_kernel_has_a_vector() -> None:
    named = {vector["operator"] for vector in VECTORS}
    assert set(built_in()) - RANDOM - GROUPED == named
    assert set(built_in()) > RANDOM


def test_every_kernel_is_one_of_an_operator_that_the_table_has() -> None:
    assert set(built_in()) <= set(catalogue())


def test_fewer_elements_than_there_is_room_for_come_first(bench: Bench) -> None:
    given, out = bench.put(np.array([[0, 1, 0], [2, 0, 3]])), bench.empty(2, 6, data_type=9)
    reply = bench.run("aclnnNonzeroV2", {"self": given, "out": out})
    assert reply.shapes == ((1, (2, 3)),)
    assert bench.get(out).ravel()[:6].tolist() == [0, 1, 1, 1, 0, 2]


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ((0, 0), "a dimension appears twice in [0, 0]"),
        ((1, -1), "a dimension appears twice in [1, -1]"),
        ((2,), "dimension 2 is not in [-2, 1]"),
        ((-3,), "dimension -3 is not in [-2, 1]"),
    ],
)
def test_a_reduction_refuses_a_dimension_twice_or_that_is_not_there(
    dims: tuple[int, ...], words: str, bench: Bench
) -> None:
    given: dict[str, Value] = {
        "self": bench.empty(2, 3),
        "dims": IntArray(dims),
        "keepDims": False,
        "dtype": 0,
    }
    reply = bench.check("aclnnReduceSum", given | {"out": bench.empty()})
    assert reply.status == 161002
    assert reply.text.endswith(words)


@pytest.mark.parametrize(("dim", "sums"), [(0, [3, 5]), (-2, [3, 5]), (1, [1, 7]), (-1, [1, 7])])
def test_a_reduction_takes_each_dimension_from_either_end(
    dim: int, sums: list[float], bench: Bench
) -> None:
    x, out = bench.put(np.array([[0.0, 1.0], [3.0, 4.0]])), bench.empty(2)
    given: dict[str, Value] = {
        "self": x,
        "dims": IntArray((dim,)),
        "keepDims": False,
        "dtype": 0,
        "out": out,
    }
    bench.launch("aclnnReduceSum", given)
    assert bench.get(out).tolist() == sums


@pytest.mark.parametrize("name", ["aclnnGather", "aclnnGatherV2", "aclnnIndexSelect"])
def test_an_index_that_is_outside_is_a_fault_of_the_kernel(name: str, bench: Bench) -> None:
    x, index = bench.put(np.zeros(3)), bench.put(np.array([0, 3]), DATA_TYPES["INT64"])
    out = bench.empty(2)
    reply = bench.run(name, {"self": x, "dim": 0, "index": index, "out": out})
    assert reply.status == 507015
    assert "index has an element 3; it must be in [0, 2]" in reply.text


def test_the_difference_of_truth_values_is_true_where_they_differ(bench: Bench) -> None:
    code = DATA_TYPES["BOOL"]
    a, b = (bench.put(np.array(bits), code) for bits in ([0, 0, 1, 1], [0, 1, 0, 1]))
    for alpha, expected in ((True, [0, 1, 1, 0]), (False, [0, 0, 1, 1])):
        out = bench.empty(4, data_type=code)
        bench.launch("aclnnSub", {"self": a, "other": b, "alpha": scalar(alpha), "out": out})
        assert bench.get(out).tolist() == expected
