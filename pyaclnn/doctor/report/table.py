# SPDX-License-Identifier: Apache-2.0
"""Records of one kind as a table: what all of them have in common is told once, the rest by column.

A report has hundreds of comparisons, most of whose fields are equal, and all of whose names are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["check", "joined", "packed", "rows_of", "unpacked"]


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


def check(table: Any, place: str) -> None:
    """Refuse what is no table.

    Args:
        table: What `packed` may have returned.
        place: Where it is, for messages.

    Raises:
        ValueError: It is no table.
    """
    if not isinstance(table, dict) or set(table) != {"count", "same", "each"}:
        raise ValueError(f"{place} is no table of count, same and each")
    count, same, each = table["count"], table["same"], table["each"]
    if type(count) is not int or count < 1 or (count > 1 and not each):
        raise ValueError(f"{place}.count is no number of records")
    if not isinstance(same, dict) or not isinstance(each, dict) or set(same) & set(each):
        raise ValueError(f"{place}: same and each must be objects without a key in common")
    for name, column in each.items():
        if not isinstance(column, list) or len(column) != count:
            raise ValueError(f"{place}.each[{name!a:.60}] is no array of {count}")


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
    for table in tables:
        check(table, "")
    each: dict[str, list[Any]] = {name: [] for name in (*tables[0]["same"], *tables[0]["each"])}
    for table in tables:
        if len(table["same"]) + len(table["each"]) != len(each):
            raise ValueError("tables of other records")
        for name, value in table["same"].items():
            each[name] += [value] * table["count"]
        for name, column in table["each"].items():
            each[name] += column
    return {"count": sum(table["count"] for table in tables), "same": {}, "each": each}


def unpacked(table: Any, place: str) -> list[dict[str, Any]]:
    """Return the records of a table.

    Args:
        table: What `packed` returned.
        place: Where it is, for messages.

    Raises:
        ValueError: It is no table.
    """
    if table is None:
        return []
    check(table, place)
    return list(rows_of(table["same"], table["each"]))


def rows_of(same: Mapping[str, Any], each: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the records of a table, of which nothing is checked any more.

    Args:
        same: The fields that are the same in all.
        each: The others, by column; without any there is one record.
    """
    for row in zip(*each.values(), strict=True) if each else [()]:
        yield {**same, **dict(zip(each, row, strict=True))}
