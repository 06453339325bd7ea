# SPDX-License-Identifier: Apache-2.0
"""Phase 1: every mistake has its code, and of two the one that CANN finds first answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.operators import phase_one
from tests.operators.npu import Npu, named
from tests.operators.tables import TABLES
from tests.operators.words import EVERY_CHIP

if TYPE_CHECKING:
    from tests.operators.table import Table

Device = Callable[[str], Npu]
ON_CHIPS = [
    pytest.param(table, chip, id=named(table, chip)) for table in TABLES for chip in table.chips
]
UNCONFIGURED = [
    pytest.param(table, chip, id=named(table, chip))
    for table in TABLES
    for step in table.steps
    for chip in step.unconfigured
]


@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_the_sound_call_is_accepted(table: Table, chip: str, device: Device) -> None:
    assert list(phase_one.sound(device(chip), table)) == []


@pytest.mark.sampled(100)
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_a_mistake_has_its_code(table: Table, chip: str, device: Device) -> None:
    assert list(phase_one.mistakes(device(chip), table)) == []


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_of_two_mistakes_the_earlier_answers(table: Table, chip: str, device: Device) -> None:
    assert list(phase_one.pairs(device(chip), table)) == []


@pytest.mark.parametrize(("table", "chip"), UNCONFIGURED)
def test_a_chip_without_the_operator_says_so(table: Table, chip: str, device: Device) -> None:
    assert list(phase_one.unconfigured(device(chip), table)) == []


@pytest.mark.parametrize("chip", EVERY_CHIP)
def test_a_chip_runs_no_kernel_of_an_operator_that_it_has_not(chip: str, device: Device) -> None:
    absent = [table for table in TABLES if chip not in table.chips]
    assert absent
    assert [told for table in absent for told in phase_one.elsewhere(device(chip), table)] == []


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_formats(table: Table, chip: str, device: Device) -> None:
    assert list(phase_one.layouts(device(chip), table)) == []
