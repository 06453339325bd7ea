# SPDX-License-Identifier: Apache-2.0
"""Results of aclnnLayerNormBackward against float64 formulas written here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pyaclnn.mock.dtypes import DataType
from pyaclnn.mock.values import BoolArray, Call, IntArray, Tensor, Value
from pyaclnn.mock.wire import Run

from .bench import POISON, WORKSPACE, Bench, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

F32, F16, BF16 = DataType.FLOAT, DataType.FLOAT16, DataType.BF16
ROUNDED = {F32: np.float32, F16: np.float16, BF16: ml_dtypes.bfloat16}


def backward_truth(
    dy: NDArray[Any],
    x: NDArray[Any],
    mean: NDArray[Any],
    rstd: NDArray[Any],
    weight: NDArray[Any] | float,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    hat = (x - mean[:, None]) * rstd[:, None]
    g = dy * weight
    n = x.shape[-1]
    dx = g - g.sum(-1)[:, None] / n - hat * (g * hat).sum(-1)[:, None] / n
    return dx * rstd[:, None], (dy * hat).sum(0), dy.sum(0)


def layer_norm_backward_arguments(bench: Bench, **changes: Value) -> dict[str, Value]:
    arguments: dict[str, Value] = {
        "gradOut": bench.put(numbers(1, 3, 24)),
        "input": bench.put(numbers(2, 3, 24)),
        "normalizedShape": IntArray((24,)),
        "mean": bench.put(numbers(3, 3, 1)),
        "rstd": bench.put(numbers(4, 3, 1)),
        "weightOptional": bench.put(numbers(5, 24)),
        "biasOptional": None,
        "outputMask": BoolArray((True, True, True)),
        "gradInputOut": bench.empty(3, 24),
        "gradWeightOut": bench.empty(24),
        "gradBiasOut": bench.empty(24),
    }
    return arguments | changes


@pytest.mark.parametrize("soc_name", ["Ascend910B3", "Ascend310P3"])
@pytest.mark.parametrize("weighted", [True, False])
def test_layer_norm_backward(
    make_bench: Callable[[str], Bench], soc_name: str, weighted: bool
) -> None:
    bench = make_bench(soc_name)
    changes: dict[str, Value] = {} if weighted else {"weightOptional": None}
    arguments = layer_norm_backward_arguments(bench, **changes)

    bench.launch("aclnnLayerNormBackward", arguments)

    truth = backward_truth(
        numbers(1, 3, 24),
        numbers(2, 3, 24),
        numbers(3, 3, 1)[:, 0],
        numbers(4, 3, 1)[:, 0],
        numbers(5, 24) if weighted else 1.0,
    )
    names = ("gradInputOut", "gradWeightOut", "gradBiasOut")
    for result, expected in zip(bench.fetch(arguments, *names), truth, strict=True):
        assert_allclose(result, expected, rtol=2e-5, atol=2e-5)


def test_the_official_example_of_layer_norm_backward(bench: Bench) -> None:
    pairs = np.array([[2.0, 3.0], [4.0, 5.0]])
    arguments = layer_norm_backward_arguments(
        bench,
        gradOut=bench.put(pairs),
        input=bench.put(pairs),
        normalizedShape=IntArray((2,)),
        mean=bench.put(np.array([[2.0], [3.0]])),
        rstd=bench.put(np.array([[4.0], [5.0]])),
        weightOptional=bench.put(np.ones(2)),
        biasOptional=bench.put(np.zeros(2)),
        gradInputOut=bench.empty(2, 2),
        gradWeightOut=bench.empty(2),
        gradBiasOut=bench.empty(2),
    )

    bench.launch("aclnnLayerNormBackward", arguments)

    dx, dweight, dbias = bench.fetch(arguments, "gradInputOut", "gradWeightOut", "gradBiasOut")
    assert_allclose(dx, np.array([[-2.0, -94.0], [-877.5, -1747.5]]), rtol=1e-6)
    assert_array_equal(dweight, [20, 62])
    assert_array_equal(dbias, [6, 8])


def test_layer_norm_backward_casts_and_copies_into_any_output(bench: Bench) -> None:
    arguments = layer_norm_backward_arguments(
        bench,
        gradOut=bench.put(numbers(1, 3, 24), strides=(1, 3), offset=7),
        mean=bench.put(numbers(3, 3), F16, strides=(2,)),
        rstd=bench.put(numbers(4, 3), strides=(3,), offset=1),
        gradInputOut=bench.empty(3, 24, data_type=BF16, strides=(1, 4), offset=2),
        gradWeightOut=bench.empty(24, data_type=F16, strides=(3,)),
        gradBiasOut=bench.empty(24, strides=(5,)),
    )

    bench.launch("aclnnLayerNormBackward", arguments)

    dx, dweight, dbias = backward_truth(
        numbers(1, 3, 24), numbers(2, 3, 24), numbers(3, 3), numbers(4, 3), numbers(5, 24)
    )
    results = bench.fetch(arguments, "gradInputOut", "gradWeightOut", "gradBiasOut")
    assert_allclose(results[0], dx, rtol=1e-2, atol=1e-2)
    assert_allclose(results[1], dweight, rtol=1e-3, atol=1e-3)
    assert_array_equal(results[2], dbias)
    assert_array_equal(results[0], results[0].astype(ml_dtypes.bfloat16).astype(np.float64))


def test_a_gradient_passes_through_the_type_of_the_input(bench: Bench) -> None:
    arguments = layer_norm_backward_arguments(
        bench,
        gradOut=bench.put(numbers(1, 3, 24), F16),
        input=bench.put(numbers(2, 3, 24), F16),
    )

    bench.launch("aclnnLayerNormBackward", arguments)

    (dx,) = bench.fetch(arguments, "gradInputOut")
    assert_array_equal(dx, dx.astype(np.float16).astype(np.float64))


@pytest.mark.parametrize("mask", [(True, False, False), (False, True, False), (False, False, True)])
def test_masked_off_outputs_stay_untouched(bench: Bench, mask: tuple[bool, bool, bool]) -> None:
    arguments = layer_norm_backward_arguments(bench, outputMask=BoolArray(mask))

    bench.launch("aclnnLayerNormBackward", arguments)

    results = bench.fetch(arguments, "gradInputOut", "gradWeightOut", "gradBiasOut")
    for result, written in zip(results, mask, strict=True):
        assert np.all(result == POISON) != written


def test_an_address_nobody_uses_may_be_wrong(bench: Bench) -> None:
    nowhere = Tensor(F32, 2, (24,), (1,), 0, (24,), 0x10)
    arguments = layer_norm_backward_arguments(
        bench,
        biasOptional=nowhere,
        gradBiasOut=nowhere,
        outputMask=BoolArray((True, True, False)),
    )

    bench.launch("aclnnLayerNormBackward", arguments)


def test_without_rows_the_parameter_gradients_are_zero(bench: Bench) -> None:
    arguments = layer_norm_backward_arguments(
        bench,
        gradOut=bench.empty(0, 24),
        input=bench.empty(0, 24),
        mean=bench.empty(0),
        rstd=bench.empty(0),
        outputMask=BoolArray((True, True, False)),
        gradInputOut=bench.empty(0, 24),
    )

    bench.launch("aclnnLayerNormBackward", arguments)

    dweight, dbias = bench.fetch(arguments, "gradWeightOut", "gradBiasOut")
    assert_array_equal(dweight, np.zeros(24))
    assert_array_equal(dbias, np.full(24, POISON))


def test_a_kernel_whose_tiling_failed_does_not_run(bench: Bench) -> None:
    arguments = layer_norm_backward_arguments(
        bench,
        gradOut=bench.put(numbers(1, 2, 3, 4)),
        input=bench.put(numbers(2, 2, 3, 4)),
        normalizedShape=IntArray((5,)),
        mean=bench.put(numbers(3, 2, 3)),
        rstd=bench.put(numbers(4, 2, 3)),
        weightOptional=None,
        outputMask=BoolArray((True, False, False)),
        gradInputOut=bench.empty(2, 3, 4),
    )
    call = Call("aclnnLayerNormBackward", 0, arguments)

    reply = bench.device.run(Run(WORKSPACE, 1 << 20, call))

    assert (reply.status, "tiling" in reply.text) == (507015, True)
    assert np.all(bench.fetch(arguments, "gradInputOut")[0] == POISON)
