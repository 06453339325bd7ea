# SPDX-License-Identifier: Apache-2.0
"""Results of aclnnRmsNorm and aclnnRmsNormGrad against float64 formulas written here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pyaclnn.mock.dtypes import DataType
from pyaclnn.mock.outputs import OUTPUT_POISON
from pyaclnn.mock.values import Call, Tensor, Value
from pyaclnn.mock.wire import Run

from .bench import POISON, TOLERANCE, WORKSPACE, Bench, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

F32, F16, BF16 = DataType.FLOAT, DataType.FLOAT16, DataType.BF16
ROUNDED = {F32: np.float32, F16: np.float16, BF16: ml_dtypes.bfloat16}


def rms_grad_truth(
    dy: NDArray[Any], x: NDArray[Any], rstd: NDArray[Any], gamma: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    hat = x * rstd[:, None]
    g = dy * gamma
    dx = (g - hat * (g * hat).sum(-1)[:, None] / x.shape[-1]) * rstd[:, None]
    return dx, (dy * hat).sum(0)


def rms_norm_grad_arguments(bench: Bench, **changes: Value) -> dict[str, Value]:
    arguments: dict[str, Value] = {
        "dy": bench.put(numbers(1, 3, 24)),
        "x": bench.put(numbers(2, 3, 24)),
        "rstd": bench.put(numbers(3, 3)),
        "gamma": bench.put(numbers(4, 24)),
        "dxOut": bench.empty(3, 24),
        "dgammaOut": bench.empty(24),
    }
    return arguments | changes


@pytest.mark.parametrize(
    ("code", "gamma_code"), [(F32, F32), (F16, F16), (F16, F32), (BF16, BF16), (BF16, F32)]
)
def test_rms_norm(bench: Bench, code: DataType, gamma_code: DataType) -> None:
    x, gamma = numbers(1, 2, 3, 4, 8), numbers(2, 4, 8)
    arguments: dict[str, Value] = {
        "x": bench.put(x, code, strides=(1, 2, 6, 24), offset=4),
        "gamma": bench.put(gamma, gamma_code, strides=(1, 4)),
        "epsilon": 1e-3,
        "yOut": bench.empty(2, 3, 4, 8, data_type=code, offset=3),
        "rstdOut": bench.empty(2, 3, 1, 1, offset=1),
    }

    bench.launch("aclnnRmsNorm", arguments)

    rstd = ((x**2).sum((2, 3), keepdims=True) / 32 + 1e-3) ** -0.5
    y_out, rstd_out = bench.fetch(arguments, "yOut", "rstdOut")
    assert_allclose(y_out, x * rstd * gamma, rtol=TOLERANCE[code], atol=1e-6)
    assert_allclose(rstd_out, rstd, rtol=2e-6)


def test_the_official_example_of_rms_norm(bench: Bench) -> None:
    arguments: dict[str, Value] = {
        "x": bench.put(np.tile(np.arange(8.0), (2, 2))),
        "gamma": bench.put(np.tile(np.arange(8.0), 2)),
        "epsilon": 1e-6,
        "yOut": bench.empty(2, 16),
        "rstdOut": bench.empty(2, 1),
    }

    bench.launch("aclnnRmsNorm", arguments)

    assert_allclose(bench.fetch(arguments, "rstdOut")[0], [[0.23904572]] * 2, rtol=2e-7)


def test_rstd_is_written_row_after_row_whatever_its_shape(bench: Bench) -> None:
    arguments: dict[str, Value] = {
        "x": bench.put(numbers(1, 3, 8)),
        "gamma": bench.put(np.ones(8)),
        "epsilon": 1e-3,
        "yOut": bench.empty(3, 8),
        "rstdOut": bench.empty(3, 8),
    }

    bench.launch("aclnnRmsNorm", arguments)

    (rstd,) = bench.fetch(arguments, "rstdOut")
    truth = ((numbers(1, 3, 8) ** 2).sum(1) / 8 + 1e-3) ** -0.5
    assert_allclose(rstd.reshape(24)[:3], truth, rtol=2e-6)
    # What the kernel leaves out of an output it writes to shows the poison of outputs.
    assert np.all(
        rstd.reshape(24)[3:].astype(np.float32).view(np.uint32) == OUTPUT_POISON * 0x1_0001
    )


def test_rstd_too_small_for_the_rows_is_an_exception_of_the_kernel(bench: Bench) -> None:
    arguments: dict[str, Value] = {
        "x": bench.put(numbers(1, 3, 8)),
        "gamma": bench.put(np.ones(8)),
        "epsilon": 1e-3,
        "yOut": bench.empty(3, 8),
        "rstdOut": bench.empty(1, 1),
    }

    reply = bench.run("aclnnRmsNorm", arguments)

    assert (reply.status, "rstdOut has 1 elements" in reply.text) == (507015, True)
    assert np.all(bench.fetch(arguments, "yOut")[0] == POISON)


def test_the_official_example_of_rms_norm_grad(bench: Bench) -> None:
    x = np.arange(1.0, 33.0).reshape(2, 1, 16)
    arguments = rms_norm_grad_arguments(
        bench,
        dy=bench.put(x),
        x=bench.put(x),
        rstd=bench.put(np.array([1.0, 2.0])),
        gamma=bench.put(np.arange(1.0, 17.0)),
        dxOut=bench.empty(2, 1, 16),
        dgammaOut=bench.empty(16),
    )

    bench.launch("aclnnRmsNormGrad", arguments)

    dx, dgamma = bench.fetch(arguments, "dxOut", "dgammaOut")
    assert_allclose(dx[0, 0, [0, 1, 2, 3, 15]], [-1155, -2308, -3459, -4608, -18240], rtol=1e-6)
    assert_allclose(dx[1, 0, [0, 1, 15]], [-860030, -910584, -1617920], rtol=1e-6)
    assert_array_equal(dgamma[[0, 1, 15]], [579, 652, 2304])


@pytest.mark.parametrize(
    ("code", "gamma_code"), [(F32, F32), (F16, F16), (F16, F32), (BF16, BF16), (BF16, F32)]
)
def test_rms_norm_grad_reads_strided_inputs(
    bench: Bench, code: DataType, gamma_code: DataType
) -> None:
    arguments = rms_norm_grad_arguments(
        bench,
        dy=bench.put(numbers(1, 3, 24), code, strides=(1, 3), offset=7),
        x=bench.put(numbers(2, 3, 24), code, strides=(50, 2)),
        rstd=bench.put(numbers(3, 3), strides=(4,), offset=1),
        gamma=bench.put(numbers(4, 24), gamma_code, strides=(3,)),
        dxOut=bench.empty(3, 24, data_type=code, offset=5),
        dgammaOut=bench.empty(24, offset=6),
    )

    bench.launch("aclnnRmsNormGrad", arguments)

    truth = rms_grad_truth(numbers(1, 3, 24), numbers(2, 3, 24), numbers(3, 3), numbers(4, 24))
    dx, dgamma = bench.fetch(arguments, "dxOut", "dgammaOut")
    assert_allclose(dx, truth[0], rtol=TOLERANCE[code], atol=TOLERANCE[code])
    assert_allclose(dgamma, truth[1], rtol=2e-5, atol=2e-5)


def test_an_individual_operator_ignores_the_strides_of_its_outputs(bench: Bench) -> None:
    dense = rms_norm_grad_arguments(bench)
    transposed = {**dense, "dxOut": bench.empty(3, 24, strides=(1, 3))}

    bench.launch("aclnnRmsNormGrad", dense)
    bench.launch("aclnnRmsNormGrad", transposed)

    (expected,) = bench.fetch(dense, "dxOut")
    written = transposed["dxOut"]
    assert isinstance(written, Tensor)
    assert_array_equal(bench.storage(written), expected.reshape(72))


def test_on_the_950_a_gradient_of_no_rows_is_nan(make_bench: Callable[[str], Bench]) -> None:
    bench = make_bench("Ascend950PR_9579")
    arguments = rms_norm_grad_arguments(
        bench,
        dy=bench.empty(0, 24),
        x=bench.empty(0, 24),
        rstd=bench.empty(0),
        dxOut=bench.empty(0, 24),
    )

    bench.launch("aclnnRmsNormGrad", arguments)

    assert np.all(np.isnan(bench.fetch(arguments, "dgammaOut")[0]))


def test_inputs_may_be_overwritten(bench: Bench) -> None:
    arguments = rms_norm_grad_arguments(bench)
    expected, _ = rms_grad_truth(
        numbers(1, 3, 24), numbers(2, 3, 24), numbers(3, 3), numbers(4, 24)
    )

    bench.launch("aclnnRmsNormGrad", {**arguments, "dxOut": arguments["dy"]})

    assert_allclose(bench.fetch(arguments, "dy")[0], expected, rtol=2e-5, atol=2e-5)


def test_the_workspace_is_poisoned(bench: Bench) -> None:
    arguments = rms_norm_grad_arguments(bench)
    size = bench.check("aclnnRmsNormGrad", arguments).workspace_size

    bench.launch("aclnnRmsNormGrad", arguments)

    pattern = bytes.fromhex("fd7f")
    assert bench.bytes_at(WORKSPACE, 65536) == pattern * 32768
    assert bench.bytes_at(WORKSPACE + size - 65536, 65536) == pattern * 32768
    assert bench.bytes_at(WORKSPACE + (8 << 20), 8) == pattern * 4
    assert bench.bytes_at(WORKSPACE + size, 8) == b"\0" * 8


@pytest.mark.parametrize("address", [0, 0x10, WORKSPACE + (32 << 20)])
def test_a_workspace_outside_of_the_memory_is_an_exception(bench: Bench, address: int) -> None:
    call = Call("aclnnRmsNormGrad", 0, rms_norm_grad_arguments(bench))

    reply = bench.device.run(Run(address, 16 << 20, call))

    assert (reply.status, "workspace" in reply.text) == (507015, True)
