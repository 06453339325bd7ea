# SPDX-License-Identifier: Apache-2.0
"""Results: known cases, formulas in every row of types, strided tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.operators import results
from tests.operators.npu import Npu, named
from tests.operators.tables import TABLES

if TYPE_CHECKING:
    from tests.operators.table import Case, Table

Device = Callable[[str], Npu]
CASES = [
    pytest.param(table, case, id=named(table, case.name))
    for table in TABLES
    for case in table.cases
]
ON_CHIPS = [
    pytest.param(table, chip, id=named(table, chip))
    for table in TABLES
    for chip in table.chips
    if table.runs_on(chip)
]

WITH_OPTIONS = [
    pytest.param(table, chip, id=named(table, chip))
    for table in TABLES
    for chip in table.chips
    if table.optional and table.runs_on(chip)
]


@pytest.mark.sampled(200)
@pytest.mark.parametrize(("table", "case"), CASES)
def test_a_known_case(table: Table, case: Case, device: Device) -> None:
    found = {
        chip: list(results.case(device(chip), table, case))
        for chip in table.chips
        if chip in case.chips
    }
    assert found
    assert {chip: told for chip, told in found.items() if told} == {}


@pytest.mark.sampled(45)
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_the_formula_in_rows_of_types(table: Table, chip: str, device: Device) -> None:
    assert list(results.formula(device(chip), table, most=8)) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_the_formula_in_many_rows_of_types(table: Table, chip: str, device: Device) -> None:
    assert list(results.formula(device(chip), table, most=200)) == []


@pytest.mark.sampled(45)
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_strided_tensors(table: Table, chip: str, device: Device) -> None:
    assert list(results.strides(device(chip), table, most=4)) == []


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("table", "chip"), WITH_OPTIONS)
def test_optional_tensors_left_out(table: Table, chip: str, device: Device) -> None:
    assert list(results.without_options(device(chip), table)) == []
