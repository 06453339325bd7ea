# SPDX-License-Identifier: Apache-2.0
"""JSON layout of records: reading with the types as rules, and tables of equal records.

A record is a ``msgspec.Struct``; the types of its fields are what a reader checks and what the
schema publishes. Two things differ between a record and its JSON: JSON has neither infinities nor
NaN, which become null, and a tuple of hundreds of records of one kind becomes a table, which
repeats neither the names of the fields nor values that all records share.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "Count",
    "Finite",
    "Histogram",
    "Measured",
    "Seconds",
    "json_text",
    "layout_of",
    "plain",
    "read",
    "rows_of",
    "table",
    "table_layout",
]

Record = TypeVar("Record")

_LARGEST: Final = sys.float_info.max
_LONGEST_MESSAGE: Final = 300

Finite: TypeAlias = Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=_LARGEST)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Measured: TypeAlias = Annotated[Finite, Meta(description="null if there is no such figure")]
"""A float that is NaN in the record and null in JSON if it was not measured."""
Edge: TypeAlias = Annotated[Finite, Meta(description="null: no upper edge")]
"""A float that is infinite in the record and null in JSON."""
Histogram: TypeAlias = tuple[tuple[Edge, Count], ...]
"""Pairs of an upper edge and a count."""


def _edges(pairs: Any) -> Any:
    if None not in [edge for edge, _ in pairs]:
        return pairs
    return tuple((math.inf if edge is None else edge, count) for edge, count in pairs)


_NULLABLE: Final[tuple[tuple[Any, Any, Callable[[Any], Any]], ...]] = (
    (Measured, Measured | None, lambda value: math.nan if value is None else value),
    (Histogram, tuple[tuple[Edge | None, Count], ...], _edges),
)
"""Types with nulls: in the record, in JSON, and the function that reads a value."""


def read(kind: Callable[..., Record], data: Any) -> Record:
    """Read a record.

    Args:
        kind: The type of the record, or of its layout.
        data: JSON's own types.

    Raises:
        ValueError: A value, or a missing or unknown key, violates the type; the message begins with
            the name of the field.
    """
    try:
        return msgspec.convert(data, kind)  # type: ignore[no-any-return]
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        place = place.rstrip("`").lstrip(".")
        raise ValueError(_printable(f"{place}: {message}" if place else message)) from None


def _printable(text: str) -> str:
    """Escape control characters: the text may quote a foreign file, and go to a terminal."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return shown if len(shown) <= _LONGEST_MESSAGE else f"{shown[:_LONGEST_MESSAGE]}…"


def layout_of(kind: Any, **changed: Any) -> Any:
    """Return the type of a record's JSON, in which every field is required.

    Args:
        kind: The type of the record.
        changed: The types of those fields that differ in JSON, by name.
    """
    types = [(field.name, changed.get(field.name, field.type)) for field in fields(kind)]
    return msgspec.defstruct(kind.__name__, types, forbid_unknown_fields=True)


@functools.cache
def _columns(kind: Any) -> dict[str, tuple[Any, Callable[[Any], Any] | None]]:
    """Return by name the types of a record's fields in JSON, and how those with nulls are read."""
    found: dict[str, tuple[Any, Callable[[Any], Any] | None]] = {}
    for field in fields(kind):
        nullable = (n for inside, *n in _NULLABLE if inside == field.type)
        outside, reader = next(nullable, (field.type, None))
        found[field.name] = outside, reader
    return found


def table_layout(kind: Any) -> Any:
    """Return the type of a table: the number of records, common values, and columns of the others.

    Args:
        kind: The type of the records.
    """
    types = [(name, column) for name, (column, _) in _columns(kind).items()]
    same = [(name, one | UnsetType, UNSET) for name, one in types]
    each = [(name, tuple[one, ...] | UnsetType, UNSET) for name, one in types]  # type: ignore[valid-type]
    name = f"{kind.__name__}Table"
    parts: list[tuple[str, Any]] = [
        ("count", Annotated[int, Meta(ge=1)]),
        ("same", msgspec.defstruct(f"{name}Same", same, forbid_unknown_fields=True)),
        ("each", msgspec.defstruct(f"{name}Each", each, forbid_unknown_fields=True)),
    ]
    return msgspec.defstruct(name, parts, forbid_unknown_fields=True)


def table(rows: Sequence[msgspec.Struct]) -> dict[str, Any] | None:
    """Return records of one kind as a table of JSON's own types.

    Args:
        rows: The records.

    Returns:
        ``count``, the fields that are the ``same`` in all, and lists of those of ``each``; None for
        no records.
    """
    if not rows:
        return None
    columns = {
        field.name: [plain(getattr(row, field.name)) for row in rows] for field in fields(rows[0])
    }
    same = {
        name: column[0] for name, column in columns.items() if column.count(column[0]) == len(rows)
    }
    if len(rows) > 1 and len(same) == len(columns):
        same.pop(next(iter(same)))  # the length of a column is the proof of the count
    each = {name: column for name, column in columns.items() if name not in same}
    return {"count": len(rows), "same": same, "each": each}


def plain(value: Any) -> Any:
    """Return a record, or a value of one, as JSON's own types; floats that are not finite as None.

    Args:
        value: The record, or the value.
    """
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def rows_of(kind: Callable[..., Record], given: Any, place: str) -> tuple[Record, ...]:
    """Return the records of a table.

    Args:
        kind: The type of the records.
        given: The value that `read` returned for their `table_layout`, or None.
        place: The name of the table, for messages.

    Raises:
        ValueError: A field is missing or there twice, or a column is not as long as the count.
    """
    if given is None:
        return ()
    parts = msgspec.structs.asdict(given.same), msgspec.structs.asdict(given.each)
    same, each = ({k: v for k, v in part.items() if v is not UNSET} for part in parts)
    columns: list[Any] = []
    for name, (_, reader) in _columns(kind).items():
        if (name in same) == (name in each):
            raise ValueError(f"{place}: {name} must be in one of same and each")
        if name in each and len(each[name]) != given.count:
            raise ValueError(f"{place}.each.{name} is no array of {given.count}")
        column = each[name] if name in each else itertools.repeat(same[name], given.count)
        columns.append(column if reader is None else map(reader, column))
    if given.count > 1 and not each:
        raise ValueError(f"{place}.count is no number of records")
    return tuple(map(kind, *columns))


def json_text(data: dict[str, Any]) -> str:
    """Return JSON with a line for each key, and for each item of a list of records.

    Args:
        data: JSON's own types.
    """
    lines = []
    for key, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = ",\n".join(f"    {_dense(item)}" for item in value)
            lines.append(f"  {_dense(key)}: [\n{items}\n  ]")
        else:
            lines.append(f"  {_dense(key)}: {_dense(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dense(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
