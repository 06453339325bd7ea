# SPDX-License-Identifier: Apache-2.0
"""The normalization interfaces in kernels, against the formulas in float64.

Half and float; aligned and padded rows; source reused or not; temporary memory of the kernel's or
of the framework's, all at once or in small chunks; one block or several.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from pyaclnn.ascendc import tiling
from pyaclnn.reference import ascendc as golden

if TYPE_CHECKING:
    from .conftest import Build

Array = NDArray[Any]
EPSILON = 1e-3


class Setup(NamedTuple):
    """Arguments of a kernel run."""

    dtype: type
    reuse: bool
    blocks: int
    chunked: bool
    shared: bool

    @property
    def suffix(self) -> str:
        return ("half" if self.dtype is np.float16 else "float") + "_reuse" * self.reuse

    def arguments(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], int, bool]:
        return shape, np.dtype(self.dtype).itemsize, self.reuse

    def stack(self, sizes: tiling.TmpSize, enough: int) -> int:
        return enough if self.chunked else max(sizes[0], enough)


SETUPS = [
    Setup(*values)
    for values in product(
        (np.float16, np.float32), (False, True), (1, 3), (False, True), (False, True)
    )
    if not (values[0] is np.float16 and values[1])
]


def name_of(setup: Setup) -> str:
    words = [setup.suffix, f"{setup.blocks}-blocks"]
    words += ["chunked"] * setup.chunked + ["shared"] * setup.shared
    return "-".join(words)


every_setup = pytest.mark.parametrize("setup", SETUPS, ids=name_of)


def random(*shape: int, dtype: type, seed: int) -> Array:
    return np.random.default_rng(seed).normal(0.5, 1.5, shape).astype(dtype)


def close(actual: Array, exact: Array, *, sums: int = 1) -> None:
    """As near as the result's type and float32 sums of so many terms allow."""
    eps = float(np.finfo(actual.dtype).eps)
    scale = float(np.abs(exact).max()) + 1
    tolerance = eps * 2 + 1.2e-7 * 4 * np.sqrt(sums)
    np.testing.assert_allclose(actual, exact, rtol=tolerance, atol=tolerance * scale)


def empty(*shape: int, dtype: Any) -> Array:
    return np.full(shape, np.nan, dtype)


# ---- LayerNorm with mean and variance -----------------------------------------------------------


def run_layer_norm(build: Build, setup: Setup, s: int, h: int, origin: int) -> tuple[Array, ...]:
    rows, dtype = s * setup.blocks, setup.dtype
    x = random(1, rows, h, dtype=dtype, seed=1)
    gamma, beta = random(h, dtype=dtype, seed=2), random(h, dtype=dtype, seed=3)
    for padded in (x, gamma, beta):
        padded[..., origin:] = 0
    y = empty(1, rows, h, dtype=dtype)
    mean, variance = empty(1, rows, dtype=dtype), empty(1, rows, dtype=dtype)
    arguments = setup.arguments((1, s, h, origin))
    sizes = tiling.get_layer_norm_max_min_tmp_size(*arguments)
    stack = setup.stack(sizes, sizes[1] + 64)
    build("norms.cpp", f"layer_norm_{setup.suffix}").launch(
        setup.blocks,
        x,
        gamma,
        beta,
        y,
        mean,
        variance,
        EPSILON,
        stack if setup.shared else 0,
        0,
        tiling=tiling.get_layer_norm_nd_tiling_info(arguments[0], stack, *arguments[1:]),
    )
    return x, gamma, beta, y, mean, variance


@pytest.mark.sampled(16)
@every_setup
@pytest.mark.parametrize(("s", "h", "origin"), [(8, 64, 64), (5, 32, 19)])
def test_layer_norm(setup: Setup, s: int, h: int, origin: int, build: Build) -> None:
    x, gamma, beta, y, mean, variance = run_layer_norm(build, setup, s, h, origin)
    exact = x[..., :origin].astype(np.float64)
    epsilon = float(setup.dtype(EPSILON))
    centred = exact - exact.mean(-1, keepdims=True)
    normalized = centred / np.sqrt(exact.var(-1, keepdims=True) + epsilon)
    close(y[..., :origin], normalized * gamma[:origin] + beta[:origin], sums=h)
    close(mean, exact.mean(-1))
    close(variance, exact.var(-1))
    assert not y[..., origin:].any(), "gamma and beta are padded with zeros, and so is the result"

    reference = golden.layer_norm(x, gamma, beta, EPSILON, origin_h=origin)
    for actual, expected in zip((y, mean, variance), reference, strict=True):
        close(actual, expected.astype(np.float64), sums=h)


