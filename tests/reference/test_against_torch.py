# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CPU kernels as golden values: they compute the same operators, in float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import layer_norm, layer_norm_backward, rms_norm, rms_norm_grad

from .problems import DTYPES

pytorch: Any = None

SHAPES = [
    ((7,), (7,)),
    ((64, 33), (33,)),
    ((3, 5, 8, 16), (8, 16)),
    ((2, 3, 1, 2, 2, 1, 3, 4), (3, 4)),
]

everywhere = pytest.mark.parametrize("dtype", DTYPES, ids=str)
every_shape = pytest.mark.parametrize(("shape", "normalized"), SHAPES, ids=str)


@pytest.fixture(autouse=True)
def _import_torch(torch: Any) -> None:
    """Import it where it is used: it takes longer than all of these tests."""
    global pytorch  # noqa: PLW0603
    pytorch = torch


def draw(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> tuple[Any, Any]:
    """The standard's distribution, as a NumPy array and the same numbers as a float64 tensor."""
    array = np.random.default_rng(seed).normal(1, 2, shape).astype(dtype)
    return array, pytorch.tensor(array.astype(np.float64))


def check(actual: Any, golden: Any) -> None:
    verdict = judge(actual, golden.detach().numpy().reshape(actual.shape))
    assert verdict.passed, verdict


@everywhere
@every_shape
def test_layer_norm(
    shape: tuple[int, ...], normalized: tuple[int, ...], dtype: np.dtype[Any]
) -> None:
    (x, x64), (w, w64), (b, b64) = (
        draw(size, dtype, seed) for seed, size in enumerate((shape, normalized, normalized))
    )
    result = layer_norm(x, normalized, w, b, eps=1e-3)
    golden = pytorch.native_layer_norm(x64, normalized, w64, b64, 1e-3)
    for actual, expected in zip(result, golden, strict=True):
        check(actual, expected)


@pytest.mark.sampled(16)
@everywhere
@every_shape
@pytest.mark.parametrize("weighted", [True, False], ids=["weight", "no weight"])
@pytest.mark.parametrize("own", [True, False], ids=["own statistics", "other statistics"])
def test_layer_norm_backward(
    shape: tuple[int, ...],
    normalized: tuple[int, ...],
    dtype: np.dtype[Any],
    *,
    weighted: bool,
    own: bool,
) -> None:
    (dy, dy64), (x, x64) = draw(shape, dtype, 1), draw(shape, dtype, 2)
    w, w64 = draw(normalized, dtype, 3) if weighted else (None, None)
    statistic = shape[: len(shape) - len(normalized)] + (1,) * len(normalized)
    if own:
        _, mean64, rstd64 = pytorch.native_layer_norm(x64, normalized, None, None, 1e-3)
        mean, rstd = mean64.numpy(), rstd64.numpy()
    else:
        wide = np.dtype(np.float64 if dtype == np.float64 else np.float32)
        (mean, mean64), (rstd, rstd64) = draw(statistic, wide, 4), draw(statistic, wide, 5)
    grads = layer_norm_backward(dy, x, normalized, mean, rstd, w)
    golden = pytorch.ops.aten.native_layer_norm_backward(
        dy64, x64, normalized, mean64, rstd64, w64, w64, [True, weighted, weighted]
    )
    for actual, expected in zip(grads, golden, strict=True):
        if expected is not None:
            check(actual, expected)


@everywhere
@every_shape
def test_rms_norm_and_its_gradient(
    shape: tuple[int, ...], normalized: tuple[int, ...], dtype: np.dtype[Any]
) -> None:
    (dy, dy64), (x, x64), (gamma, gamma64) = (
        draw(size, dtype, seed) for seed, size in enumerate((shape, shape, normalized))
    )
    x64.requires_grad_()
    gamma64.requires_grad_()
    y64 = pytorch.nn.functional.rms_norm(x64, normalized, gamma64, 1e-3)
    y64.backward(dy64)
    result = rms_norm(x, gamma, epsilon=1e-3)
    check(result.y, y64)
    grads = rms_norm_grad(dy, x, result.rstd, gamma)
    check(grads.dx, x64.grad)
    check(grads.dgamma, gamma64.grad)


@pytest.mark.parametrize("narrow", [np.float16, ml_dtypes.bfloat16], ids=str)
def test_a_narrow_tensor_with_float32_parameters(narrow: Any) -> None:
    (dy, dy64), (x, x64) = draw((9, 40), np.dtype(narrow), 1), draw((9, 40), np.dtype(narrow), 2)
    w, w64 = draw((40,), np.dtype(np.float32), 3)
    result = layer_norm(x, [40], w)
    out64, mean64, rstd64 = pytorch.native_layer_norm(x64, [40], w64, None, 1e-5)
    check(result.out, out64)
    grads = layer_norm_backward(dy, x, [40], result.mean, result.rstd, w)
    golden = pytorch.ops.aten.native_layer_norm_backward(
        dy64, x64, [40], mean64, rstd64, w64, None, [True, True, False]
    )
    check(grads.grad_input, golden[0])
    check(grads.grad_weight, golden[1])
