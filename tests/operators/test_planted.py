# SPDX-License-Identifier: Apache-2.0
"""The control: a wrong fact, planted in a description or in a table, is seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.checks import Code
from pyaclnn.facts.operators.operator import Build
from pyaclnn.mock.operators import operators_of
from pyaclnn.mock.operators.described import operator_of
from tests.operators import phase_one, results
from tests.operators.npu import Npu
from tests.operators.table import INVALID, Table
from tests.operators.tables import TABLES
from tests.operators.words import A2, F32, P310, P310B
from tests.releases import OLDEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.operators.operator import Operator as Description

Device = Callable[[str], Npu]
Found = Callable[[Npu, Table], "Iterator[str]"]

DESCRIBED = {found.c_name: found for found in all_operators().values()}
BY_NAME = {table.name: table for table in TABLES}
RMS_NORM, BATCH_NORM = BY_NAME["aclnnRmsNorm"], BY_NAME["aclnnBatchNorm"]


def families(**changes: str | None) -> Callable[[Description], Mapping[str, Any]]:
    """Give families of chips the rows of others, or none."""

    def change(sound: Description) -> Mapping[str, Any]:
        known = sound.types.families
        rows = {**known, **{chip: known[other] for chip, other in changes.items() if other}}
        absent = [chip for chip, other in changes.items() if other is None]
        kept = {chip: found for chip, found in rows.items() if chip not in absent}
        return {"types": sound.types._replace(families=kept)}

    return change


def invalid(sound: Description) -> Mapping[str, Any]:
    """Give all checks the code of an invalid argument."""
    return {"checks": tuple(check._replace(code=Code.INVALID) for check in sound.checks)}


def later(*kinds: str) -> Callable[[Description], Mapping[str, Any]]:
    """Make checks of some kinds after all others."""
    return lambda sound: {
        "checks": tuple(sorted(sound.checks, key=lambda check: check.kind in kinds))
    }


def types(npu: Npu, table: Table) -> Iterator[str]:
    yield from phase_one.types(npu, table, most=60)


def cases(npu: Npu, table: Table) -> Iterator[str]:
    for known in table.cases:
        if npu.chip in known.chips:
            yield from results.case(npu, table, known)


PLANTED = [
    ("a row too many", RMS_NORM, families(**{"310p": "910b"}), P310, types),
    ("a row too few", RMS_NORM, families(**{"910b": "310p"}), A2, types),
    ("a chip too many", RMS_NORM, families(**{"310b": "910b"}), P310B, phase_one.unconfigured),
    ("a chip too few", RMS_NORM, families(**{"910b": None}), A2, phase_one.sound),
    ("another build", RMS_NORM, lambda _: {"build": Build.COMPOSITE}, A2, phase_one.sound),
    ("other codes", RMS_NORM, invalid, A2, phase_one.mistakes),
    ("another order", BATCH_NORM, later("empty", "wanted", "kernels", "copies"), A2, cases),
    ("another order of two", RMS_NORM, later("dtype_row"), A2, phase_one.pairs),
]


@pytest.mark.parametrize(
    ("table", "change", "chip", "found"),
    [row[1:] for row in PLANTED],
    ids=[row[0] for row in PLANTED],
)
def test_a_wrong_fact_in_a_description_is_seen(
    monkeypatch: pytest.MonkeyPatch,
    device: Device,
    table: Table,
    change: Callable[[Description], Mapping[str, Any]],
    chip: str,
    found: Found,
) -> None:
    sound = DESCRIBED[table.name]
    assert list(found(device(chip), table)) == []

    wrong = operator_of(sound._replace(**change(sound)))
    monkeypatch.setitem(operators_of(OLDEST), table.name, wrong)

    assert list(found(device(chip), table))


def test_wrong_facts_in_a_table_are_seen(device: Device) -> None:
    npu = device(A2)
    steps = list(RMS_NORM.steps)
    swapped = replace(RMS_NORM, steps=tuple(reversed(steps)))
    fewer = replace(
        RMS_NORM, types=replace(RMS_NORM.types, rows={A2: RMS_NORM.types.rows[A2][:-1]})
    )
    doubled = replace(
        RMS_NORM,
        formula=lambda given, chip: {
            name: 1.01 * value for name, value in RMS_NORM.formula(given, chip).items()
        },
    )

    assert list(phase_one.pairs(npu, swapped))
    assert any(str((F32,) * 4) in told for told in phase_one.types(npu, fewer, most=60))
    assert list(results.formula(npu, doubled, most=8))
    assert list(results.strides(npu, doubled, most=4))
    example = next(case for case in RMS_NORM.cases if case.gives)
    assert list(results.case(npu, RMS_NORM, replace(example, gives={"rstdOut": [[0.2391]] * 2})))
    assert list(results.case(npu, RMS_NORM, replace(RMS_NORM.cases[0], workspace=1)))
    assert list(results.case(npu, RMS_NORM, replace(RMS_NORM.cases[0], code=INVALID)))
