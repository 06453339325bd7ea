# SPDX-License-Identifier: Apache-2.0
"""Kernels of aclnnRmsNorm and aclnnRmsNormGrad: use of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pyaclnn.mock.operators.outputs import OUTPUT_POISON
from pyaclnn.mock.protocol.batch import Run
from pyaclnn.mock.protocol.values import Call, Value

from .bench import POISON, WORKSPACE, Bench, numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    # Elements that the kernel does not write keep the poison of outputs.
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
    pages = (bench.bytes_at(WORKSPACE + at, 4096) for at in range(0, size, 4096))
    assert all(pattern * 4 in page for page in pages)
    assert bench.bytes_at(WORKSPACE + size, 8) == b"\0" * 8


def test_a_workspace_that_is_still_poisoned_is_left_alone(bench: Bench) -> None:
    call = Call("aclnnRmsNormGrad", 0, rms_norm_grad_arguments(bench))

    assert bench.device.run(Run(WORKSPACE, 0, call)).status == 0

    assert bench.bytes_at(WORKSPACE, 64) == bytes(64)


@pytest.mark.parametrize("address", [0, 0x10, WORKSPACE + (32 << 20)])
def test_a_workspace_outside_of_the_memory_is_an_exception(bench: Bench, address: int) -> None:
    call = Call("aclnnRmsNormGrad", 0, rms_norm_grad_arguments(bench))

    reply = bench.device.run(Run(address, 16 << 20, call))

    assert (reply.status, "workspace" in reply.text) == (507015, True)
