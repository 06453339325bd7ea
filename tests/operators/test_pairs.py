# SPDX-License-Identifier: Apache-2.0
"""Results of 4 bits lie two in a byte, the first one lowest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyaclnn.mock.protocol.batch import Run
from pyaclnn.mock.protocol.values import Call, Tensor
from tests.mock_device.bench import WORKSPACE, Bench, row_major
from tests.operators.words import FORMATS, SOC_NAMES, TYPES

# x has rms 2, and gamma is 1: v = x / 2, in steps of a half, and 1 more.
NUMBERS = [[2, -2, 2, -2, 2, -2, 2, -2], [1, 3, -1, -3, 1, 3, -1, 1]]
FACTORS = [1, 2, 3, 4, -1, -2, -3, -4]
WHOLE = [[3, -3, 7, -7, -1, 5, -5, 7], [2, 7, -2, -8, 0, -5, 4, -3]]


def in_bytes(rows: list[list[int]]) -> list[int]:
    """Two integers of 4 bits in a byte, the first one lowest."""
    flat = [number & 15 for row in rows for number in row]
    return [low | high << 4 for low, high in zip(flat[::2], flat[1::2], strict=True)]


@pytest.mark.parametrize("chip", ["A2", "950"])
def test_integers_of_4_bits(chip: str) -> None:
    bench = Bench(SOC_NAMES[chip])
    bench.device.release = "9.1"
    half = TYPES["FLOAT16"]
    held = bench.put(np.zeros(16), TYPES["UINT8"])
    dims = (2, 8)
    y = Tensor(TYPES["INT4"], FORMATS["ND"], dims, row_major(dims), 0, dims, held.address)
    call = Call(
        "aclnnRmsNormQuant",
        0,
        {
            "x": bench.put(np.array(NUMBERS), half),
            "gamma": bench.put(np.array(FACTORS), half),
            "beta": bench.put(np.zeros(8), half),
            "scale": bench.put(np.array([0.5]), half),
            "offset": bench.put(np.array([1]), TYPES["INT8"]),
            "epsilon": 0.0,
            "y": y,
        },
    )
    reply = bench.device.check(call)
    assert reply.status == 0, reply.text
    assert bench.device.run(Run(WORKSPACE, reply.workspace_size, call)).status == 0
    # Eight bytes are written, and none behind them.
    assert bench.array(held).tolist() == in_bytes(WHOLE) + [0] * 8
    bench.close()


# 0.5, -1, 3 and 7, which saturates at 6, then halves between neighbours: 2.5 and -2.5, 0.75, 5.
@pytest.mark.parametrize(
    ("mode", "codes"),
    [
        ("rint", [1, 10, 5, 7, 4, 12, 2, 6]),
        ("round", [1, 10, 5, 7, 5, 13, 2, 7]),
        ("floor", [1, 10, 5, 7, 4, 13, 1, 6]),
    ],
)
def test_floats_of_4_bits(mode: str, codes: list[int]) -> None:
    bench = Bench(SOC_NAMES["950"])
    bench.device.release = "9.1"
    half, dims = TYPES["FLOAT16"], (1, 32)
    held = bench.put(np.zeros(24), TYPES["UINT8"])
    scales = bench.put(np.zeros((1, 1, 2)), TYPES["UINT8"])
    gamma = [0.5, -1, 3, 7, 2.5, -2.5, 0.75, 5, *[0] * 24]
    call = Call(
        "aclnnRmsNormDynamicMxQuant",
        0,
        {
            "x": bench.put(np.ones(dims), half),
            "gamma": bench.put(np.array(gamma), half),
            "beta": None,
            "epsilon": 0.0,
            "scaleAlg": 0,
            "roundMode": mode,
            "dstType": TYPES["FLOAT4_E2M1"],
            "outputRstd": False,
            "yOut": Tensor(
                TYPES["FLOAT4_E2M1"], FORMATS["ND"], dims, row_major(dims), 0, dims, held.address
            ),
            "mxscaleOut": replace(scales, data_type=TYPES["FLOAT8_E8M0"]),
            "rstdOut": None,
        },
    )
    reply = bench.device.check(call)
    assert reply.status == 0, reply.text
    assert bench.device.run(Run(WORKSPACE, reply.workspace_size, call)).status == 0
    assert bench.array(held).tolist() == in_bytes([codes]) + [0] * 20
    assert bench.array(scales).ravel().tolist() == [127, 0]
    bench.close()
