# SPDX-License-Identifier: Apache-2.0
"""Large inputs: threads, and memory beyond the results."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from unittest import mock

import ml_dtypes
import numpy as np
import pytest

from pyaclnn import reference
from pyaclnn.facts.accuracy import judge
from pyaclnn.reference import (
    layer_norm,
    layer_norm_backward,
    rms_norm,
    rms_norm_grad,
)
from pyaclnn.reference.fast import workers

from .problems import in_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

OPERATORS = ["layer_norm", "layer_norm_backward", "rms_norm", "rms_norm_grad"]


def arguments(shape: tuple[int, int], dtype: Any) -> dict[str, NDArray[Any]]:
    generator = np.random.default_rng(7)
    drawn: dict[str, NDArray[Any]] = {
        "x": generator.standard_normal(shape, np.float32),
        "dy": generator.uniform(-1, 2, shape),
        "weight": generator.uniform(0.5, 2, shape[1]),
        "bias": generator.uniform(-1, 1, shape[1]),
    }
    statistics = {name: generator.uniform(0.5, 2, shape[0]) for name in ("mean", "rstd")}
    return {name: array.astype(dtype) for name, array in drawn.items()} | {
        name: array.astype(np.float32) for name, array in statistics.items()
    }


def run(operator: str, given: dict[str, NDArray[Any]]) -> tuple[Any, ...]:
    x, dy, weight, bias = (given[name] for name in ("x", "dy", "weight", "bias"))
    mean, rstd = given["mean"], given["rstd"]
    if operator == "layer_norm":
        return layer_norm(x, weight.shape, weight, bias)
    if operator == "layer_norm_backward":
        return layer_norm_backward(dy, x, weight.shape, mean, rstd, weight, bias)
    if operator == "rms_norm":
        return rms_norm(x, weight)
    return rms_norm_grad(dy, x, rstd, weight)


def pretend_processors(count: int) -> Any:
    return mock.patch("os.sched_getaffinity", return_value=set(range(count)))


class TestThreads:
    @pytest.mark.parametrize("operator", OPERATORS)
    @pytest.mark.parametrize("shape", [(200, 24), (5, 3000), (40, 700)], ids=str)
    def test_the_bits_of_a_result_do_not_depend_on_how_many_there_are(
        self, operator: str, shape: tuple[int, int]
    ) -> None:
        given = arguments(shape, np.float32)
        results = []
        with in_pieces(1000):
            for processors in (1, 2, 3, 7):
                with pretend_processors(processors):
                    results.append([part.tobytes() for part in run(operator, given)])
        assert all(result == results[0] for result in results)

    def test_they_work_on_the_pieces_in_any_order_and_answer_in_theirs(self) -> None:
        with pretend_processors(3):
            assert workers.spread(lambda piece: piece**2, range(50)) == [n**2 for n in range(50)]

    def test_an_exception_reaches_the_caller(self) -> None:
        with pretend_processors(2), pytest.raises(ZeroDivisionError):
            workers.spread(lambda piece: 1 // piece, [1, 0])

    def test_numpy_is_left_as_it_was(self) -> None:
        before = np.getbufsize(), np.geterr()
        run("layer_norm_backward", arguments((4, 600), np.float32))
        assert (np.getbufsize(), np.geterr()) == before

    def test_importing_starts_none_and_a_small_call_neither(self) -> None:
        code = """
import os, numpy as np
tasks = lambda: len(os.listdir("/proc/self/task"))
os.sched_getaffinity = lambda _: {0, 1}
before, started = tasks(), []
from pyaclnn.reference import rms_norm
for rows in (64, 1024, 1024):
    rms_norm(np.ones((rows, 512), "f"), np.ones(512, "f"))
    started.append(tasks() - before)
print(*started)
"""
        assert python(code) == "0 1 1"

    @pytest.mark.parametrize("operator", OPERATORS)
    def test_callers_at_the_same_time_get_the_results_of_their_own(self, operator: str) -> None:
        given = [arguments((rows, 700), np.float32) for rows in (3, 40, 200)] * 2
        with in_pieces(1000), ThreadPoolExecutor(len(given)) as callers:
            wanted = [[part.tobytes() for part in run(operator, each)] for each in given]
            with pretend_processors(3):
                for _ in range(20):
                    found = list(callers.map(functools.partial(run, operator), given))
                    assert [[part.tobytes() for part in each] for each in found] == wanted

    def test_a_forked_child_has_its_own(self) -> None:
        code = """
