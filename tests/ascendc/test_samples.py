# SPDX-License-Identifier: Apache-2.0
"""Kernels as samples of Ascend C are written, against NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from pyaclnn.ascendc import KernelFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Build

Array = NDArray[Any]
F16, F32, I16 = np.float16, np.float32, np.int16


class Sample(NamedTuple):
    """A kernel of ``samples.cpp``: its source, and its exact results as NumPy has them."""

    n: int
    source: type[Any]
    result: type[Any]
    exact: Callable[[Array], Array]
    tolerance: float = 0


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def activations(x: Array) -> Array:
    gated = np.tanh(sigmoid(x))
    gated = gated * sigmoid(gated)
    return np.asarray(gated * sigmoid(2 * gated))


def halves(function: Callable[[Array, Array], Array]) -> Callable[[Array], Array]:
    return lambda x: function(x[: x.size // 2], x[x.size // 2 :])


def masks(a: Array, b: Array) -> Array:
    at = np.arange(a.size)
    result = np.where(at % 16 < 8, a + b, 0) + (at < 100)
    return np.asarray(np.where(at % 64 < 3, result * 2, result))


def multiply_add(a: Array, b: Array) -> Array:
    d = a * (2 + a * b) + b + a * 0.5
    return np.asarray(np.maximum(a * d + b, 0))


def tripled(x: Array) -> Array:
    """Multiply bfloat16, given as the upper halves of floats."""
    wide = (x.astype(np.uint32) << 16).view(F32) * F32(3)
    bits = wide.view(np.uint32)
    return np.asarray((bits + 0x7FFF + (bits >> 16 & 1)) >> 16, np.uint16)


def to_int8(x: Array) -> Array:
    return np.clip(np.copysign(np.floor(np.abs(x) + 0.5), x), -128, 127)


def saturated(x: Array) -> Array:
    limits = np.iinfo(np.int64)
    return np.array([min(max(int(v), limits.min), limits.max) for v in x * F32(1e19)])


def faster_gelu(x: Array) -> Array:
    inner = np.minimum(np.abs(0.7071 * x), 1.769) - 1.769
    return np.asarray(x * (np.sign(x) * (-0.1444 * inner**2 + 0.5) + 0.5))


def places(x: Array) -> Array:
    odd, y = x.reshape(-1, 128)[:, 1::2], np.zeros(48, F16)
    y[:4] = (odd.argmax(1) * 2 + 1).astype(np.uint32).view(F16)
    y[16:20:2], y[17:20:2] = odd.min(1), (odd.argmin(1) * 2 + 1).astype(np.uint16).view(F16)
    y[32:33], y[33:34] = odd.max(), np.array([odd.argmax() * 2 + 1], np.uint16).view(F16)
    return y


def padded(x: Array) -> Array:
    nines = np.full(8, 9)
    rows = [nines, x[:16], nines, nines, x[16:32], nines]
    return np.concatenate([*rows, *[x[:12], np.zeros(4)] * 2])


def indices(places: Array) -> Array:
    return places.astype(np.uint32).view(F32)


def reduced(x: Array) -> Array:
    y, rows = np.zeros(64, F32), x.astype(F32).reshape(-1, 64)
    y[0], y[8], y[9] = x.sum(), x.max(), indices(np.array([x.argmax()]))[0]
    y[16:32:2], y[17:32:2] = rows.min(1), indices(rows.argmin(1))
    y[48:56] = rows.max(1)
    return y


def sorted_lists(x: Array) -> Array:
    order = np.argsort(-x, kind="stable")
    return np.stack([x.astype(F32)[order], indices(order)], 1).ravel()


def largest(x: Array) -> Array:
    rows = -np.sort(-x.reshape(2, -1)[:, :60])[:, :8]
    return np.concatenate([rows[0], rows[1]])


def softmax(x: Array) -> Array:
    rows = x.reshape(-1, 64)[:, :60]
    e = np.exp(rows - rows.max(1, keepdims=True))
    return np.asarray(np.pad(e / e.sum(1, keepdims=True), ((0, 0), (0, 4))).ravel())


def log_softmax(x: Array) -> Array:
    rows = (x.astype(F32) * F32(300)).astype(np.float64).reshape(-1, 64)
    rows -= rows.max(1, keepdims=True)
    return np.asarray(rows - np.log(np.exp(rows).sum(1, keepdims=True))).ravel()


def rms_norm(x: Array) -> Array:
    rows, gamma = x[:256].reshape(-1, 64), x[256 : 256 + 64]
    return np.asarray(rows / np.sqrt((rows**2).mean(1, keepdims=True) + 1e-5) * gamma).ravel()


def flash(x: Array) -> Array:
    first, second = x.reshape(2, 4, 16)
    most = x.reshape(2, 4, 16).max((0, 2))[:, None]
    weights = np.exp(np.concatenate([first - most, second - most]))
    sums = weights.reshape(2, 4, 16).sum((0, 2))
    return np.concatenate([weights.ravel(), sums.repeat(8)])


def softmax_gradient(x: Array) -> Array:
    gradient, y = x.reshape(2, 2, 32)[..., :30]
    sums = (gradient * y).sum(1, keepdims=True)
    rows = np.pad((gradient - sums) * y, ((0, 0), (0, 2)))
    return np.concatenate([rows.ravel(), sums.repeat(8)])


def simple_softmax(x: Array) -> Array:
    e = np.exp(x.reshape(2, 64) - x.reshape(2, 64).max(1, keepdims=True))
    return np.asarray(e / e.sum(1, keepdims=True)).ravel()


def quantized(x: Array) -> Array:
    """Quantize by a scale, and by one of each channel, which are the first of the source."""
    half = x.size // 2
    by_one, by_channel = x[:half] * F32(30) + F32(2), x[half:] * x[:half] + x[8 : 8 + half]
    return np.asarray(np.clip(np.rint(np.concatenate([by_one, by_channel])), -128, 127))


def dequantized(x: Array) -> Array:
    rows = np.zeros((4, 32))
    rows[:, :22] = (x.reshape(4, 24) * np.arange(1, 25))[:, :22]
    return rows.ravel()


def restored(x: Array) -> Array:
    scales = np.arange(1, 33)
    rows = (x.reshape(-1, 16) + scales[16:]) * scales[:16]
    return np.concatenate([rows.ravel(), (x + 2) * 0.5])


def four_bits(x: Array) -> Array:
    few = np.clip(np.floor(x), -8, 7).astype(np.int8)
    packed = (few[::2] & 15 | few[1::2] << 4).astype(np.uint8)
    return np.concatenate([few[64:], np.zeros(64), packed.view(F16)])


def chosen_by_bytes(x: Array) -> Array:
    row = np.tile(np.arange(32) % 3 == 1, 2)
    return np.concatenate([np.where(row, -1, x[:64]), np.where(row, x[64:], 2)])


def digamma(x: Array) -> Array:
    """Add the series, and what is left of it as an integral."""
    n, many = np.arange(20000)[:, None], 20000
    series = (1 / (n + 1) - 1 / (n + x)).sum(0)
    return np.asarray(series + np.log((many + x - 0.5) / (many + 0.5)) - np.euler_gamma)


def compared(x: Array) -> Array:
    return np.concatenate([np.minimum(x[:64], x[64:]), np.maximum(x[:64], x[64:])])


def welford(x: Array) -> Array:
    taken = np.append(x[:96], x[96:120])
    return np.concatenate([[taken.mean()], np.zeros(7), [taken.var()], np.zeros(7)])


def group_norm(x: Array) -> Array:
    groups = x.reshape(2, 2, 32)
    means, variances = groups.mean(2), groups.var(2)
    y = (groups - means[..., None]) / np.sqrt(variances + 1e-3)[..., None]
    channels = np.arange(4)[:, None]
    y = y.reshape(2, 4, 16) * (channels + 1) + channels / 2
    return np.concatenate([y.ravel(), means.ravel(), [0] * 12, variances.ravel(), [0] * 12])


def products(x: Array) -> Array:
    rows = x.reshape(16, 8)
    others = np.array([np.floor(x[3]), 1, x[5], 0, 0, 0, 0, 0])
    return np.concatenate([rows.prod(1), rows.prod(0), others])


def not_finite(x: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        first, second, third = x.reshape(3, -1)
        roots = np.sqrt(second * F32(1e38)), np.sqrt(third)
        return np.concatenate(
            [np.isinf(first * F32(1e38)), np.isnan(roots[0]), np.isfinite(roots[1])]
        )


SAMPLES = {
    "widened": Sample(
        40,
        F32,
        F32,
        lambda x: np.pad(x.reshape(4, 10), ((0, 0), (0, 6)), constant_values=3).ravel(),
    ),
    "narrowed": Sample(128, F16, F16, lambda x: x.reshape(8, 16)[:, :10].ravel()),
    "welford": Sample(128, F32, F32, welford, 1e-6),
    "group_norm": Sample(128, F16, F16, group_norm, 4e-3),
    "between": Sample(
        128,
        F32,
        F32,
        lambda x: np.append(np.clip(x[:64], -1, 1.25), np.minimum(np.maximum(x[64:], x[:64]), 2)),
    ),
    "integral": Sample(128, F32, F32, lambda x: np.append(np.floor(x[:64]), np.rint(x[64:]))),
    "products": Sample(128, F32, F32, products, 1e-5),
    "not_finite": Sample(192, F32, F32, not_finite),
    "flash": Sample(128, F32, F32, flash, 1e-5),
    "softmax_gradient": Sample(128, F32, F32, softmax_gradient, 1e-5),
    "simple_softmax": Sample(128, F16, F16, simple_softmax, 1e-3),
    "quantized": Sample(128, F32, np.int8, quantized),
    "dequantized": Sample(96, np.int32, F16, dequantized),
    "restored": Sample(256, np.int8, F16, restored),
    "four_bits": Sample(128, F16, F16, four_bits),
    "compared": Sample(128, F32, F32, compared),
    "chosen_by_bytes": Sample(128, F16, F16, chosen_by_bytes),
    "digamma": Sample(128, F32, F32, digamma, 1e-5),
    "operators": Sample(512, F16, F16, halves(lambda a, b: (a + b) * a - b), 4e-3),
    "masks": Sample(512, F32, F32, halves(masks), 1e-6),
    "multiply_add": Sample(512, F32, F32, halves(multiply_add), 1e-4),
    "activations": Sample(256, F32, F32, activations, 1e-6),
    "gated": Sample(256, F32, F32, halves(lambda a, b: a * b * sigmoid(b)), 1e-6),
    "through_bfloat16": Sample(256, np.uint16, np.uint16, tripled),
    "to_int8": Sample(256, F16, np.int8, to_int8),
    "whole": Sample(256, F32, F32, np.floor),
    "large": Sample(64, np.int32, F32, lambda x: x + x % 2 + 2.0**24),
    "saturated": Sample(64, F32, np.int64, saturated),
    "scaled": Sample(128, np.int32, F16, lambda x: x * 0.5),
    "clamped": Sample(64, F32, F32, lambda x: np.clip(x, -1, 1.25)),
    "faster_gelu": Sample(256, F32, F32, faster_gelu, 1e-6),
    "smaller": Sample(256, F32, F32, halves(np.minimum)),
    "bits": Sample(512, I16, I16, halves(lambda a, b: (((~a & b) | (a << 2)) >> 1) ^ b)),
    "spread": Sample(32, F32, F32, lambda x: x.repeat(16)),
    "reduced": Sample(512, F32, F32, reduced, 1e-5),
    "reduced_in_parts": Sample(
        256,
        F16,
        F16,
        lambda x: np.concatenate([x.reshape(-1, 16).max(1), x.reshape(-1, 2).sum(1)]),
        1e-3,
    ),
    "places": Sample(256, F16, F16, places),
    "padded": Sample(32, F32, F32, padded),
    "backwards": Sample(256, F16, F16, lambda x: x[::-1]),
    "every_other": Sample(256, F32, F32, lambda x: np.append(np.append(x[::2], np.zeros(7)), 128)),
    "sorted_lists": Sample(128, F32, F32, sorted_lists),
    "largest": Sample(128, F32, F32, largest),
    "softmax": Sample(256, F16, F16, softmax, 1e-3),
    "log_softmax": Sample(128, F32, F32, log_softmax, 1e-6),
    "rms_norm": Sample(512, F32, F32, rms_norm, 1e-6),
    "transposed": Sample(1024, F16, F16, lambda x: x.reshape(16, -1).T.ravel()),
}


def source(sample: Sample) -> Array:
    rng = np.random.default_rng(7)
    if np.issubdtype(sample.source, np.integer):
        high = {np.uint16: 0x4100, np.int8: 100}.get(sample.source, 3000)
        return rng.integers(0, high, sample.n).astype(sample.source)
    return rng.uniform(-4, 4, sample.n).astype(sample.source)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name: str, build: Build) -> None:
    sample = SAMPLES[name]
    x = source(sample)
    wide = x if x.dtype.kind in "iu" or not sample.tolerance else x.astype(np.float64)
    exact = sample.exact(wide)
    y = np.zeros(exact.size, sample.result)
    build("samples.cpp", name).launch(1, x, y, x.size, y.size)
    if sample.tolerance:
        np.testing.assert_allclose(y, exact, rtol=sample.tolerance, atol=sample.tolerance)
    else:
        np.testing.assert_array_equal(y, exact.astype(sample.result))


def neighbours(build: Build, late: int) -> tuple[Array, Array]:
    x = np.arange(3 * 32, dtype=np.int32)
    y, shared = np.zeros_like(x), np.zeros_like(x)
    build("samples.cpp", "neighbours").launch(3, x, y, shared, 32, late)
    return x.reshape(3, 32), y.reshape(3, 32)


def test_blocks_wait_for_one_another(build: Build) -> None:
    x, y = neighbours(build, 0)
    np.testing.assert_array_equal(y, 2 * np.roll(x, -1, 0))


def test_a_wait_that_a_block_leaves_out_is_reported(build: Build) -> None:
    with pytest.raises(KernelFault, match="1 of 3 cores wait here, and the others have ended"):
        neighbours(build, 1)


def test_a_scale_that_is_missing_is_reported(build: Build) -> None:
    x, y = np.zeros(64, np.int32), np.zeros(64, F16)
    with pytest.raises(KernelFault, match="a scale that nothing has set: call SetDeqScale"):
        build("samples.cpp", "scaled").launch(1, x, y, x.size, y.size)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("never_compared", "GetCmpMask: the compare mask is read; call SetCmpMask"),
        ("in_fractals", "SoftMax: isDataFormatNZ is not simulated"),
    ],
)
def test_samples_that_are_refused(name: str, reason: str, build: Build) -> None:
    x = np.ones(128, F32)
    with pytest.raises(KernelFault, match=reason):
        build("samples.cpp", name).launch(1, x, np.zeros_like(x), x.size, x.size)


def test_a_kernel_of_vector_cores_has_no_cube_cores(build: Build) -> None:
    x = np.zeros(3, np.int32)
    build("samples.cpp", "vector_only").launch(3, x)
    np.testing.assert_array_equal(x, [1, 1, 1])


def test_cores_of_a_kind_wait_for_one_another(build: Build) -> None:
    x = np.zeros((2, 4, 8), np.int32)
    build("samples.cpp", "joined").launch(3, x)
    (_, sums, *_), (_, vector_sums, _, neighbours_sums) = x
    np.testing.assert_array_equal(sums[:3], 1 + 2 + 3)
    np.testing.assert_array_equal(vector_sums[:6], 1 + 2 + 3 + 4 + 5 + 6)
    np.testing.assert_array_equal(neighbours_sums[:6], 21 + np.array([1, 0, 3, 2, 5, 4]))
    np.testing.assert_array_equal(x[0, 0, :3], 21)
    np.testing.assert_array_equal(x[1, 0, :6], 6)
