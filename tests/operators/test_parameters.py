# SPDX-License-Identifier: Apache-2.0
"""Every tensor of every norm operator: listed types, all other types, and NULL, on every chip."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.operators.npu import Npu, named
from tests.operators.phase_one import of_types
from tests.operators.table import FAILS, INVALID, NULL, Table
from tests.operators.tables import TABLES
from tests.operators.words import TYPES, Array, Changed, Changes, apply

Device = Callable[[str], Npu]
NOT_COMPUTED = 999001
PACKED = ("INT32", "INT4")
"""Types whose results have another shape than in the valid call; tables have cases of them."""
CHANGED = ("aclnnAddRmsNorm", "aclnnAddRmsNormQuant", "aclnnAddRmsNormDynamicQuant")
"""Operators that CANN 8.1 generates, and that check otherwise there."""
ON_CHIPS = [
    pytest.param(table, chip, id=named(table, chip))
    for table in TABLES
    if table.is_in("9.1") or table.name not in CHANGED
    for chip in table.chips
]


class Fact(NamedTuple):
    """A row of the table: whether NULL is taken, and listed types by chip."""

    optional: str
    dtypes: dict[str, tuple[str, ...]]


@cache
def facts() -> dict[tuple[str, str], Fact]:
    """The rows, by operator and parameter."""
    text = Path(__file__).with_name("parameters.tsv").read_text("utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line.startswith("aclnn")]
    return {(line[0], line[1]): Fact(line[2], _by_chip(line[3])) for line in lines}


def _by_chip(text: str) -> dict[str, tuple[str, ...]]:
    pairs = (part.split(":") for part in text.split(";") if ":" in part)
    return {chip: tuple(kinds.split(",")) for chips, kinds in pairs for chip in chips.split("+")}


def calls(table: Table, chip: str, name: str, dtype: str) -> list[Changes]:
    """Calls in which a tensor has a type: rows of types, and all alike of its own type with it."""
    place = table.types.names.index(name) if name in table.types.names else None
    rows = (*table.types.rows[chip], *table.types.unknown) if place is not None else ()
    fitting = (row for row in rows if place is not None and row[place] == dtype)
    found = [of_types(table, row) for row in islice(fitting, 60)]
    base = table.base[name]
    assert isinstance(base, Array)
    alike = (other for other in table.tensors if _dtype(table, other) == base.dtype)
    return [*found, dict.fromkeys(alike, Changed(dtype=dtype)), {name: Changed(dtype=dtype)}]


def _dtype(table: Table, name: str) -> str:
    argument = table.base[name]
    assert isinstance(argument, Array)
    return argument.dtype


def test_every_tensor_has_its_row() -> None:
    known = {(table.name, name) for table in TABLES if table.is_in("9.1") for name in table.tensors}
    assert len(facts()) > 380
    assert set(facts()) <= known
    assert len(known - set(facts())) < 20


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_listed_types_are_taken_and_no_others(table: Table, chip: str, device: Device) -> None:
    npu, wrong = device(chip), []
    for name in table.tensors:
        fact = facts().get((table.name, name))
        listed = None if fact is None else fact.dtypes.get(chip)
        for dtype in TYPES if listed is not None else ():
            assert listed is not None
            if dtype in listed:
                replies = (
                    npu.check(table, apply(table.arguments, changes)).status
                    for changes in calls(table, chip, name, dtype)
                )
                good = dtype in PACKED or any(s in {0, NOT_COMPUTED} for s in replies)
            else:
                alone = {name: Changed(dtype=dtype)}
                reply = npu.check(table, apply(table.arguments, alone))
                good = reply.status not in {0, NOT_COMPUTED} or reply.launches == FAILS
            if not good:
                wrong.append((name, dtype, dtype in listed))
    assert wrong == []


@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_null_is_refused_where_it_must_be(table: Table, chip: str, device: Device) -> None:
    codes = {"no": NULL, "invalid": INVALID}
    wrong = []
    for name in table.tensors:
        fact = facts().get((table.name, name))
        optional = "?" if fact is None else fact.optional
        status = device(chip).check(table, apply(table.arguments, {name: None})).status
        if optional in codes and status != codes[optional]:
            wrong.append((name, status, codes[optional]))
        if optional == "yes" and status == NULL:
            wrong.append((name, status, 0))
    assert wrong == []
