# SPDX-License-Identifier: Apache-2.0
"""Which data types go together, on every family of chips."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.operators import phase_one
from tests.operators.npu import Npu, named
from tests.operators.tables import TABLES

if TYPE_CHECKING:
    from tests.operators.table import Table

Device = Callable[[str], Npu]
ON_CHIPS = [
    pytest.param(table, chip, id=named(table, chip))
    for table in TABLES
    for chip in table.types.rows
]


@pytest.mark.sampled(30)
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_rows_of_types_and_all_beside_them(table: Table, chip: str, device: Device) -> None:
    assert list(phase_one.types(device(chip), table, most=60)) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_all_rows_of_types(table: Table, chip: str, device: Device) -> None:
    assert list(phase_one.types(device(chip), table, most=1_600)) == []
