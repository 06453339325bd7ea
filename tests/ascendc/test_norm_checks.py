# SPDX-License-Identifier: Apache-2.0
"""Checks of the normalization interfaces: each wrong call is stopped, its correct twin runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pyaclnn.ascendc import KernelFault, tiling

if TYPE_CHECKING:
    from .conftest import Build

Array = NDArray[Any]
EPSILON = 1e-3


def layer_norm_fault(
    build: Build,
    kernel: str,
    h: int = 64,
    *,
    wrong: int = 0,
    shared: int = 0,
    soc: str = "Ascend910B3",
    **fields: int,
) -> KernelFault | None:
    """Launch a LayerNorm on 4 rows and give what it reports."""
    dtype = np.float16 if "half" in kernel else np.float32
    structure = tiling.get_layer_norm_nd_tiling_info((1, 4, 64, 64), 16384, 4, "reuse" in kernel)
    values = {**structure.as_dict(), "hLength": h, "originalHLength": h, **fields}
    packed = tiling.LayerNormTiling(**values)
    x, y = np.ones((4, h), dtype), np.ones((4, h), dtype)
    weights, rows = np.ones(h, dtype), [np.ones(4, dtype) for _ in range(2)]
    try:
        build("norms.cpp", f"layer_norm_{kernel}", soc=soc).launch(
            1, x, weights, weights.copy(), y, *rows, EPSILON, shared, wrong, tiling=packed
        )
    except KernelFault as fault:
        return fault
    return None


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("rule", "tensor", "words", "arguments"),
    [
        ("alignment", "", "20 elements of float, 80 bytes", {"h": 20}),
        ("tiling", "tiling", "oneTmpSize is 0", {"oneTmpSize": 0}),
        ("tiling", "tiling", "the tensors have 256", {"loopRound": 0}),
        ("tiling", "tiling", "originalHLength is 65", {"originalHLength": 65}),
        ("temporary", "sharedTmpBuffer", "it has 2048 bytes", {"shared": 2048}),
        ("temporary", "", "are left for the framework", {"firstTmpStartPos": 50000}),
        ("overlap", "outputMean", "memory with outputVariance", {"wrong": 1}),
        ("chip", "", "this chip does not have", {"soc": "Ascend910A"}),
    ],
)
def test_a_wrong_layer_norm_is_stopped(
    rule: str, tensor: str, words: str, arguments: dict[str, Any], build: Build
) -> None:
    fault = layer_norm_fault(build, "float", **arguments)
    assert fault is not None
    assert (fault.rule, fault.api) == (rule, "LayerNorm")
    assert words in fault.message
    assert fault.tensor.startswith(tensor)


def test_its_right_twin_runs(build: Build) -> None:
    assert layer_norm_fault(build, "float") is None
    assert layer_norm_fault(build, "float", shared=16384) is None


def test_a_source_that_was_reused_cannot_be_read_again(build: Build) -> None:
    fault = layer_norm_fault(build, "float_reuse", wrong=2)
    assert fault is not None
    assert (fault.rule, fault.api) == ("reuse", "Add")
    assert "LayerNorm in line" in fault.message
    assert layer_norm_fault(build, "float_reuse") is None
    assert layer_norm_fault(build, "float", wrong=2) is None


def read_a_gradients_source_again(build: Build, name: str, reuse: bool, again: int) -> None:
    h, rows = 16, 8
    shape = (1, rows, h, h)
    big: list[Array] = [np.ones((rows, h), np.float32) for _ in range(4)]
    row: list[Array] = [np.ones(h, np.float32) for _ in range(2)]
    if name == "grad":
        statistics = [np.ones(rows, np.float32) for _ in range(2)]
        arrays = [*big[:2], *statistics, row[0], *big[2:]]
        structure: Any = tiling.get_layer_norm_grad_nd_tiling_info(shape, 16384, 4, reuse)
    else:
        arrays = [*big[:2], *row]
        structure = tiling.get_layer_norm_grad_beta_nd_tiling_info(shape, 16384, 4, reuse)
    build("norms.cpp", f"{name}_again").launch(1, *arrays, int(reuse), again, tiling=structure)


@pytest.mark.parametrize("again", [1, 2])
@pytest.mark.parametrize(
    ("name", "interface"), [("grad", "LayerNormGrad"), ("beta", "LayerNormGradBeta")]
)
def test_the_sources_of_a_gradient_that_were_reused_cannot_be_read_again(
    name: str, interface: str, again: int, build: Build
) -> None:
    with pytest.raises(KernelFault, match=f"{interface} in line") as raised:
        read_a_gradients_source_again(build, name, reuse=True, again=again)
    assert (raised.value.rule, raised.value.api) == ("reuse", "Add")
    read_a_gradients_source_again(build, name, reuse=True, again=0)
    read_a_gradients_source_again(build, name, reuse=False, again=again)


@pytest.mark.parametrize("name", ["layer_norm", "grad", "beta"])
def test_reuse_is_for_float_only(name: str, build: Build) -> None:
    kernel = build("norms.cpp", f"{name}_half_reuse")
    h, scalars = 32, {"layer_norm": (EPSILON, 0, 0), "grad": (EPSILON, 0), "beta": (0,)}[name]
    big, rows, row = (np.ones(size, np.float16) for size in (8 * h, 8, h))
    arrays = {
        "layer_norm": (big, row, row.copy(), big.copy(), rows, rows.copy()),
        "grad": (big, big.copy(), rows, rows.copy(), row, big.copy(), big.copy()),
        "beta": (big, big.copy(), row, row.copy()),
    }[name]
    make = getattr(
        tiling,
        f"get_layer_norm{'_' * (name != 'layer_norm')}"
        f"{name.removeprefix('layer_norm').replace('beta', 'grad_beta')}_nd_tiling_info",
    )
    with pytest.raises(KernelFault, match="isReuseSource is set for half") as raised:
        kernel.launch(1, *arrays, *scalars, tiling=make((1, 8, h, h), 65536, 2))
    assert raised.value.rule == "dtype"


@pytest.mark.parametrize(
    ("form", "dtypes", "words"),
    [
        ("narrow", (np.float16, np.float32), "they must not be narrower"),
        ("only_output", (np.float32, np.float32), "isOnlyOutput must be false"),
    ],
)
def test_forms_of_layer_norm_that_do_not_exist(
    form: str, dtypes: tuple[type, type], words: str, build: Build
) -> None:
    weights: Array = np.ones(64, dtypes[0])
    x: Array = np.ones((4, 64), dtypes[1])
    rows = [np.ones(4, np.float32) for _ in range(2)]
    structure = tiling.get_layer_norm_rstd_nd_tiling_info((4, 64), 8192, 4)
    with pytest.raises(KernelFault, match=words) as raised:
        build("norms.cpp", f"rstd_{form}").launch(
            1, x, weights, weights.copy(), x.copy(), *rows, EPSILON, 0, 64, tiling=structure
        )
    assert raised.value.rule == "dtype"


def test_padding_is_refused_where_it_would_be_summed(build: Build) -> None:
    h = 16
    structure = tiling.get_layer_norm_grad_nd_tiling_info((1, 8, h, h - 1), 65536, 4)
    big, rows = np.ones((8, h), np.float32), np.ones(8, np.float32)
    arrays = [big, big.copy(), rows, rows.copy(), np.ones(h, np.float32), big.copy(), big.copy()]
    with pytest.raises(KernelFault, match="they must be equal") as raised:
        build("norms.cpp", "grad_float").launch(1, *arrays, EPSILON, 0, tiling=structure)
    assert raised.value.rule == "tiling"


def test_the_documented_minimum_can_be_too_small_for_the_tiling(build: Build) -> None:
    # One row of 8: CANN's minimum is 192 bytes, and its tiling rounds to 8 rows in 6 buffers.
    shape = (1, 1, 8, 8)
    minimum = tiling.get_layer_norm_grad_max_min_tmp_size(shape, 4)[1]
    structure = tiling.get_layer_norm_grad_nd_tiling_info(shape, minimum, 4)
    arrays = [np.ones(n, np.float32) for n in (8, 8, 1, 1, 8, 8, 8)]
    kernel = build("norms.cpp", "grad_float")
    with pytest.raises(KernelFault, match="the tiling addresses 1536") as raised:
        kernel.launch(1, *arrays, EPSILON, minimum, tiling=structure)
    assert raised.value.rule == "temporary"
    kernel.launch(1, *arrays, EPSILON, 1536, tiling=structure)
