# SPDX-License-Identifier: Apache-2.0
"""Calls whose phase 1 answers alike whatever the values of their scalars are asked only once.

The host then runs a call with a scalar that the device has not seen, such as the step of an
optimizer, by the number of another call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock.protocol.batch import Batch, Run
from pyaclnn.mock.protocol.dtypes import numpy_dtype
from pyaclnn.mock.protocol.values import Call, Scalar, ScalarList, Tensor, TensorList
from pyaclnn.mock.protocol.wire import Check, Kind, Reply, decode_request

from .bench import WORKSPACE, Bench
from .host_wire import encode_request
from .test_kernels import CODES, Stage
from .test_scalars import OPERATORS, SETTINGS, VECTOR_OF, scalars_of

if TYPE_CHECKING:
    from pyaclnn.mock.protocol.values import Value
    from pyaclnn.mock.protocol.wire import CheckReply

    Arguments = dict[str, Value]

NUMBERS = (0.5, 0.0, 3.0, -1.0, 1e30, float("inf"), float("nan"), 0.0, 0.5)
INTEGERS = (1, 0, 3, -1, 127, 0, 1)


def with_values(arguments: Arguments, place: int) -> Arguments:
    """The arguments with other values of their scalars."""

    def changed(value: Any) -> Any:
        if isinstance(value, ScalarList):
            return ScalarList(tuple(map(changed, value.items)))
        if not isinstance(value, Scalar):
            return value
        dtype = numpy_dtype(value.data_type)
        values = NUMBERS if dtype.kind in "fcV" else INTEGERS
        number = np.array(values[place % len(values)]).astype(dtype)
        return Scalar(value.data_type, number.tobytes())

    return {name: changed(value) for name, value in arguments.items()}


def check(bench: Bench, name: str, arguments: Arguments) -> CheckReply:
    """Phase 1 as the host asks for it: by bytes."""
    request = decode_request(Kind.CHECK, encode_request(Check(Call(name, 0, arguments)))[16:])
    assert isinstance(request, Check)
    return bench.device.check(request.call)


def run(bench: Bench, name: str, arguments: Arguments, number: int) -> None:
    """Run a call by the number of another one."""
    message = encode_request(Run(WORKSPACE, 16 << 20, Call(name, 0, arguments), number))[16:]
    batch = decode_request(Kind.RUN, message)
    assert isinstance(batch, Batch)
    assert bench.device.run_batch(batch) == [Reply(0, "")]


def tensors(arguments: Arguments) -> list[Tensor]:
    items = (v.items if isinstance(v, TensorList) else (v,) for v in arguments.values())
    return [item for each in items for item in each if isinstance(item, Tensor)]


@pytest.mark.parametrize("name", OPERATORS)
def test_the_answer_and_the_numbers_are_those_of_a_call_of_its_own(name: str, bench: Bench) -> None:
    arguments = Stage(bench, VECTOR_OF[name]).arguments
    first = check(bench, name, with_values(arguments, 0))
    if not first.any_scalars:
        return
    before = [(tensor, bench.array(tensor)) for tensor in tensors(arguments)]

    def look() -> list[bytes]:
        """Return what lies in the tensors, and put back what was there."""
        found = [bench.array(tensor).tobytes() for tensor, _ in before]
        for tensor, array in before:
            bench.write(tensor, ..., array)
        return found

    for place in range(len(NUMBERS)):
        given = with_values(arguments, place)
        assert replace(check(bench, name, given), number=0) == replace(first, number=0), given
        run(bench, name, given, first.number)
        found = look()
        bench.launch(name, given)  # not by its number
        assert found == look(), given
        assert len(bench.device._launches) <= 1  # a single one, whatever the values


def test_optimizers_and_scaled_sums_are_among_them(bench: Bench) -> None:
    found = []
    for name in OPERATORS:
        arguments = Stage(bench, VECTOR_OF[name]).arguments
        if check(bench, name, with_values(arguments, 0)).any_scalars:
            found.append(name)
        bench.clear()
    wanted = {"Addcdiv", "Addcmul", "Adds", "Muls", "ForeachDivScalarList", "ForeachMulScalarV2"}
    assert {f"aclnn{name}" for name in wanted} <= set(found)


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_a_scalar_that_is_a_length_or_an_axis_counts(name: str, bench: Bench) -> None:
    vector = VECTOR_OF.get(f"aclnn{name}")
    if vector is not None and scalars_of(f"aclnn{name}"):
        arguments = Stage(bench, vector).arguments
        assert not check(bench, f"aclnn{name}", arguments).any_scalars


def test_powers_of_integers_count(bench: Bench) -> None:
    base, out = (bench.put(np.array([1, 2]), CODES["i32"]) for _ in range(2))
    for exponent, status in ((2, 0), (-1, 161002)):
        scalar = Scalar(CODES["i64"], np.array(exponent, np.int64).tobytes())
        arguments: Arguments = {"self": base, "exponent": scalar, "out": out}
        reply = check(bench, "aclnnPowTensorScalar", arguments)
        assert (reply.status, reply.any_scalars) == (status, False)


@pytest.mark.parametrize(
    ("value", "status"),
    [(3, 0), (300, 161002), (-128.9, 0), (-129, 161002), (np.nan, 161002), (np.inf, 161002)],
)
def test_an_integer_tensor_holds_the_number_that_fills_it(
    value: float, status: int, bench: Bench
) -> None:
    x, mask = bench.put(np.zeros(2), CODES["i8"]), bench.put(np.array([1, 0]), CODES["bool"])
    for number in (1, value):
        scalar = Scalar(CODES["f32"], np.array(number, np.float32).tobytes())
        reply = check(
            bench, "aclnnInplaceMaskedFillScalar", {"selfRef": x, "mask": mask, "value": scalar}
        )
    assert reply.status == status


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_a_factor_of_zero_excuses_no_shape(beta: float, bench: Bench) -> None:
    shapes = {"self": (5, 7), "mat1": (2, 3), "mat2": (3, 4), "out": (2, 4)}
    arguments: Arguments = {name: bench.empty(*dims) for name, dims in shapes.items()}
    one, factor = (
        Scalar(CODES["f32"], np.array(value, np.float32).tobytes()) for value in (1, beta)
    )
    given = {name: arguments[name] for name in ("self", "mat1", "mat2")}
    given |= {"beta": factor, "alpha": one, "out": arguments["out"], "cubeMathType": 0}
    assert check(bench, "aclnnAddmm", given).status == 161002


def test_a_balance_ends_whatever_its_tolerance(bench: Bench) -> None:
    cost, p = (bench.put(np.array([[0.5, 2, 1], [1, 0, 3]])) for _ in range(2))
    tolerance = Scalar(CODES["f32"], np.array(-1, np.float32).tobytes())
    bench.launch("aclnnSinkhorn", {"cost": cost, "tol": tolerance, "p": p})
    np.testing.assert_allclose(bench.get(p).sum(0), np.full(3, 1 / 3), rtol=1e-5)
