# SPDX-License-Identifier: Apache-2.0
"""Results that kernels compute in device memory are those that are copied there, bit by bit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock.operators import kernel_call
from pyaclnn.mock.protocol.values import Tensor, TensorList
from pyaclnn.reference.kernels import built_in

from .bench import numbers
from .test_kernels import VECTORS, Stage, is_tensor, scalar
from .test_large_results import Known

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pyaclnn.mock.protocol.values import Value

    from .bench import Bench

FILLING = [v for v in VECTORS if built_in()[v["operator"]].fills]
CHOOSING = {"aclnnLerp", "aclnnInplaceLerp"}
"""Operators that choose between two results for each element."""
WORDS = {"f32": np.float32, "f64": np.float64}


@pytest.fixture(name="there")
def fixture_there(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A record, for each run that is offered memory, of True if its results lie there."""
    found: list[bool] = []
    original = kernel_call._is_there

    def is_there(results: Any, into: Any) -> bool:
        found.append(original(results, into))
        return found[-1]

    monkeypatch.setattr(kernel_call, "_is_there", is_there)
    return found


def look(bench: Bench, known: Known) -> list[bytes]:
    return [bench.array(tensor).tobytes() for tensor in known.call.tensors]


@pytest.mark.parametrize("vector", FILLING, ids=lambda vector: str(vector["operator"]))
def test_later_runs_write_what_the_first_one_does(
    vector: Any, bench: Bench, there: list[bool]
) -> None:
    known = Known(bench, vector["operator"], Stage(bench, vector).arguments)
    before = [(tensor, bench.array(tensor)) for tensor in known.call.tensors]
    found = []
    for _ in range(3):
        for tensor, array in before:
            bench.write(tensor, ..., array)
        known.run()
        found.append(look(bench, known))

    assert found[1:] == [found[0]] * 2
    words = {word for value in vector["results"].values() if is_tensor(value) for word in value}
    assert len(there) in {0, 2}
    if words == {"f32"}:
        assert there == [vector["operator"] not in CHOOSING] * 2


def arrays(given: dict[str, Any], kind: type) -> dict[str, Any]:
    """Arguments of a kernel with many numbers, all of one type."""
    made: dict[str, Any] = {}
    for seed, (name, value) in enumerate(given.items()):
        values: NDArray[Any] = numbers(seed, 37, 29).astype(kind)
        made[name] = (values + np.pi / 100).astype(kind) if is_tensor(value) else value
    return made


@pytest.mark.parametrize("kind", WORDS.values(), ids=[*WORDS])
def test_memory_changes_no_bit_of_a_long_result(kind: type) -> None:
    compared = set()
    for vector in FILLING:
        kernel = built_in()[vector["operator"]]
        named = ((kernel.parameter_for(name), value) for name, value in vector["given"].items())
        given = {name: value for name, value in named if name}
        if not any(map(is_tensor, given.values())) or any(
            isinstance(v, list) for v in given.values()
        ):
            continue
        arguments = arrays(given, kind)
        try:
            with np.errstate(all="ignore"):
                expected = kernel.function(**arguments)
        except (ValueError, TypeError):  # a product of matrices, and functions of bits
            continue
        copies = [name for name, value in given.items() if is_tensor(value)]
        for place in (None, *copies):  # also on one of the operands
            own = {n: v.copy() if n in copies else v for n, v in arguments.items()}
            into = np.empty_like(expected) if place is None else own[place]
            with np.errstate(all="ignore"):
                found = kernel.function(**own, into=into)
            np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))
            compared.add(vector["operator"])
    assert {"aclnnAdd", "aclnnAddcdiv", "aclnnLerps", "aclnnSqrt"} < compared


def test_truth_values_are_divided_again_as_at_first() -> None:
    """NumPy divides them to int8, which it does not write into memory of truth values."""
    divide = built_in()["aclnnInplaceFloorDivide"].function
    one, other = np.array([True, False, True]), np.array([True, True, True])
    for into in (None, np.empty(3, np.bool_), np.empty(3, np.bool_)):
        found = divide(selfRef=one, other=other, into=into)
        np.testing.assert_array_equal(found, np.array([True, False, True]), strict=True)


def scaled(bench: Bench, x: list[Tensor], out: list[Tensor]) -> list[NDArray[Any]]:
    """Multiply tensors by 3, three times, and return the results of the last run."""
    lists = TensorList(tuple(x)), TensorList(tuple(out))
    arguments: dict[str, Value] = {"x": lists[0], "scalar": scalar(3.0), "out": lists[1]}
    known = Known(bench, "aclnnForeachMulScalarV2", arguments)
    before = [(tensor, bench.array(tensor)) for tensor in x]
    for _ in range(3):
        for tensor, array in before:
            bench.write(tensor, ..., array)
        known.run()
    return [bench.array(tensor) for tensor in out]


def test_rows_of_a_list_do_not_change_what_others_read(bench: Bench, there: list[bool]) -> None:
    values = [numbers(seed, 5).astype(np.float32) for seed in range(3)]
    x = [bench.put(value) for value in values]
    out = [bench.empty(5) for _ in values]
    part = replace(x[1], address=x[1].address + 4, dims=(4,))  # of a row that is read

    for given, written, is_there in [
        (x, out, [True, True]),
        (x, x, [True, True]),  # each in its place
        (x, [x[1], x[2], x[0]], []),
        ([x[0], replace(x[1], dims=(4,))], [out[0], part], [True, True]),
        ([replace(x[0], dims=(4,)), x[1]], [part, out[1]], []),
    ]:
        expected = [bench.array(tensor) * np.float32(3) for tensor in given]
        there.clear()
        for found, wanted in zip(scaled(bench, given, written), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
        assert there == is_there


def test_a_tensor_with_gaps_is_written_by_a_copy(bench: Bench, there: list[bool]) -> None:
    value = numbers(1, 3, 4).astype(np.float32)
    x, out = bench.put(value), bench.empty(3, 4, strides=(8, 2))
    known = Known(bench, "aclnnMuls", {"self": x, "other": scalar(2.0), "out": out})
    for _ in range(2):
        known.run()
        np.testing.assert_array_equal(bench.array(out), value * np.float32(2))
    assert there == []
