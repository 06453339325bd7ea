# SPDX-License-Identifier: Apache-2.0
"""Kernels of aclnnLayerNormBackward: behaviour beyond the formula."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from pyaclnn.mock.protocol.batch import Run
from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import BoolArray, Call, IntArray, Tensor, Value

from .bench import POISON, WORKSPACE, Bench, numbers

F32, F16 = DATA_TYPES["FLOAT"], DATA_TYPES["FLOAT16"]


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


def test_a_gradient_passes_through_the_type_of_the_input(bench: Bench) -> None:
    arguments = layer_norm_backward_arguments(
        bench,
        gradOut=bench.put(numbers(1, 3, 24), F16),
        input=bench.put(numbers(2, 3, 24), F16),
    )

    bench.launch("aclnnLayerNormBackward", arguments)

    (dx,) = bench.fetch(arguments, "gradInputOut")
    assert_array_equal(dx, dx.astype(np.float16).astype(np.float64))


def test_an_address_nobody_uses_may_be_wrong(bench: Bench) -> None:
    nowhere = Tensor(F32, 2, (24,), (1,), 0, (24,), 0x10)
    arguments = layer_norm_backward_arguments(
        bench,
        biasOptional=nowhere,
        gradBiasOut=nowhere,
        outputMask=BoolArray((True, True, False)),
    )

    bench.launch("aclnnLayerNormBackward", arguments)


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
