# SPDX-License-Identifier: Apache-2.0
"""PyTorch's kernels on the simulated NPU give what NumPy says, operator by operator.

Without PyTorch these tests are skipped.
"""

from __future__ import annotations

import math
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.operators import operators_of
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, numpy_dtype
from pyaclnn.mock.protocol.values import (
    BoolArray,
    IntArray,
    Scalar,
    ScalarList,
    Tensor,
    TensorList,
    Unsigned,
    Value,
)
from pyaclnn.reference.kernels import built_in
from pyaclnn.reference.kernels.aten import CAUTION, KERNELS, aten_calls, aten_kernel
from tests.releases import NEWEST

from .aten_elementwise import Vector, elementwise
from .aten_lists import on_lists
from .aten_matrices import MATRICES, ORDERS
from .aten_places import PLACES
from .aten_windows import on_windows
from .bench import tensor
from .cases import Case, cases, expected

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench


def is_held(code: int) -> bool:
    """Return whether NumPy has a dtype."""
    try:
        numpy_dtype(code)
    except KeyError:
        return False
    return True


VECTORS = [*elementwise(), *MATRICES, *ORDERS, *PLACES, *on_lists(), *on_windows()]
ALONE = [case for case in cases() if case.operator not in built_in()]
NAMES = [f"{i}-{vector.operator}" for i, vector in enumerate(VECTORS)]
CODES = {numpy_dtype(code): code for code in DATA_TYPES.values() if is_held(code)}
X = tensor(2, 3)


@pytest.fixture
def _asked(monkeypatch: pytest.MonkeyPatch, torch: Any) -> None:  # noqa: ARG001  # that it is there
    monkeypatch.setenv(KERNELS, "torch")


def scalar(number: complex) -> Scalar:
    code = {float: DATA_TYPES["DOUBLE"], int: DATA_TYPES["INT64"]}[type(number)]
    return Scalar(code, np.array(number).tobytes())


def argument(bench: Bench, kind: str, value: Any) -> Value:
    if value is None:
        return None
    if kind == "T":
        return TensorList(tuple(bench.put(item, CODES[item.dtype]) for item in value))
    of_kind: dict[str, Callable[[], Value]] = {
        "t": lambda: bench.put(np.asarray(value), CODES[np.asarray(value).dtype]),
        "a": lambda: scalar(value),
        "A": lambda: ScalarList(tuple(map(scalar, value))),
        "I": lambda: IntArray(tuple(value)),
        "B": lambda: BoolArray(tuple(value)),
        "Q": lambda: Unsigned(value),
        "y": lambda: int(CODES[value]),
    }
    made: Value = of_kind[kind]() if kind in of_kind else value
    return made


def empty(bench: Bench, value: Any) -> Value:
    if isinstance(value, list):
        return TensorList(tuple(bench.empty(*v.shape, data_type=CODES[v.dtype]) for v in value))
    return None if value is None else bench.empty(*value.shape, data_type=CODES[value.dtype])


def given(bench: Bench, vector: Vector) -> dict[str, Value]:
    return {
        p.name: argument(bench, p.kind, vector.given[p.name])
        if p.name in vector.given
        else empty(bench, vector.results[p.name])
        for p in catalogue()[vector.operator].parameters
    }


@pytest.mark.sampled(18)
@pytest.mark.usefixtures("_asked")
@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_an_operator_gives_what_numpy_says(vector: Vector, bench: Bench) -> None:
    arguments = given(bench, vector)
    bench.launch(vector.operator, arguments)
    for name, wanted in vector.results.items():
        found = arguments[name]
        places = found.items if isinstance(found, TensorList) else (found,)
        values = wanted if isinstance(wanted, list) else [wanted]
        for place, value in zip(places, values, strict=True):
            assert isinstance(place, Tensor)
            np.testing.assert_allclose(
                bench.array(place), value, rtol=1e-5, atol=1e-6, err_msg=name
            )


