# SPDX-License-Identifier: Apache-2.0
"""The tables themselves: well formed, and none left out; and wrong facts are seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pyaclnn.mock.status import Status
from tests.operators import phase_one, results
from tests.operators.npu import KNOWN, WAITING, Npu
from tests.operators.results import TOLERANCE, numbers_of
from tests.operators.table import INVALID, TILING, UNTOUCHED, Case, Table
from tests.operators.tables import TABLES
from tests.operators.words import A2, F16, F32, Array, apply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyaclnn.mock.wire import CheckReply
    from tests.operators.words import Argument

    Device = Callable[[str], Npu]

RMS_NORM = next(table for table in KNOWN if table.name == "aclnnRmsNorm")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.name}-{table.releases}")
def test_a_table_speaks_of_its_own_parameters(table: Table) -> None:
    for step in table.steps:
        for mistake in step.mistakes:
            apply(table.arguments, mistake.changes)
    for case in table.cases:
        apply(table.arguments, case.changes)
        assert set(case.gives) <= set(table.results), case.name
    written = {name for names in table.unwritten.values() for name in names}
    assert {*table.types.names, *table.results, *table.updated, *written} <= set(table.tensors)
    assert set(table.types.rows) >= set(table.chips)
    for rows in table.types.rows.values():
        assert all(len(row) == len(table.types.names) for row in rows)


def test_a_release_has_one_table_an_operator() -> None:
    keys = [(table.name, release) for table in TABLES for release in table.releases]

    assert len(keys) == len(set(keys))


def test_tables_wait_only_for_operators_that_the_simulated_npu_lacks() -> None:
    assert {table.name for table in TABLES} == {*WAITING, *(table.name for table in KNOWN)}


KNOWN_RESULTS = [
    pytest.param(table, case, id=f"{table.name}-{case.name}")
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


class Lying(Npu):
    """A device that answers some calls wrongly, as one with a wrong fact would."""

    def check(self, table: Table, arguments: Mapping[str, Argument], flags: int = 0) -> CheckReply:
        """Answer 161002 for 561002, and take float16 x with float32 y."""
        reply = super().check(table, arguments, flags)
        if reply.status == TILING:
            reply.status = Status.PARAM_INVALID
        x, y = arguments["x"], arguments["yOut"]
        if isinstance(x, Array) and isinstance(y, Array) and (x.dtype, y.dtype) == (F16, F32):
            reply.status = Status.SUCCESS
        return reply


def test_a_wrong_code_and_a_wrong_row_of_types_are_seen() -> None:
    npu = Lying(A2)
    try:
        codes = list(phase_one.mistakes(npu, RMS_NORM))
        orders = list(phase_one.pairs(npu, RMS_NORM))
        rows = list(phase_one.types(npu, RMS_NORM, most=60))
    finally:
        npu.close()

    tilings = [
        mistake for step in RMS_NORM.steps if step.code == TILING for mistake in step.mistakes
    ]
    assert len(codes) == len(tilings)
    assert orders
    assert {told.split(":")[0] for told in rows} >= {str((F16, F16, F32, F32))}


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
