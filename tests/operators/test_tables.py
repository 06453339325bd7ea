# SPDX-License-Identifier: Apache-2.0
"""The tables themselves: well formed, at one with themselves, and none left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pyaclnn.facts.releases import RELEASES
from pyaclnn.mock.operators import operators_of
from tests.conftest import COUNTED
from tests.operators.npu import Npu, named
from tests.operators.results import TOLERANCE, numbers_of
from tests.operators.table import UNTOUCHED, Case, Table
from tests.operators.tables import TABLES
from tests.operators.words import Array, apply

if TYPE_CHECKING:
    from collections.abc import Callable

    Device = Callable[[str], Npu]

RMS_NORM = next(table for table in TABLES if table.name == "aclnnRmsNorm")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.name}-{table.releases}")
def test_a_table_speaks_of_its_own_parameters(table: Table) -> None:
    for step in table.steps:
        for mistake in step.mistakes:
            apply(table.arguments, mistake.changes)
    for case in table.cases:
        apply(table.arguments, case.changes)
        assert set(case.gives) <= set(table.results), case.name
    written = {name for names in table.unwritten.values() for name in names}
    assert {*table.types.names, *table.updated, *written} <= set(table.tensors)
    assert set(table.results) <= {
        n for n, v in table.base.items() if v is None or n in table.tensors
    }
    assert set(table.types.rows) >= set(table.chips)
    for rows in table.types.rows.values():
        assert all(len(row) == len(table.types.names) for row in rows)


def test_a_release_has_one_table_an_operator() -> None:
    keys = [(table.name, release) for table in TABLES for release in table.releases]

    assert len(keys) == len(set(keys))


def test_every_operator_of_the_simulated_npu_has_its_table(
    record_property: Callable[[str, object], None],
) -> None:
    for release in RELEASES:
        known = {table.name for table in TABLES if table.is_in(release)}
        assert known == set(operators_of(release))
    on_chips = [(table, chip) for table in TABLES for chip in table.chips]
    for what, number in (
        ("operators with tables", len({table.name for table in TABLES})),
        ("rows of types on chips", sum(len(t.types.rows[chip]) for t, chip in on_chips)),
        ("mistakes on chips", sum(len(t.mistakes(chip)) for t, chip in on_chips)),
        ("known results on chips", sum(chip in c.chips for t, chip in on_chips for c in t.cases)),
    ):
        record_property(COUNTED, [what, number])


KNOWN_RESULTS = [
    pytest.param(table, case, id=named(table, case.name))
    for table in TABLES
    for case in table.cases
    if case.gives and any(isinstance(c, Array) and c.values for c in case.changes.values())
]


@pytest.mark.parametrize(("table", "case"), KNOWN_RESULTS)
def test_known_results_agree_with_the_formula(table: Table, case: Case) -> None:
    arguments = apply(table.base, case.changes)
    tensors = {
        name: np.array(argument.values or np.zeros(argument.shape)).reshape(argument.shape)
        for name, argument in arguments.items()
        if isinstance(argument, Array)
    }
    types = {argument.dtype for argument in arguments.values() if isinstance(argument, Array)}
    tolerance = max(case.rtol, *map(TOLERANCE.__getitem__, types))
    for chip in set(case.chips) & set(table.chips):
        truth = table.formula(numbers_of(arguments, tensors), chip)
        for name, wanted in case.gives.items():
            if wanted is UNTOUCHED:
                assert name not in truth
                continue
            known = np.array(wanted, np.float64)  # what is not known becomes NaN
            there = ~np.isnan(known)
            assert_allclose(truth[name][there], known[there], rtol=tolerance, atol=1e-5)
