# SPDX-License-Identifier: Apache-2.0
"""The elementary vector calls against NumPy in float64, rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Build

# One program with all of them, which takes the compiler long.
pytestmark = pytest.mark.exhaustive

Array = NDArray[Any]

N = 256
TYPES = {"half": np.float16, "float": np.float32, "int32": np.int32}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Max": np.maximum,
    "Min": np.minimum,
    "Div": np.divide,
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Ln": np.log,
    "Exp": np.exp,
    "Abs": np.abs,
    "Reciprocal": lambda x: 1 / x,
    "Relu": lambda x: np.maximum(x, 0),
}
SCALAR: dict[str, Callable[[Array, float], Array]] = {
    "Adds": np.add,
    "Muls": np.multiply,
    "Maxs": np.maximum,
    "Mins": np.minimum,
}
FLOATS = ("half", "float")


def numbers(kind: str, n: int = N, seed: int = 0, *, positive: bool = False) -> Array:
    rng = np.random.default_rng(seed)
    if kind == "int32":
        return rng.integers(-1000, 1000, n, dtype=np.int32)
    values = rng.uniform(0.01 if positive else -8, 8, n)
    return values.astype(TYPES[kind])


def close(actual: Array, exact: Array) -> None:
    """Within a unit in the last place of the exact value, rounded."""
    expected = exact.astype(actual.dtype)
    if actual.dtype.kind == "f":
        np.testing.assert_array_max_ulp(actual, expected, maxulp=1)
    else:
        np.testing.assert_array_equal(actual, expected)


def wide(array: Array) -> Array:
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("which", "name"), list(enumerate(BINARY)))
def test_binary_calls(which: int, name: str, kind: str, build: Build) -> None:
    if kind == "int32" and name == "Div":
        return  # it does not exist: see test_faults
    kernel = build("elementary.cpp", f"binary_{kind}")
    x, y, z = numbers(kind), numbers(kind, seed=1), np.zeros(N, TYPES[kind])
    exact = BINARY[name]
    kernel.launch(1, x, y, z, which, 0, N)
    close(z, exact(wide(x), wide(y)))

    row = 256 // x.itemsize
    kernel.launch(1, x, y, z, which, 1, N)
    close(z, exact(wide(x), np.tile(wide(y[:row]), N // row)))

    kernel.launch(1, x, y, z, which, 2, N)
    close(z[::2], exact(wide(x), wide(y))[::2])
    assert not z[1::2].any()


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize(("which", "name"), list(enumerate(UNARY)))
def test_unary_calls(which: int, name: str, form: int, kind: str, build: Build) -> None:
    positive = name not in {"Exp", "Abs", "Relu"}
    x, z = numbers(kind, positive=positive), np.zeros(N, TYPES[kind])
    build("elementary.cpp", f"unary_{kind}").launch(1, x, z, which, form, N)
    close(z, UNARY[name](wide(x)))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("which", "name"), list(enumerate(SCALAR)))
def test_calls_with_a_scalar(which: int, name: str, kind: str, build: Build) -> None:
    x, z = numbers(kind), np.zeros(N, TYPES[kind])
    scalar = float(np.array(3 if kind == "int32" else 0.7, TYPES[kind]))
    build("elementary.cpp", f"scalar_{kind}").launch(1, x, z, which, scalar, N)
    close(z, SCALAR[name](wide(x), scalar))


# ---- Cast ---------------------------------------------------------------------------------------

NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)
TO_INTEGER: dict[int, Callable[[Array], Array]] = {
    RINT: np.rint,
    FLOOR: np.floor,
    CEIL: np.ceil,
    ROUND: lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    TRUNC: np.trunc,
}
HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, -1.25, 1.75] * 4)


def cast(build: Build, source: str, target: str, values: Array, mode: int) -> Array:
    x = values.astype(TYPES[source])
    z = np.zeros(x.size, TYPES[target])
    build("elementary.cpp", f"cast_{source}_to_{target}").launch(1, x, z, mode, x.size)
    return z


@pytest.mark.parametrize("mode", TO_INTEGER)
@pytest.mark.parametrize("source", FLOATS)
def test_a_cast_to_integers_rounds_in_the_direction(source: str, mode: int, build: Build) -> None:
    actual = cast(build, source, "int32", HALVES, mode)
    np.testing.assert_array_equal(actual, TO_INTEGER[mode](HALVES))


def test_a_cast_to_integers_saturates(build: Build) -> None:
    values = np.array([3e9, -3e9, np.inf, -np.inf, np.nan, 0, 1, -1])
    expected = [2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 0, 0, 1, -1]
    np.testing.assert_array_equal(cast(build, "float", "int32", values, TRUNC), expected)


def test_half_to_float_is_exact_for_all_halves(build: Build) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(16, -1)
    for part in every:
        actual = cast(build, "half", "float", part, NONE)
        np.testing.assert_array_equal(actual, part.astype(np.float32))


@pytest.mark.parametrize("mode", [NONE, RINT])
def test_float_to_half_rounds_to_nearest_even(mode: int, build: Build) -> None:
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 1 << 32, 4096, dtype=np.uint32)
    # Around the limits: subnormals, the smallest normal, the largest finite, ties.
    edges = np.array([0x33000000, 0x33000001, 0x387FF000, 0x38800000, 0x477FEFFF, 0x477FF000])
    ties = (rng.integers(0x38800, 0x477FF, 4096) << 12).astype(np.uint32)
    values = np.concatenate([bits, edges.astype(np.uint32).repeat(8), ties]).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = values.astype(np.float16)
    np.testing.assert_array_equal(cast(build, "float", "half", values, mode), expected)


def test_float_to_half_in_a_direction(build: Build) -> None:
    exact = np.random.default_rng(4).uniform(-8, 8, 256).astype(np.float32)
    down = cast(build, "float", "half", exact, FLOOR)
    up = cast(build, "float", "half", exact, CEIL)
    inward = cast(build, "float", "half", exact, TRUNC)
    odd = cast(build, "float", "half", exact, ODD)
    assert (down <= exact).all()
    assert (up >= exact).all()
    assert (np.nextafter(down, np.float16(np.inf)) == up).all()
    assert (np.abs(inward) <= np.abs(exact)).all()
    assert (odd.view(np.uint16) % 2 == 1).all()
    np.testing.assert_array_equal(
        cast(build, "float", "half", exact, ROUND), exact.astype(np.float16)
    )


@pytest.mark.parametrize("target", FLOATS)
def test_integers_become_floats(target: str, build: Build) -> None:
    values = np.arange(-512, 512)
    np.testing.assert_array_equal(cast(build, "int32", target, values, NONE), values)


# ---- sums and spreading -------------------------------------------------------------------------


def special(build: Build, kind: str, which: int, x: Array, results: int) -> Array:
    z = np.zeros(results, x.dtype)
    build("elementary.cpp", f"special_{kind}").launch(1, x, z, which, x.size, results)
    return z


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("n", [16, 64, 1024, 5008])
def test_reduce_sum(kind: str, n: int, build: Build) -> None:
    x = numbers(kind, n, positive=True)
    total = special(build, kind, 0, x, 16)[0]
    # A tree of additions in the elements' own type: log2(n) roundings.
    tolerance = np.finfo(x.dtype).eps * np.log2(n)
    assert total == pytest.approx(wide(x).sum(), rel=float(tolerance))


@pytest.mark.parametrize("kind", FLOATS)
def test_whole_reduce_sum_gives_one_sum_for_each_repeat(kind: str, build: Build) -> None:
    x = np.random.default_rng(0).integers(-4, 5, 1024).astype(TYPES[kind])
    rows = x.reshape(-1, 256 // x.itemsize).sum(axis=1)
    np.testing.assert_array_equal(special(build, kind, 1, x, 16)[: rows.size], rows)


@pytest.mark.parametrize("kind", FLOATS)
def test_block_reduce_sum_gives_one_sum_for_each_block(kind: str, build: Build) -> None:
    x = np.random.default_rng(0).integers(-4, 5, 1024).astype(TYPES[kind])
    rows = x.reshape(-1, 32 // x.itemsize).sum(axis=1)
    np.testing.assert_array_equal(special(build, kind, 2, x, rows.size), rows)


@pytest.mark.parametrize("kind", FLOATS)
def test_brcb_spreads_every_element_over_a_block(kind: str, build: Build) -> None:
    x = numbers(kind, 16)
    spread = x.repeat(32 // x.itemsize)
    np.testing.assert_array_equal(special(build, kind, 3, x, spread.size), spread)


@pytest.mark.parametrize("kind", FLOATS)
def test_duplicate_and_single_elements(kind: str, build: Build) -> None:
    x = numbers(kind, 16)
    expected = np.full(32, x[0])
    expected[1] = x[0] + x[0]
    np.testing.assert_array_equal(special(build, kind, 4, x, 32), expected)
