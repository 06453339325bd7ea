# SPDX-License-Identifier: Apache-2.0
"""Devices for the tests of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from .bench import Bench

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def make_bench() -> Iterator[Callable[..., Bench]]:
    """Make devices of named chips; the device process itself ignores floating-point warnings."""
    benches: list[Bench] = []

    def make(soc_name: str, release: str | None = None) -> Bench:
        benches.append(Bench(soc_name, release))
        return benches[-1]

    with np.errstate(all="ignore"):
        yield make
    for bench in benches:
        bench.close()


@pytest.fixture
def bench(make_bench: Callable[[str], Bench]) -> Bench:
    """A device of the default chip, an Atlas A2."""
    return make_bench("Ascend910B3")
