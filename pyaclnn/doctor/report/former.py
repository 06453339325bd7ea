# SPDX-License-Identifier: Apache-2.0
"""Reports of former versions, made into what this one reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.doctor.report.table import packed

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["upgraded"]


def upgraded(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a report in the present layout; what is none, or is of that already, as it is.

    Args:
        data: A report as JSON's own types, not yet looked at.
    """
    layout, results = data.get("schema"), data.get("results")
    if type(layout) is not int or layout != 1 or not isinstance(results, list):
        return data
    return {**data, "schema": 2, "results": [_result(result) for result in results]}


def _result(result: Any) -> Any:
    """In the first layout comparisons were an array of objects."""
    rows = result.get("numbers") if isinstance(result, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return result
    if any(set(row) != set(rows[0]) for row in rows):
        return result
    return {**result, "numbers": packed(rows)}
