# SPDX-License-Identifier: Apache-2.0
"""The emulation is clean under AddressSanitizer and UndefinedBehaviorSanitizer, and offers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import ascendc
from pyaclnn.ascendc import tiling

from .test_faults import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Build

EPSILON = 1e-3


@pytest.mark.exhaustive
def test_every_check_is_clean_when_it_fires_and_when_it_does_not(build: Build) -> None:
    arrays = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    for case in CASES:
        kernel = build("faults.cpp", case.kernel, sanitize=True)
        kernel.launch(1, *arrays, 0)
        with pytest.raises(ascendc.KernelFault) as raised:
            kernel.launch(1, *arrays, 1)
        assert raised.value.rule == case.rule, str(raised.value)


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_normalization_interfaces_are_clean(dtype: Any, build: Build) -> None:
    h, blocks, kind = 32, 2, "half" if dtype is np.float16 else "float"
    shape, size = (1, 5, h, h), np.dtype(dtype).itemsize
    big, rows, row = (np.ones(n, dtype) for n in (blocks * 5 * h, blocks * 5, h))

    def arrays(template: str) -> list[np.ndarray]:
        return [{"b": big, "s": rows, "h": row}[letter].copy() for letter in template]

    def launch(
        name: str, template: str, *numbers: float, structure: tiling.TilingStructure
    ) -> None:
        kernel = build("norms.cpp", f"{name}_{kind}", sanitize=True)
        kernel.launch(blocks, *arrays(template), *numbers, tiling=structure)

    launch(
        "layer_norm",
        "bhhbss",
        EPSILON,
        0,
        0,
        structure=tiling.get_layer_norm_nd_tiling_info(shape, 4096, size),
    )
    launch(
        "grad",
        "bbsshbb",
        EPSILON,
        65536,
        structure=tiling.get_layer_norm_grad_nd_tiling_info(shape, 32768, size),
    )
    launch(
        "beta",
        "bbhh",
        0,
        structure=tiling.get_layer_norm_grad_beta_nd_tiling_info(shape, 4096, size),
    )
    means = [np.zeros(blocks * 5, np.float32) for _ in range(2)]
    build("norms.cpp", f"rstd_{kind}", sanitize=True).launch(
        blocks,
        *arrays("bhhb"),
        *means,
        EPSILON,
        0,
        h,
        tiling=tiling.get_layer_norm_rstd_nd_tiling_info((5, h), 16384, size),
    )


@pytest.mark.exhaustive
def test_plain_cpp_that_goes_wrong_is_seen(tmp_path: Path) -> None:
    source = tmp_path / "overrun.cpp"
    source.write_text(
        '#include "kernel_operator.h"\n'
        'extern "C" __global__ __aicore__ void overrun(GM_ADDR x, int32_t index)\n'
        "{\n    int32_t table[4] = {1, 2, 3, 4};\n"
        "    x[0] = static_cast<uint8_t>(table[index]);\n}\n",
        encoding="utf-8",
    )
    kernel = ascendc.compile(source, sanitize=True, cache_dir=tmp_path)
    x = np.zeros(4, np.uint8)
    kernel.launch(1, x, 3)
    assert x[0] == 4
    with pytest.raises(
        ascendc.KernelFault, match=r"overrun.cpp:5.*index 4 out of bounds"
    ) as raised:
        kernel.launch(1, x, 4)
    assert raised.value.rule == "crash"
