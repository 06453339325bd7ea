# SPDX-License-Identifier: Apache-2.0
"""One device of each family of chips for all tests of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import COUNTED
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


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Count for the end of the run what was held against the tables."""
    before = Npu.tried.copy()
    yield
    for what, number in (Npu.tried - before).items():
        text = f"calls of {what} held against the tables of operators"
        item.user_properties.append((COUNTED, [text, number]))
