# SPDX-License-Identifier: Apache-2.0
"""Records of one kind as a table: what all of them have in common is told once, the rest by column.

A report has hundreds of comparisons, most of whose fields are equal, and all of whose names are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["joined", "packed", "unpacked", "wrong_with"]


def packed(rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return records as a table.

    Args:
        rows: The records as JSON's own types, all with the same keys.

    Returns:
        ``count``, the fields that are the ``same`` in all, and lists of those that are told of
        ``each``; None for no records.
    """
    if not rows:
        return None
    first = rows[0]
    same = {name for name in first if all(row[name] == first[name] for row in rows)}
    if len(rows) > 1 and len(same) == len(first):
        same.remove(next(iter(first)))  # so that a table is never less than what it stands for
    return {
        "count": len(rows),
        "same": {name: value for name, value in first.items() if name in same},
        "each": {name: [row[name] for row in rows] for name in first if name not in same},
    }


def wrong_with(table: Any) -> str:
    """Say why something is no table, to go on the name of its place; nothing if it is one.

    Args:
        table: What `packed` may have returned.
    """
    if table is None:
        return ""
    if not isinstance(table, dict) or set(table) != {"count", "same", "each"}:
        return " is no table of count, same and each"
    count, same, each = table["count"], table["same"], table["each"]
    if type(count) is not int or count < 1 or (count > 1 and not each):
        return ".count is no number of records"
    if not isinstance(same, dict) or not isinstance(each, dict) or set(same) & set(each):
        return ": same and each must be objects without a key in common"
    for name, column in each.items():
        if not isinstance(column, list) or len(column) != count:
            return f".each[{name!a:.60}] is no array of {count}"
    return ""


def joined(tables: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return tables of the same kind of records as one, in which everything is told of each.

    Args:
        tables: What `packed` returned.

    Returns:
        The table; None if there are none.

    Raises:
        ValueError: One of them is no table, or has other fields.
    """
    if not tables:
        return None
    if any(map(wrong_with, tables)):
        raise ValueError("no table")
    each: dict[str, list[Any]] = {name: [] for name in (*tables[0]["same"], *tables[0]["each"])}
    for table in tables:
        if len(table["same"]) + len(table["each"]) != len(each):
            raise ValueError("tables of other records")
        for name, value in table["same"].items():
            each[name] += [value] * table["count"]
        for name, column in table["each"].items():
            each[name] += column
    return {"count": sum(table["count"] for table in tables), "same": {}, "each": each}


def unpacked(table: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Yield the records of a table, of which nothing is checked any more.

    Args:
        table: What `packed` returned.
    """
    if table is not None:
        each = table["each"]
        for row in zip(*each.values(), strict=True) if each else [()]:
            yield {**table["same"], **dict(zip(each, row, strict=True))}