def test_layer_norm_gives_the_documented_numbers(build: Build) -> None:
    x = np.arange(64, dtype=np.float32).reshape(1, 8, 8)
    weights = np.arange(8, dtype=np.float32)
    y, mean, variance = np.zeros_like(x), np.zeros(8, np.float32), np.zeros(8, np.float32)
    size = tiling.get_layer_norm_max_min_tmp_size((1, 8, 8, 8), 4)[0]
    structure = tiling.get_layer_norm_nd_tiling_info((1, 8, 8, 8), size, 4)
    build("norms.cpp", "layer_norm_float").launch(
        1, x, weights, weights, y, mean, variance, 1e-4, 0, 0, tiling=structure
    )
    np.testing.assert_array_equal(mean, 3.5 + 8 * np.arange(8))
    np.testing.assert_array_equal(variance, np.full(8, 5.25))
    row = [0, -0.09107912, 0.69070506, 2.3453526, 4.8728633, 8.273237, 12.546474, 17.692575]
    np.testing.assert_allclose(y[0], np.tile(row, (8, 1)), rtol=1e-6, atol=1e-6)


# ---- LayerNorm with mean and reciprocal standard deviation --------------------------------------

RSTD = {
    "half": (np.float16, np.float16),
    "mixed": (np.float32, np.float16),
    "float": (np.float32, np.float32),
    "no_beta": (np.float32, np.float32),
    "no_gamma": (np.float32, np.float32),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", RSTD)
@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize(
    "soc", ["Ascend910B3", pytest.param("Ascend950PR_9579", marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize(("shared", "r"), [(False, 64), (True, 37)])
def test_layer_norm_rstd(
    form: str, blocks: int, soc: str, shared: bool, r: int, build: Build
) -> None:
    a, (weight_type, dtype) = 6, RSTD[form]
    in_block = 32 // np.dtype(dtype).itemsize
    padded = -(-r // in_block) * in_block
    x = random(a * blocks, padded, dtype=dtype, seed=1)
    gamma = random(padded, dtype=weight_type, seed=2)
    beta = random(padded, dtype=weight_type, seed=3)
    y = empty(a * blocks, padded, dtype=dtype)
    mean, rstd = empty(a * blocks, dtype=np.float32), empty(a * blocks, dtype=np.float32)
    size = tiling.get_layer_norm_rstd_max_min_tmp_size((a, r), x.itemsize, soc=soc)[1]
    structure = tiling.get_layer_norm_rstd_nd_tiling_info((a, r), size, x.itemsize, soc=soc)
    build("norms.cpp", f"rstd_{form}", soc=soc).launch(
        blocks,
        x,
        gamma,
        beta,
        y,
        mean,
        rstd,
        EPSILON,
        size if shared else 0,
        padded,
        tiling=structure,
    )
    exact = x[:, :r].astype(np.float64)
    expected_rstd = 1 / np.sqrt(exact.var(-1) + EPSILON)
    normalized = (exact - exact.mean(-1, keepdims=True)) * expected_rstd[:, None]
    scale = 1.0 if form == "no_gamma" else gamma[:r]
    shift = 0.0 if form == "no_beta" else beta[:r]
    close(y[:, :r], normalized * scale + shift, sums=r)
    close(mean, exact.mean(-1))
    close(rstd, expected_rstd, sums=r)


# ---- the gradients ------------------------------------------------------------------------------


def run_gradients(
    build: Build, setup: Setup, s: int, h: int, mean_error: float
) -> tuple[dict[str, Array], dict[str, Array]]:
    rows, dtype = s * setup.blocks, setup.dtype
    inputs = {
        "dy": random(1, rows, h, dtype=dtype, seed=1),
        "x": random(1, rows, h, dtype=dtype, seed=2),
        "variance": np.abs(random(1, rows, dtype=dtype, seed=3)) + dtype(1),
        "mean": random(1, rows, dtype=dtype, seed=4) * dtype(mean_error),
        "gamma": random(h, dtype=dtype, seed=5),
    }
    inputs["mean"] += inputs["x"].mean(-1).astype(dtype)
    results = {name: empty(1, rows, h, dtype=dtype) for name in ("pd_x", "res_for_gamma")}
    arguments = setup.arguments((1, s, h, h))
    needed = 9 * 16 * h * 4  # what the rows rounded up by the tiling address at most
    stack = setup.stack(tiling.get_layer_norm_grad_max_min_tmp_size(*arguments), needed)
    structure = tiling.get_layer_norm_grad_nd_tiling_info(arguments[0], stack, *arguments[1:])
    shared = tiling.addressed_bytes(structure) if setup.shared else 0
    build("norms.cpp", f"grad_{setup.suffix}").launch(
        setup.blocks, *inputs.values(), *results.values(), EPSILON, shared, tiling=structure
    )
    results |= {name: np.zeros(h, dtype) for name in ("pd_gamma", "pd_beta")}
    stack = setup.stack(tiling.get_layer_norm_grad_beta_max_min_tmp_size(*arguments), 32 * h)
    build("norms.cpp", f"beta_{setup.suffix}").launch(
        setup.blocks,
        results["res_for_gamma"],
        inputs["dy"],
        results["pd_gamma"],
        results["pd_beta"],
        stack if setup.shared else 0,
        tiling=tiling.get_layer_norm_grad_beta_nd_tiling_info(arguments[0], stack, *arguments[1:]),
    )
    return inputs, results


@pytest.mark.sampled(24)
@every_setup
@pytest.mark.parametrize(("s", "h"), [(8, 32), (21, 16)])
@pytest.mark.parametrize("mean_error", [0.0, 1.0])
def test_the_gradients(setup: Setup, s: int, h: int, mean_error: float, build: Build) -> None:
    inputs, results = run_gradients(build, setup, s, h, mean_error)
    dy, x, variance, mean, gamma = (value.astype(np.float64) for value in inputs.values())
    std = np.sqrt(variance + float(setup.dtype(EPSILON)))[..., None]
    centred = x - mean[..., None]
    g = dy * gamma
    # Written as derivatives of y = (x - mean) / std along x, mean and variance.
    by_variance = (g * centred).sum(-1, keepdims=True) * -0.5 / std**3
    by_mean = -(g / std).sum(-1, keepdims=True) - by_variance * 2 * centred.mean(-1, keepdims=True)
    close(results["pd_x"], g / std + by_variance * 2 * centred / h + by_mean / h, sums=h)
    close(results["res_for_gamma"], centred / std)
    # The sums of the rows take what the first kernel wrote. Blocks add up in the result's type.
    res = results["res_for_gamma"].astype(np.float64)
    terms = s * setup.blocks
    close(results["pd_gamma"], (dy * res).sum((0, 1)), sums=terms)
    close(results["pd_beta"], dy.sum((0, 1)), sums=terms)

    reference = golden.layer_norm_grad(
        inputs["dy"], inputs["x"], inputs["variance"], inputs["mean"], inputs["gamma"], EPSILON
    )
    close(results["pd_x"], reference.output_pd_x.astype(np.float64), sums=h)
    sums = golden.layer_norm_grad_beta(results["res_for_gamma"], inputs["dy"])
    close(results["pd_gamma"], sums.output_pd_gamma.astype(np.float64), sums=terms)
    close(results["pd_beta"], sums.output_pd_beta.astype(np.float64), sums=terms)


def test_the_sums_give_the_documented_numbers(build: Build) -> None:
    dy = np.arange(64, dtype=np.float32).reshape(1, 8, 8)
    pd_gamma, pd_beta = np.zeros(8, np.float32), np.zeros(8, np.float32)
    size = tiling.get_layer_norm_grad_beta_max_min_tmp_size((1, 8, 8, 8), 4)[0]
    structure = tiling.get_layer_norm_grad_beta_nd_tiling_info((1, 8, 8, 8), size, 4)
    kernel = build("norms.cpp", "beta_float")
    kernel.launch(1, dy.copy(), dy, pd_gamma, pd_beta, 0, tiling=structure)
    expected = [8960, 9416, 9888, 10376, 10880, 11400, 11936, 12488]
    np.testing.assert_array_equal(pd_gamma, expected)
    np.testing.assert_array_equal(pd_beta, 224 + 8 * np.arange(8))