import os, warnings
import numpy as np
from pyaclnn.reference import rms_norm
from pyaclnn.reference.fast import workers
warnings.simplefilter("ignore", DeprecationWarning)  # about forking beside threads
os.sched_getaffinity = lambda _: {0, 1}
x, gamma = np.ones((1024, 1024), "f"), np.ones(1024, "f")
before = rms_norm(x, gamma).y
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(rms_norm(x, gamma).y, before) else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(status, np.array_equal(rms_norm(x, gamma).y, before))
"""
        assert python(code) == "0 True"


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=900
    )
    return done.stdout.strip()


class TestAccuracy:
    """One row that no tile holds, and the float64 formula, evaluated at once."""

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=str)
    @pytest.mark.parametrize("shape", [(9, 150_001), (1, 700_000), (30_000, 40)], ids=str)
    def test_gradients(self, shape: tuple[int, int], dtype: Any) -> None:
        given = arguments(shape, dtype)
        wide = {name: array.astype(np.float64) for name, array in given.items()}
        mean, rstd = wide["mean"][:, None], wide["rstd"][:, None]
        g = wide["dy"] * wide["weight"]

        xhat = (wide["x"] - mean) * rstd
        along = (g * xhat).mean(axis=1, keepdims=True)
        check(
            run("layer_norm_backward", given),
            [
                (g - g.mean(axis=1, keepdims=True) - xhat * along) * rstd,
                (wide["dy"] * xhat).sum(axis=0),
                wide["dy"].sum(axis=0),
            ],
        )
        xhat = wide["x"] * rstd
        along = (g * xhat).mean(axis=1, keepdims=True)
        check(
            run("rms_norm_grad", given),
            [(g - xhat * along) * rstd, (wide["dy"] * xhat).sum(axis=0)],
        )


def check(actual: Sequence[NDArray[Any]], golden: Sequence[NDArray[Any]]) -> None:
    for part, expected in zip(actual, golden, strict=True):
        verdict = judge(part, expected)
        assert verdict.passed, verdict
        assert verdict.matched_ratio == 1, verdict


MEBIBYTE = 2**20


def peak_memory(work: Callable[[], Any]) -> int:
    """The most bytes that were allocated at once while working; NumPy reports its arrays'."""
    tracemalloc.start()
    try:
        kept = work()
        peak = tracemalloc.get_traced_memory()[1]
        del kept
    finally:
        tracemalloc.stop()
    return peak


class TestMemory:
    """Beside inputs and outputs at most 5 % of the inputs and 64 MiB."""

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=str)
    @pytest.mark.parametrize("shape", [(20_000, 1024), (8, 2_500_000)], ids=str)
    def test_little_is_needed_beside_inputs_and_outputs(
        self, shape: tuple[int, int], dtype: Any
    ) -> None:
        given = {"x": np.zeros(shape, dtype), "dy": np.zeros(shape, dtype)}
        given |= {name: np.zeros(shape[1], dtype) for name in ("weight", "bias")}
        given |= {name: np.ones(shape[0], np.float32) for name in ("mean", "rstd")}
        inputs = sum(array.nbytes for array in given.values())
        allowed = 0.05 * inputs + 64 * MEBIBYTE
        for operator in ("layer_norm_backward", "rms_norm_grad"):
            outputs = sum(part.nbytes for part in run(operator, given))
            # New threads, so that what they keep from call to call is counted.
            workers.pool.cache_clear()
            assert peak_memory(functools.partial(run, operator, given)) - outputs < allowed
        # One converted copy of one input would be noticed.
        assert peak_memory(lambda: given["x"].astype(np.float32).max()) > allowed

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=str)
    @pytest.mark.parametrize(
        ("operator", "shape", "parameters"),
        [
            ("add_layer_norm", (20_000, 1024), ("gamma", "beta")),
            ("add_rms_norm", (20_000, 1024), ("gamma",)),
            ("deep_norm", (20_000, 1024), ("beta", "gamma")),
            ("group_norm_swish", (2000, 64, 160), ("gamma", "beta")),
            ("batch_norm", (2000, 64, 160), ("running_mean", "running_var")),
        ],
    )
    def test_a_definition_in_blocks_needs_as_little(
        self, operator: str, shape: tuple[int, ...], parameters: tuple[str, ...], dtype: Any
    ) -> None:
        function = getattr(reference, operator)
        size = shape[1] if len(shape) > 2 else shape[-1]
        given: dict[str, Any] = {name: np.ones(size, dtype) for name in parameters}
        for name in ("input", "x", "x1", "x2", "gx"):
            if name in inspect.signature(function).parameters:
                given[name] = np.zeros(shape, dtype)
        if operator == "group_norm_swish":
            given["num_groups"] = 8
        inputs = sum(value.nbytes for value in given.values() if isinstance(value, np.ndarray))
        outputs = sum(part.nbytes for part in function(**given) if part is not None)
        allowed = 0.05 * inputs + 64 * MEBIBYTE
        assert peak_memory(functools.partial(function, **given)) - outputs < allowed
        assert peak_memory(functools.partial(reference.definition(operator), **given)) > allowed
