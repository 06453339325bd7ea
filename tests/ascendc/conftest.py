# SPDX-License-Identifier: Apache-2.0
"""The kernels of this room, built once in a cache of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from pyaclnn import ascendc
from pyaclnn.ascendc import entries, expansion, program
from pyaclnn.cann.simulator import writtendir

if TYPE_CHECKING:
    from pyaclnn.ascendc import Kernel
    from tests.kept import Keep

KERNELS = Path(__file__).parent / "kernels"
HEAD = '#include "kernel_operator.h"\n'
PLAIN = HEAD + 'extern "C" __global__ __aicore__ void plain(GM_ADDR x) { x[0] = VALUE; }\n'


def write(folder: Path, text: str, name: str = "kernel.cpp") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


class Build(Protocol):
    """Builds a kernel of ``kernels/``."""

    def __call__(
        self, file: str, name: str, *, soc: str = "Ascend910B3", sanitize: bool = False
    ) -> Kernel: ...


@pytest.fixture(scope="session")
def cache_dir(keep: Keep) -> Path:
    """Return the folder for what is built, which knows what it was built of."""
    files = sorted(path for folder in (KERNELS, writtendir()) for path in folder.rglob("*.*"))
    return keep("ascendc", *(path.read_bytes() for path in files))


@pytest.fixture(scope="session")
def build(cache_dir: Path) -> Build:
    """Return the builder: a file is compiled once for each chip that is asked for."""
    # Dozens of kernels are defined by the macros of one file, which none of these tests changes.
    expanded, found = cache(expansion.with_macros), cache(entries.find_entries)

    @cache
    def kernel(file: str, name: str, *, soc: str = "Ascend910B3", sanitize: bool = False) -> Kernel:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(program, "with_macros", expanded)
            patch.setattr(program, "find_entries", found)
            return ascendc.compile(
                KERNELS / file, name=name, soc=soc, sanitize=sanitize, cache_dir=cache_dir
            )

    return kernel
