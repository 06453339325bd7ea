# SPDX-License-Identifier: Apache-2.0
"""COMPLEX32 is computed in complex64; HIFLOAT8 and FLOAT4_E1M2 are moved, and not computed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock.operators.moved_types import MOVING, STAND_INS
from pyaclnn.mock.protocol.dtypes import DATA_TYPES, numpy_dtype
from pyaclnn.mock.protocol.values import IntArray, Scalar, Tensor

from .agreement import VECTORS_OF, tensors_of
from .test_kernels import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bench import Bench

CHIP = "Ascend950PR_9579"
COMPLEX32, HALF, WORD = DATA_TYPES["COMPLEX32"], DATA_TYPES["FLOAT16"], DATA_TYPES["UINT32"]
NUMBERS = [1.5 - 2j, -0.25 + 4j, 3j, 65504 + 0j]


def complex32(bench: Bench, numbers: list[complex], step: int = 1) -> Tensor:
    """Pairs of float16 on the device, real parts first."""
    parts: Any = np.array([[n.real, n.imag] for n in numbers], np.float16)
    placed = bench.put(parts.view(np.uint32)[:, 0], WORD, strides=(step,))
    return replace(placed, data_type=COMPLEX32)


def numbers_of(bench: Bench, placed: Tensor) -> list[complex]:
    parts = np.ascontiguousarray(bench.array(replace(placed, data_type=WORD))).view(np.float16)
    return [complex(a, b) for a, b in parts.reshape(-1, 2).astype(float)]


@pytest.mark.parametrize("step", [1, 3])
def test_the_magnitude_of_two_halves(step: int, make_bench: Callable[[str], Bench]) -> None:
    bench = make_bench(CHIP)
    out = bench.empty(4, data_type=DATA_TYPES["FLOAT"])
    bench.launch("aclnnAbs", {"self": complex32(bench, NUMBERS, step), "out": out})
    assert bench.get(out) == pytest.approx([2.5, 16.0625**0.5, 3, 65504])


def test_the_real_part_of_two_halves(bench: Bench) -> None:
    out = bench.empty(4, data_type=HALF)
    bench.launch("aclnnReal", {"self": complex32(bench, NUMBERS), "out": out})
    assert bench.get(out).tolist() == [1.5, -0.25, 0, 65504]


def test_a_cast_to_two_halves_rounds_each(make_bench: Callable[[str], Bench]) -> None:
    bench = make_bench(CHIP)
    given: Any = np.array([1 + 2**-11 + 2**-12, 1j * (1 + 2**-11), 1e9 - 1e9j])
    x, out = bench.put(given, DATA_TYPES["COMPLEX64"]), complex32(bench, [0, 0, 0], 2)
    bench.launch("aclnnCast", {"self": x, "dtype": COMPLEX32, "out": out})
    assert numbers_of(bench, out) == [1 + 2**-10, 1j, complex(np.inf, -np.inf)]


def test_the_lower_triangle_of_pairs_of_halves(make_bench: Callable[[str], Bench]) -> None:
    bench = make_bench(CHIP)
    x = replace(complex32(bench, NUMBERS), dims=(2, 2), strides=(2, 1))
    out = replace(complex32(bench, [9, 9, 9, 9]), dims=(2, 2), strides=(2, 1))
    bench.launch("aclnnTril", {"self": x, "diagonal": 0, "out": out})
    assert numbers_of(bench, out) == [NUMBERS[0], 0, *NUMBERS[2:]]


def of_bytes(bench: Bench, data_type: int, *data: int) -> Tensor:
    placed = bench.put(np.array(data), DATA_TYPES["UINT8"])
    per_byte = 2 if data_type == DATA_TYPES["FLOAT4_E1M2"] else 1
    length = len(data) * per_byte
    return replace(placed, data_type=data_type, dims=(length,), storage_dims=(length,))


def bytes_of(bench: Bench, placed: Tensor, count: int) -> list[int]:
    whole = replace(placed, data_type=DATA_TYPES["UINT8"], dims=(count,), strides=(1,))
    return [int(byte) for byte in bench.array(whole)]


@pytest.mark.parametrize("data_type", STAND_INS)
def test_elements_are_moved_bit_by_bit(data_type: int, make_bench: Callable[[str], Bench]) -> None:
    bench = make_bench(CHIP)
    data = (0x80, 0x7F, 0x01, 0xFF)
    x, out = of_bytes(bench, data_type, *data), of_bytes(bench, data_type, *[9] * 8)
    bench.launch("aclnnCast", {"self": x, "dtype": data_type, "out": replace(out, dims=x.dims)})
    assert bytes_of(bench, out, 4) == [*data]


def test_columns_of_one_byte_are_turned(bench: Bench) -> None:
    code = DATA_TYPES["HIFLOAT8"]
    x = replace(of_bytes(bench, code, 1, 2, 3, 0xF4), dims=(2, 2), strides=(2, 1))
    out = replace(of_bytes(bench, code, 0, 0, 0, 0), dims=(2, 2), strides=(2, 1))
    bench.launch("aclnnPermute", {"self": x, "dims": IntArray((1, 0)), "out": out})
    assert bytes_of(bench, out, 4) == [1, 3, 2, 0xF4]


@pytest.mark.parametrize("data_type", STAND_INS)
def test_a_cast_that_would_round_is_not_computed(
    data_type: int, make_bench: Callable[[str], Bench]
) -> None:
    bench = make_bench(CHIP)
    out = of_bytes(bench, data_type, 0, 0)
    x = bench.empty(*out.dims)
    for given, made, dtype in ((x, out, data_type), (out, x, DATA_TYPES["FLOAT"])):
        reply = bench.check("aclnnCast", {"self": given, "dtype": dtype, "out": made})
        assert reply.status == 999001


def number_of(scalar: Scalar) -> float:
    return float(np.frombuffer(scalar.data, numpy_dtype(scalar.data_type))[0])


@pytest.mark.parametrize("name", MOVING)
def test_an_operator_that_moves_makes_no_number_but_zero(name: str, bench: Bench) -> None:
    arguments = Stage(bench, VECTORS_OF[name][0]).arguments
    moved = [tensor for of in sorted(MOVING[name]) for tensor in tensors_of(arguments[of])]
    for number, tensor in enumerate(moved, 1):
        bench.write(tensor, ..., number)
    padding = {number_of(v) for v in arguments.values() if isinstance(v, Scalar)}
    assert bench.run(name, arguments).status == 0
    made = {float(x) for tensor in moved for x in bench.get(tensor).flat}
    assert made <= {*range(len(moved) + 1), *padding}
