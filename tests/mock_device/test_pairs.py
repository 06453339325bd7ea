# SPDX-License-Identifier: Apache-2.0
"""Numbers of 4 bits in operators without a description: two in a byte, or eight in an int32."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.mock.protocol.dtypes import DATA_TYPES

from .bench import Bench, row_major

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.mock.protocol.values import Tensor, Value

HALF, INT32 = DATA_TYPES["FLOAT16"], DATA_TYPES["INT32"]
RNG = np.random.default_rng(4)
K, N, GROUP = 64, 24, 32
NONE: dict[str, Value] = {
    "antiquantOffsetOptional": None,
    "quantScaleOptional": None,
    "quantOffsetOptional": None,
    "biasOptional": None,
}


def nibbles(numbers: Any) -> Any:
    """Two numbers a byte, the first one lowest."""
    low, high = (numbers.ravel()[i::2].astype(np.int64) & 15 for i in (0, 1))
    return (low | high << 4).astype(np.uint8)


def put_pairs(bench: Bench, numbers: Any, *, turned: bool = False) -> Tensor:
    """Numbers of 4 bits on the device; turned, their transpose lies there."""
    stored = numbers.T if turned else numbers
    placed = bench.put(nibbles(stored), DATA_TYPES["UINT8"])
    strides = row_major(stored.shape)
    return replace(
        placed,
        data_type=DATA_TYPES["INT4"],
        dims=numbers.shape,
        strides=strides[::-1] if turned else strides,
        storage_dims=(numbers.size,),
    )


def eights(numbers: Any) -> Any:
    return nibbles(numbers).view(np.int32).reshape(*numbers.shape[:-1], -1)


def weights(bench: Bench, kind: str, w: Any) -> Tensor:
    if kind == "INT32":
        return bench.put(eights(w), INT32)
    if kind == "INT32 turned":
        packed = eights(np.ascontiguousarray(w.T))
        return bench.put(packed.T, INT32, strides=(1, packed.shape[1]))
    return put_pairs(bench, w, turned=kind == "INT4 turned")


@pytest.mark.parametrize("kind", ["INT4", "INT4 turned", "INT32", "INT32 turned"])
def test_a_product_with_weights_of_4_bits(kind: str, bench: Bench) -> None:
    # "INT4 turned" is the layout of q4_0 weights: groups of 32, rows of the transpose in memory.
    w = RNG.integers(-8, 8, (K, N))
    x, scale = RNG.integers(-8, 8, (3, K)) / 4, RNG.integers(1, 8, (K // GROUP, N)) / 16
    out = bench.empty(3, N, data_type=HALF)
    bench.launch(
        "aclnnWeightQuantBatchMatmulV2",
        {
            "x": bench.put(x, HALF),
            "weight": weights(bench, kind, w),
            "antiquantScale": bench.put(scale, HALF),
            **NONE,
            "antiquantGroupSize": GROUP,
            "y": out,
        },
    )
    expected = x @ (w * scale.repeat(GROUP, 0))
    np.testing.assert_allclose(bench.get(out), expected, rtol=1e-3)


@pytest.mark.parametrize("kind", ["INT8", "INT4", "INT32"])
def test_rows_are_quantized_to_4_bits(kind: str, bench: Bench) -> None:
    x = RNG.integers(-7, 8, (3, 16)) / 2
    x[:, 5] = 3.5
    y: Tensor = bench.empty(3, 16, data_type=DATA_TYPES["INT8"])
    if kind == "INT32":
        y = bench.empty(3, 2, data_type=INT32)
    elif kind == "INT4":
        y = put_pairs(bench, np.zeros((3, 16), np.int8))
    scale = bench.empty(3)
    bench.launch(
        "aclnnDynamicQuant",
        {"x": bench.put(x, HALF), "smoothScalesOptional": None, "yOut": y, "scaleOut": scale},
    )
    most = 127 if kind == "INT8" else 7
    scales = np.abs(x).max(1) / most
    np.testing.assert_allclose(bench.get(scale), scales, rtol=1e-6)
    expected: Any = np.rint(x / scales[:, None]).astype(np.int8)
    if kind == "INT8":
        np.testing.assert_array_equal(bench.array(y), expected)
    else:
        held = bench.bytes_at(y.address, 24)
        assert held == nibbles(expected).tobytes()


def test_quantized_matrices_of_4_bits(bench: Bench) -> None:
    a, b = RNG.integers(-8, 8, (2, 16)), RNG.integers(-8, 8, (16, 8))
    out = bench.empty(2, 8, data_type=INT32)
    given: dict[str, Value] = {"scale": bench.put(np.ones(8)), "offset": None, "bias": None}
    given |= {"transposeX1": False, "transposeX2": False, "out": out}
    for x1, x2 in (
        (put_pairs(bench, a), put_pairs(bench, b)),
        (bench.put(eights(a), INT32), bench.put(eights(b), INT32)),
    ):
        bench.launch("aclnnQuantMatmulV3", {"x1": x1, "x2": x2, **given})
        np.testing.assert_array_equal(bench.array(out), a @ b)


def test_half_a_byte_is_not_written(bench: Bench) -> None:
    y = replace(put_pairs(bench, np.zeros((2, 4), np.int8)), dims=(3,), strides=(1,))
    given: dict[str, Value] = {
        "x": bench.put(np.ones(3), HALF),
        "scale": bench.put(np.ones(1), HALF),
        "offset": None,
        "sqrtMode": False,
        "roundMode": "round",
        "dstType": 29,
        "y": y,
    }
    reply = bench.check("aclnnAscendQuant", given)
    assert (reply.status, "half a byte" in reply.text) == (999001, True), reply.text


@pytest.mark.parametrize("word", ["FLOAT4_E2M1", "INT4"])
def test_numbers_of_4_bits_are_cast(word: str, make_bench: Callable[[str], Bench]) -> None:
    bench = make_bench("Ascend950PR_9579")
    x: Any = np.array([0.0, 1.0, -2.0, 3.0, 6.0, -4.0, -6.0, 2.0])
    code = DATA_TYPES[word]
    narrow = replace(put_pairs(bench, np.zeros(8, np.int8)), data_type=code)
    bench.launch("aclnnCast", {"self": bench.put(x), "dtype": code, "out": narrow})
    numbers = {"INT4": nibbles(x), "FLOAT4_E2M1": nibbles(np.array([0, 2, 12, 5, 7, 14, 15, 4]))}
    assert bench.bytes_at(narrow.address, 4) == numbers[word].tobytes()
    if word != "INT4":  # which CANN casts to, and not from
        back = bench.empty(8)
        bench.launch("aclnnCast", {"self": narrow, "dtype": 0, "out": back})
        np.testing.assert_array_equal(bench.get(back), x)


@pytest.mark.parametrize("kind", ["FLOAT4_E2M1", "FLOAT"])
def test_weights_of_floats_are_converted(kind: str, bench: Bench) -> None:
    weight: Any = np.array([[0, 1, -2, 3, 6, -4, -6, 0.5]])
    codes = nibbles(np.array([0, 2, 12, 5, 7, 14, 15, 1]))
    held = put_pairs(bench, np.zeros((1, 8), np.int8))
    dims = (1, 1) if kind == "FLOAT" else (1, 8)
    held = replace(held, data_type=DATA_TYPES[kind], dims=dims, strides=row_major(dims))
    bench.launch(
        "aclnnConvertWeightToINT4Pack", {"weight": bench.put(weight), "weightInt4Pack": held}
    )
    assert bench.bytes_at(held.address, 4) == codes.tobytes()


def test_weights_are_converted_to_pairs(bench: Bench) -> None:
    weight = RNG.integers(-8, 8, (4, 8))
    held = put_pairs(bench, np.zeros((4, 8), np.int8))
    given: dict[str, Value] = {"weight": bench.put(weight, INT32), "weightInt4Pack": held}
    bench.launch("aclnnConvertWeightToINT4Pack", given)
    assert bench.bytes_at(held.address, 16) == nibbles(weight).tobytes()