@pytest.mark.usefixtures("_asked")
@pytest.mark.parametrize("case", ALONE, ids=[case.operator for case in ALONE])
def test_an_operator_of_pytorch_alone_gives_what_a_composition_gives(
    case: Case, bench: Bench
) -> None:
    names = [p.name for p in catalogue()[case.operator].parameters if p.written]
    results = dict(zip(names, expected(case), strict=True))
    arguments = given(bench, Vector(case.operator, case.given, results))
    bench.launch(case.operator, arguments)
    for name, wanted in results.items():
        found = arguments[name]
        assert isinstance(found, Tensor)
        np.testing.assert_allclose(bench.array(found), wanted, rtol=1e-5, atol=1e-6, err_msg=name)


def test_every_operator_that_is_claimed_has_a_vector() -> None:
    assert len({*aten_calls(), *built_in()}) > 690
    of_cases = {case.operator for case in cases()}
    assert set(aten_calls()) <= {vector.operator for vector in VECTORS} | of_cases


def test_none_is_claimed_that_has_a_kernel_of_numpy_or_a_description() -> None:
    assert set(aten_calls()) <= set(catalogue())
    assert not set(aten_calls()) & set(built_in())
    assert not set(aten_calls()) & {*operators_of(NEWEST)}


def test_nobody_gets_them_who_does_not_ask(bench: Bench) -> None:
    reply = bench.check("aclnnErfinv", {"self": X, "out": X})
    assert reply.status == 999001
    assert f"{KERNELS}=torch: {CAUTION}" in reply.text


@pytest.mark.usefixtures("_asked")
def test_a_result_that_does_not_fit_is_refused_and_pytorch_is_named(bench: Bench) -> None:
    reply = bench.check("aclnnErfinv", {"self": X, "out": tensor(3, 2)})
    assert reply.status == 161002
    assert "out has shape (3, 2); the result has (2, 3)" in reply.text
    assert CAUTION in reply.text


@pytest.mark.usefixtures("_asked")
def test_a_result_is_cast_where_cann_casts_it(bench: Bench) -> None:
    values = np.array([[0.5, -0.25]])
    out = bench.empty(1, 2, data_type=DATA_TYPES["FLOAT16"])
    bench.launch("aclnnErfinv", {"self": bench.put(values), "out": out})
    np.testing.assert_allclose(np.vectorize(math.erf)(bench.get(out)), values, rtol=2e-3)
    reply = bench.check(
        "aclnnErfinv", {"self": X, "out": tensor(2, 3, data_type=DATA_TYPES["INT32"])}
    )
    assert reply.status == 161002, reply.text


@pytest.mark.usefixtures("_asked")
def test_what_pytorch_refuses_is_refused(bench: Bench) -> None:
    odd: dict[str, Value] = {"self": tensor(3), "dim": 4, "keepDim": False}
    odd |= {"valuesOut": tensor(), "indicesOut": tensor(data_type=DATA_TYPES["INT64"])}
    wrong: dict[str, Value] = {"theta": tensor(1, 2, 2), "size": IntArray((1, 1, 2, 2))}
    wrong |= {"alignCorners": True, "out": tensor(1, 2, 2, 2)}
    for name, arguments in (("aclnnNanMedianDim", odd), ("aclnnAffineGrid", wrong)):
        reply = bench.check(name, arguments)
        assert (reply.status, CAUTION in reply.text) == (161002, True), reply.text


def test_what_numpy_refuses_is_refused(bench: Bench) -> None:
    odd: dict[str, Value] = {"gradOut": tensor(1), "self": tensor(3), "dim": 0, "out": tensor(3)}
    unlike: dict[str, Value] = {"self": tensor(3), "tensor": tensor(4), "out": tensor()}
    for name, arguments in (("aclnnDot", unlike), ("aclnnGluBackward", odd)):
        assert bench.check(name, arguments).status == 161002


def test_a_singular_matrix_is_a_fault_of_the_kernel(bench: Bench) -> None:
    singular = {"self": bench.put(np.zeros((2, 2))), "out": bench.empty(2, 2)}
    reply = bench.run("aclnnInverse", singular)
    assert reply.status == 507015
    assert "Singular" in reply.text


