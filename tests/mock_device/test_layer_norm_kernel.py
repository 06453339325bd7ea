# SPDX-License-Identifier: Apache-2.0
"""Kernels of aclnnLayerNorm: behaviour beyond the formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import IntArray, Value

from .bench import TOLERANCE, Bench, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

F32, F16, BF16 = DATA_TYPES["FLOAT"], DATA_TYPES["FLOAT16"], DATA_TYPES["BF16"]
ROUNDED = {F32: np.float32, F16: np.float16, BF16: ml_dtypes.bfloat16}


def forward_truth(
    x: NDArray[Any], weight: NDArray[Any] | float, bias: NDArray[Any] | float, eps: float
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    mean = x.sum(-1) / x.shape[-1]
    centred = x - mean[:, None]
    rstd = ((centred**2).sum(-1) / x.shape[-1] + eps) ** -0.5
    return centred * rstd[:, None] * weight + bias, mean, rstd


def layer_norm_arguments(bench: Bench, **changes: Value) -> dict[str, Value]:
    arguments: dict[str, Value] = {
        "input": bench.put(numbers(1, 3, 24)),
        "normalizedShape": IntArray((24,)),
        "weightOptional": bench.put(numbers(2, 24)),
        "biasOptional": bench.put(numbers(3, 24)),
        "eps": 1e-3,
        "out": bench.empty(3, 24),
        "meanOutOptional": bench.empty(3, 1),
        "rstdOutOptional": bench.empty(3, 1),
    }
    return arguments | changes


@pytest.mark.parametrize(
    ("soc_name", "input_type", "weight_type", "columns", "rounded"),
    [
        ("Ascend910B3", F16, F16, 64, F16),
        ("Ascend910B3", F16, F32, 64, F32),
        ("Ascend910B3", F16, None, 64, F16),
        ("Ascend910B3", F16, F16, 17, F32),
        ("Ascend910B3", F16, F16, 48, F16),
        ("Ascend910B3", BF16, BF16, 1024, F32),
        ("Ascend910B3", BF16, F32, 1024, F32),
        ("Ascend910_9391", BF16, BF16, 2048, BF16),
        ("Ascend950PR_9579", BF16, BF16, 2048, F32),
        ("Ascend310P3", F16, F16, 20, F32),
        ("Ascend310P3", F16, F16, 17, F16),
        ("Ascend910A", F16, F16, 20, F16),
    ],
)
def test_the_kernel_decides_how_statistics_are_rounded(
    make_bench: Callable[[str], Bench],
    soc_name: str,
    input_type: int,
    weight_type: int | None,
    columns: int,
    rounded: int,
) -> None:
    bench = make_bench(soc_name)
    values = numbers(1, 5, columns)
    weight = None if weight_type is None else bench.put(np.ones(columns), weight_type)
    arguments = layer_norm_arguments(
        bench,
        input=bench.put(values, input_type),
        normalizedShape=IntArray((columns,)),
        weightOptional=weight,
        biasOptional=None,
        out=bench.empty(5, columns),
        meanOutOptional=bench.empty(5, 1),
        rstdOutOptional=bench.empty(5, 1),
    )

    bench.launch("aclnnLayerNorm", arguments)

    _, mean, rstd = forward_truth(values, 1.0, 0.0, 1e-3)
    results = bench.fetch(arguments, "meanOutOptional", "rstdOutOptional")
    for result, truth in zip(results, (mean, rstd), strict=True):
        flat = result[:, 0]
        assert_allclose(flat, truth, rtol=TOLERANCE[rounded], atol=1e-6)
        assert_array_equal(flat, flat.astype(ROUNDED[rounded]).astype(np.float64))
    if rounded == F32:
        assert np.any(results[1] != results[1].astype(np.float16))


def test_eps_is_narrowed_to_float32(bench: Bench) -> None:
    arguments = layer_norm_arguments(bench, input=bench.put(np.ones((3, 24))), eps=1e300)

    bench.launch("aclnnLayerNorm", arguments)

    assert_array_equal(bench.fetch(arguments, "rstdOutOptional")[0], np.zeros((3, 1)))


def test_infinities_and_overflows_pass_quietly(bench: Bench) -> None:
    values = numbers(1, 3, 24)
    values[0, 0] = np.inf
    values[1, 0] = np.nan
    arguments = layer_norm_arguments(
        bench,
        input=bench.put(values, F16),
        weightOptional=bench.put(np.full(24, 60000.0)),
        biasOptional=None,
        out=bench.empty(3, 24, data_type=F16),
    )

    bench.launch("aclnnLayerNorm", arguments)

    (out,) = bench.fetch(arguments, "out")
    assert np.all(np.isnan(out[:2]))
    assert np.any(np.isinf(out[2]))
