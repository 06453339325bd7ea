# SPDX-License-Identifier: Apache-2.0
"""Tilings that a C++ host program computes, against those of Python, which facts decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.ascendc import tiling

from .test_launches import COMPILER, HERE, run

if TYPE_CHECKING:
    from pathlib import Path

FUNCTIONS = {
    "layer_norm": (4, tiling.LayerNormTiling),
    "layer_norm_rstd": (2, tiling.LayerNormSeparateTiling),
    "layer_norm_grad": (4, tiling.LayerNormGradTiling),
    "layer_norm_grad_beta": (4, tiling.LayerNormGradBetaTiling),
}
CASES = [
    # size, reuse, B, S, H, origin H, A, R, bytes of the buffer
    (4, 0, 2, 32, 16, 16, 64, 16, 704),
    (4, 1, 2, 32, 16, 9, 7, 300, 6400),
    (2, 1, 1, 5, 48, 40, 5, 47, 4000),
    (2, 0, 3, 40, 320, 320, 70, 64, 65536),
    (4, 0, 4, 9, 128, 128, 3, 100, 32),  # no room
]


def expected(name: str, soc: str, case: tuple[int, ...]) -> tuple[int, int, list[int]]:
    size, reuse, *lengths, room = case
    rank, structure = FUNCTIONS[name]
    shape = lengths[:4] if rank == 4 else lengths[4:]
    sizes = getattr(tiling, f"get_{name}_max_min_tmp_size")(shape, size, bool(reuse), soc=soc)
    try:
        filled: Any = getattr(tiling, f"get_{name}_nd_tiling_info")(
            shape, room, size, bool(reuse), soc=soc
        )
    except tiling.TilingError:
        filled = structure(**dict.fromkeys(structure.__annotations__, 0))
    return *sizes, np.frombuffer(filled.to_bytes(), np.uint32).tolist()


@pytest.mark.exhaustive
@pytest.mark.parametrize("soc", ["Ascend910B3", "Ascend950PR_9579"])
def test_the_host_computes_the_tilings_of_norms(soc: str, tmp_path: Path) -> None:
    command = (*COMPILER, "--soc", soc, "-Wall", "-Wextra", "-Werror", HERE / "tilings.asc")
    done = run(*command, "-o", tmp_path / "program", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for case in CASES:
        done = run(tmp_path / "program", *map(str, case), cwd=tmp_path)
        assert done.returncode == 0, case
        for name, line in zip(FUNCTIONS, done.stdout.splitlines(), strict=True):
            most, least, *words = line.replace(":", "").split()
            computed = int(most), int(least), [int(word, 16) for word in words]
            assert computed == expected(name, soc, case), (name, case)
    empty = (4, 0, 2, 32, 0, 0, 64, 0, 704)
    done = run(tmp_path / "program", *map(str, empty), cwd=tmp_path)
    assert done.returncode >= 0, "of no elements"  # no signal
    assert len(done.stdout.splitlines()) == len(FUNCTIONS)
