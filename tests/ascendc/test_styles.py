# SPDX-License-Identifier: Apache-2.0
"""Kernels in styles of operator libraries, against NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import ascendc
from pyaclnn.ascendc import KernelFault
from pyaclnn.ascendc.entries import find_entries

from .conftest import KERNELS, write

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Build

FILE = "styles.cpp"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("dtype", "arguments", "factor"), [(np.float32, "C_DT_FLOAT", 2), (np.int32, "3", 3)]
)
def test_a_template_is_launched_by_its_arguments(
    dtype: type[Any], arguments: str, factor: int, build: Build
) -> None:
    x, y = np.arange(20).astype(dtype), np.zeros(20, dtype)
    build(FILE, f"scaled<{arguments}>").launch(1, x, y, 20)
    np.testing.assert_array_equal(y, x * factor)


def test_a_template_without_arguments_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "template <int n> __global__ __aicore__ void t(GM_ADDR x) {}\n")
    with pytest.raises(ValueError, match=r"only templates: t; .* such as 't<0>'"):
        ascendc.compile(file)


@pytest.mark.parametrize(
    ("before", "is_template"),
    [
        ("template <int n>", True),
        ("template <int n> static", True),
        ("template <typename T>\n[[maybe_unused]]", True),
        ("#include <cstdint>", False),
        ("template <int n> void f() {}", False),
        ("std::vector<int> v;", False),
    ],
)
def test_a_kernel_is_a_template_by_the_word(before: str, is_template: bool) -> None:
    (entry,) = find_entries(f"{before}\n__global__ __aicore__ void k(GM_ADDR x) {{}}\n")
    assert entry.template is is_template


def test_a_sequence_of_arrays_is_a_list_of_tensors(build: Build) -> None:
    x = [np.arange(n, dtype=np.float32) for n in (5, 20)]
    y = [np.zeros_like(array) for array in x]
    kernel, lengths = build(FILE, "scale_list"), np.array([5, 20, 9], np.uint32)
    with pytest.raises(KernelFault, match="bytes 112 to 120 are needed; there are 56"):
        kernel.launch(1, x, y, tiling=lengths)
    lengths[2] = 1
    kernel.launch(1, x, y, tiling=lengths)
    for array, result in zip(x, y, strict=True):
        np.testing.assert_array_equal(result, array * 2)


def test_a_tiling_key_without_a_branch_is_refused(build: Build, cache_dir: Path) -> None:
    x = np.zeros(1, np.float32)
    with pytest.raises(KernelFault, match="no branch for its tiling key"):
        build(FILE, "keyed").launch(1, x)
    given = {"TILING_KEY_VAR": 7}
    ascendc.compile(KERNELS / FILE, name="keyed", defines=given, cache_dir=cache_dir).launch(1, x)
    assert x[0] == 7
    given = {"TILING_KEY_VAR": 0}  # which is chosen, although it has no branch
    ascendc.compile(KERNELS / FILE, name="keyed", defines=given, cache_dir=cache_dir).launch(1, x)
    assert x[0] == 7


def test_the_scalar_units_event_orders_what_it_wrote(build: Build) -> None:
    x = np.zeros(1, np.float32)
    build(FILE, "set_value").launch(1, x, 0)
    assert x[0] == 5
    with pytest.raises(KernelFault, match="the vector unit wrote it"):
        build(FILE, "set_value").launch(1, x, 1)


def test_a_batch_of_products_lies_by_its_layouts(build: Build) -> None:
    rng = np.random.default_rng(0)
    q = rng.integers(-8, 8, (2, 32, 2, 16)).astype(np.float16)
    k = rng.integers(-8, 8, (2, 32, 16)).astype(np.float16)
    s = np.zeros((2, 2, 32, 32), np.float32)
    cube = np.zeros(50, np.int32)
    cube[:11] = [1, 32, 32, 16, 16, 32, 32, 16, 16, 16, 16]
    cube[33:48] = [2, 32, 1, 2, 16, 2, 32, 1, 1, 16, 2, 32, 1, 2, 32]
    kernel = build(FILE, "scores")
    kernel.launch(1, q, k, s, 2, workspace=32, tiling=cube)
    exact = np.einsum("bsgd,btd->bgst", q.astype(np.float32), k.astype(np.float32))
    np.testing.assert_array_equal(s, exact)
    with pytest.raises(KernelFault, match="one must be a multiple of the other"):
        kernel.launch(1, q, k, s, 3, workspace=32, tiling=cube)
