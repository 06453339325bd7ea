# SPDX-License-Identifier: Apache-2.0
"""One device of each family of chips for all tests of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.operators.npu import Npu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="session")
def device() -> Iterator[Callable[[str], Npu]]:
    """Give the device of a family, made when it is first asked for."""
    made: dict[str, Npu] = {}

    def give(chip: str) -> Npu:
        return made.setdefault(chip, made.get(chip) or Npu(chip))

    yield give
    for npu in made.values():
        npu.close()
