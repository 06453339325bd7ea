# SPDX-License-Identifier: Apache-2.0
"""Combinations of data types, on every family of chips."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

import pytest

from pyaclnn.facts.chips import find_family
from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.types import ARRAYS as WORDS, of
from tests.operators import phase_one
from tests.operators.npu import Npu, named, release_of
from tests.operators.tables import TABLES
from tests.operators.words import SOC_NAMES

if TYPE_CHECKING:
    from tests.operators.table import Table

Device = Callable[[str], Npu]
DESCRIBED = {operator.c_name: operator for operator in all_operators().values()}
ON_CHIPS = [
    pytest.param(table, chip, id=named(table, chip))
    for table in TABLES
    for chip in table.types.rows
]


@pytest.mark.parametrize(("table", "chip"), ON_CHIPS[:: len(ON_CHIPS) // 4])
def test_rows_of_types_and_all_beside_them(table: Table, chip: str, device: Device) -> None:
    assert list(phase_one.types(device(chip), table, most=60)) == []


@pytest.mark.sampled(25)
@pytest.mark.parametrize("table", TABLES, ids=lambda table: named(table, "all"))
def test_the_public_function_takes_the_rows_that_kernels_have(table: Table) -> None:
    described = DESCRIBED[table.name].in_release(release_of(table))
    places = [
        (place, tensor.type)
        for place, name in enumerate(table.types.names)
        for tensor in described.tensors
        # Only phase 1 determines casts and choices of several dtypes.
        if tensor.c_name == name and "type" not in tensor.unchecked and "/" not in tensor.type
        if not (tensor.packed or "untyped" in tensor.unchecked)
    ]
    words = list(dict.fromkeys(word for _, word in places if word not in WORDS))
    for chip in table.chips:
        taken = {
            tuple(
                WORDS[dict(zip(words, kinds, strict=True)).get(word, word)].acl
                for _, word in places
            )
            for row in described.types.families.get(str(find_family(SOC_NAMES[chip])), ())
            for kinds in product(*(of(row, word) for word in words))
        }
        known = {
            tuple(f"ACL_{row[place]}" for place, _ in places)
            for row in table.types.rows[chip]
            if table.types.fails(chip, dict(zip(table.types.names, row, strict=True))) is False
        }
        assert taken == known, chip


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_many_rows_of_types(
    table: Table, chip: str, device: Device, request: pytest.FixtureRequest
) -> None:
    most = request.config.getoption("--type-rows")
    assert list(phase_one.types(device(chip), table, most=most)) == []
