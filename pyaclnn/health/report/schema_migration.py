# SPDX-License-Identifier: Apache-2.0
"""Reports of former versions of the layout, brought to the present one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyaclnn.health.report.table import packed

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["upgraded"]

_TABLES: Final = 2
"""The layout that made tables of comparisons, of which there was an array of objects before."""
_FIGURES: Final = 3
"""The layout that added severities and figures."""


def upgraded(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a report in the present layout; what is none, or is of that already, as it is.

    Args:
        data: A report as JSON's own types, not yet looked at.
    """
    layout, results = data.get("schema"), data.get("results")
    if type(layout) is not int or not 1 <= layout < _FIGURES or not isinstance(results, list):
        return data
    return {
        **data,
        "schema": _FIGURES,
        "results": [_result(result, layout) for result in results],
    }


def _result(result: Any, layout: int) -> Any:
    if not isinstance(result, dict):
        return result
    fresh = {**result, "severity": "NONE", "figures": None}
    if layout < _TABLES:
        fresh["numbers"] = _table(result.get("numbers"))
    return fresh


def _table(rows: Any) -> Any:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return rows
    return rows if any(set(row) != set(rows[0]) for row in rows) else packed(rows)
