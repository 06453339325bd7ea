# SPDX-License-Identifier: Apache-2.0
"""Records as JSON: written and described by one rule, which is the types of their fields.

A field's type may be annotated with a `Rule`, which holds when it is read (see `reader`), and goes
to the schema.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from pyaclnn.health.report.table import packed

__all__ = [
    "JSON_TYPES",
    "Rule",
    "annotated",
    "described",
    "hints_of",
    "json_text",
    "plain",
]

JSON_TYPES: Final = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}
"""What JSON Schema calls the types of values without parts."""
_AS_THEY_ARE: Final = frozenset({str, int, bool, NoneType})


@dataclasses.dataclass(frozen=True)
class Rule:
    """What a value must be besides of its type, in the keywords of JSON Schema.

    Attributes:
        minimum: The least number.
        maximum: The largest number.
        enum: The values that there are.
        pattern: The regular expression that fits the whole text.
        format: ``date-time``.
        description: What it is, in words.
        absent: The float that null stands for; without it null is refused.
        table: Whether records in a tuple are told as a table, which repeats nothing; null if there
            are none.
    """

    minimum: int | None = None
    maximum: int | None = None
    enum: tuple[str | int, ...] | None = None
    pattern: str | None = None
    format: str | None = None
    description: str | None = None
    absent: float | None = None
    table: bool = False

    def keywords(self) -> dict[str, Any]:
        """Return what of it goes to the schema."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        for name in ("absent", "table"):
            given.pop(name, None)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}


def plain(value: Any) -> Any:
    """Return a record, or what is in one, as JSON's own types.

    JSON has neither infinities nor NaN: they become null, and the field's type says which of them
    it was.
    """
    if type(value) in _AS_THEY_ARE or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value):
        kind: Any = type(value)
        told = {name: plain(getattr(value, name)) for name in hints_of(kind)}
        for name in _tables(kind):
            told[name] = packed(told[name])
        return told
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(data: dict[str, Any]) -> str:
    """Return JSON with a line for each key, and for each item of a list of records.

    Args:
        data: JSON's own types.
    """
    lines = []
    for key, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = ",\n".join(f"    {_compact(item)}" for item in value)
            lines.append(f"  {_compact(key)}: [\n{items}\n  ]")
        else:
            lines.append(f"  {_compact(key)}: {_compact(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


@functools.cache
def hints_of(kind: Any) -> dict[str, Any]:
    """Return the types of a record's fields, with their rules."""
    return get_type_hints(kind, include_extras=True)


@functools.cache
def _tables(kind: Any) -> tuple[str, ...]:
    return tuple(name for name, hint in hints_of(kind).items() if annotated(hint)[1].table)


def annotated(kind: Any) -> tuple[Any, Rule]:
    """Return a type without its rule, and the rule, which may hold nothing."""
    if get_origin(kind) is Annotated:
        inner, rule = get_args(kind)
        return inner, rule
    return kind, _ANY


_ANY: Final = Rule()


def described(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a type.

    Args:
        kind: The type.
        known: Definitions, by the names of records in lower case; those that are needed are added.
    """
    kind, rule = annotated(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or issubclass(kind, Enum)):
        name = kind.__name__.lower().removeprefix("check")
        if name not in known:
            known[name] = _definition(kind, known)
        found: dict[str, Any] = {"$ref": f"#/$defs/{name}"}
    elif origin in {Union, UnionType}:
        found = {"anyOf": [described(one, known) for one in inner]}
    elif rule.table:
        found = {"anyOf": [{"type": "null"}, _table(inner[0], known)]}
    elif origin is tuple and inner[-1] is Ellipsis:
        found = {"type": "array", "items": described(inner[0], known)}
    elif origin is tuple:
        items = [described(one, known) for one in inner]
        found = {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    elif origin is dict:
        found = {"type": "object", "additionalProperties": described(inner[1], known)}
    else:
        found = {
            "type": [JSON_TYPES[kind], "null"] if rule.absent is not None else JSON_TYPES[kind]
        }
    return {**found, **rule.keywords()}


def _table(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    """The schema of what `packed` makes of records; each field is in one of its two parts."""
    record = described(kind, known)["$ref"]
    fields = {name: {"$ref": f"{record}/properties/{name}"} for name in hints_of(kind)}
    columns = {name: {"type": "array", "items": one} for name, one in fields.items()}
    parts = {
        "count": {"type": "integer", "minimum": 1},
        "same": {"type": "object", "properties": fields, "additionalProperties": False},
        "each": {"type": "object", "properties": columns, "additionalProperties": False},
    }
    return {
        "type": "object",
        "properties": parts,
        "required": list(parts),
        "additionalProperties": False,
    }


def _definition(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    if issubclass(kind, Enum):
        return {"type": "string", "enum": [member.value for member in kind]}
    hints = hints_of(kind)
    return {
        "type": "object",
        "properties": {name: described(one, known) for name, one in hints.items()},
        "required": list(hints),
        "additionalProperties": False,
    }
