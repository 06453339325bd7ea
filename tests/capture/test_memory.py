# SPDX-License-Identifier: Apache-2.0
"""An address of a traced program is in the newest range that holds it."""

from __future__ import annotations

import pytest

from pyaclnn.capture.memory import Memory


@pytest.mark.parametrize(
    ("begin", "size", "address", "here"),
    [
        (50, 100, 120, 5070),
        (50, 100, 160, None),
        (120, 10, 125, 5005),
        (120, 10, 110, None),
        (0, 1000, 150, 5150),
        (0, 100, 150, 1050),
        (200, 100, 150, 1050),
        (100, 10, 150, None),
    ],
)
def test_a_new_range_ends_those_that_it_overlaps(
    begin: int, size: int, address: int, here: int | None
) -> None:
    memory = Memory()
    memory.add(100, 100, 1000)
    memory.add(begin, size, 5000)
    assert memory.find(address) == here