@pytest.mark.usefixtures("_asked")
def test_what_goes_wrong_with_the_numbers_is_a_fault_of_the_kernel(bench: Bench) -> None:
    outside = bench.put(np.array([9, -1]), DATA_TYPES["INT64"])
    given: dict[str, Value] = {"self": bench.put(np.zeros(2)), "target": outside, "reduction": 1}
    results = {"out": bench.empty(), "isTarget": bench.empty(2)}
    reply = bench.run("aclnnMultilabelMarginLoss", given | results)
    assert reply.status == 507015
    assert "out of range" in reply.text
    assert CAUTION in reply.text


@pytest.mark.usefixtures("_asked")
@pytest.mark.parametrize("length", [3, 1 << 20])
def test_a_limit_of_pytorch_is_none_of_cann(length: int, bench: Bench) -> None:
    target = tensor(2, length, data_type=DATA_TYPES["INT32"])
    arguments: dict[str, Value] = {"self": tensor(2, length), "target": target, "reduction": 1}
    arguments |= {"out": tensor(), "isTarget": tensor(2, length)}
    reply = bench.check("aclnnMultilabelMarginLoss", arguments)
    assert reply.status == 999001, reply.text
    assert "does not take these arguments" in reply.text


@pytest.mark.usefixtures("_asked")
def test_a_fault_of_the_data_names_elements_and_bounds(bench: Bench) -> None:
    arguments: dict[str, Value] = {
        "self": bench.put(np.zeros((2, 3))),
        "target": bench.put(np.array([[0, -1, -1], [7, -1, -1]]), DATA_TYPES["INT64"]),
        "reduction": 1,
        "out": bench.empty(),
        "isTarget": bench.empty(2, 3),
    }
    reply = bench.run("aclnnMultilabelMarginLoss", arguments)
    assert reply.status == 507015
    assert "target has shape [2, 3] and elements from -1 to 7" in reply.text
    assert "self has shape [2, 3]" in reply.text


@pytest.mark.usefixtures("_asked")
def test_phase_one_takes_no_memory_whatever_the_shape(bench: Bench) -> None:
    huge = tensor(1 << 20, 1 << 20)
    assert bench.check("aclnnErfinv", {"self": huge, "out": huge}).status == 0


@pytest.mark.usefixtures("_asked")
def test_bfloat16_is_computed_as_bfloat16(bench: Bench) -> None:
    values = np.array([[0.5, 1.0]])
    x, y = bench.put(values, DATA_TYPES["BF16"]), bench.empty(1, 2, data_type=DATA_TYPES["BF16"])
    one = Scalar(DATA_TYPES["FLOAT"], np.float32(1).tobytes())
    limit = Scalar(DATA_TYPES["FLOAT"], np.float32(20).tobytes())
    bench.launch("aclnnSoftplus", {"self": x, "beta": one, "threshold": limit, "out": y})
    wanted = np.log1p(np.exp(values))
    np.testing.assert_allclose(bench.get(y), wanted, rtol=2**-8)
    assert np.all(bench.get(y) != wanted)


def test_without_pytorch_an_operator_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    aten_kernel.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setenv(KERNELS, "torch")
    reply = bench.check("aclnnErfinv", {"self": X, "out": X})
    assert reply.status == 999001
    assert f"PyTorch would compute it, which {sys.executable} has not" in reply.text


def test_without_a_kernel_the_error_shows_one(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KERNELS, "numpy")
    reply = bench.check("aclnnErfinv", {"self": X, "out": X})
    assert reply.status == 999001
    assert f"A program that imports torch, or {KERNELS}=torch: " in reply.text
    shown = textwrap.dedent(reply.text.partition("\n")[2].rpartition("\n")[0])
    marked: dict[str, Any] = {}
    exec(shown.replace("return out", "return self"), marked)  # noqa: S102
    assert marked["kernel"](self=7) == 7
    assert marked["kernel"].__aclnn__[0].name == "aclnnErfinv"


def test_a_name_that_nobody_knows_is_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KERNELS, "jax")
    reply = bench.check("aclnnErfinv", {"self": X, "out": X})
    assert reply.status == 561000
    assert f"{KERNELS} is 'jax'; it must be 'torch'" in reply.text
