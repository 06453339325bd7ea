# SPDX-License-Identifier: Apache-2.0
"""Limits that no check of an operator names: nine axes, and scalars that lose a part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.operators.npu import named
from tests.operators.tables import TABLES
from tests.operators.test_checks import ON_CHIPS
from tests.operators.words import Array, Scalar

if TYPE_CHECKING:
    from tests.operators.table import Table
    from tests.operators.test_checks import Device

SCALARS = [
    pytest.param(table, chip, id=named(table, chip))
    for table in TABLES
    for chip in table.chips
    if any(isinstance(given, Scalar) for given in table.arguments.values())
]


def nine_axes(array: Array) -> Array:
    return replace(array, shape=(1,) * (9 - len(array.shape)) + array.shape, strides=None)


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("table", "chip"), ON_CHIPS)
def test_nine_axes_are_refused(table: Table, chip: str, device: Device) -> None:
    arguments = table.arguments
    arrays = {name: nine_axes(a) for name, a in arguments.items() if isinstance(a, Array)}
    for changes in (*({name: array} for name, array in arrays.items()), arrays):
        reply = device(chip).check(table, arguments | changes)
        assert reply.status in {161002, 561002, 561103}, (list(changes), reply)


@pytest.mark.parametrize(("table", "chip"), SCALARS)
def test_a_complex_scalar_is_refused(table: Table, chip: str, device: Device) -> None:
    for name, given in table.arguments.items():
        if isinstance(given, Scalar):
            changed = table.arguments | {name: Scalar(given.value, "COMPLEX64")}
            reply = device(chip).check(table, changed)
            assert (reply.status, name in reply.text) == (161002, True), reply
