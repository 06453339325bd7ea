# SPDX-License-Identifier: Apache-2.0
"""Tables of a release made from those of another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.operators.table import Table

__all__ = ["in_8_1"]


def in_8_1(table: Table, *more: str, like: str) -> Table:
    """The same operator in release 8.1, where more families of chips have what one has."""

    def widened(chips: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*chips, *more))) if like in chips else chips

    types = table.types
    listed = dict.fromkeys(more, types.listed[like]) if like in types.listed else {}
    rows = {**types.rows, **dict.fromkeys(more, types.rows[like])}
    return replace(
        table,
        releases=("8.1",),
        chips=widened(table.chips),
        types=replace(types, rows=rows, listed={**types.listed, **listed}),
        steps=tuple(replace(step, chips=widened(step.chips)) for step in table.steps),
        layouts=tuple(replace(found, chips=widened(found.chips)) for found in table.layouts),
        cases=tuple(replace(case, chips=widened(case.chips)) for case in table.cases),
    )
