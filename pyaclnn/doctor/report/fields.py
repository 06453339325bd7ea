# SPDX-License-Identifier: Apache-2.0
"""Records as JSON: written, read and described by one rule, which is the types of their fields.

A field's type may be annotated with a `Rule`, which holds when it is read, and goes to the schema.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, NoReturn, Union, get_args, get_origin, get_type_hints

from pyaclnn.doctor.report.table import packed, unpacked

__all__ = [
    "Rule",
    "annotated",
    "described",
    "hints_of",
    "json_text",
    "plain",
    "read",
    "read_scalar",
]

_NAMES: Final = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_MOST_SHOWN: Final = 60
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


def read(kind: Any, data: Any, place: str = "") -> Any:
    """Read what `plain` returned.

    Args:
        kind: The type that it was.
        data: JSON's own types.
        place: Where in the whole this is, for messages.

    Raises:
        ValueError: A key is missing or unknown, or a value is none that its type allows; the
            message names the place.
    """
    kind, rule = annotated(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _record(kind, data, place)
    if origin is tuple:
        return _array(inner, unpacked(data, place) if rule.table else data, place)
    if origin is dict:
        if not isinstance(data, dict):
            _refuse(place, data, "an object")
        return {key: read(inner[1], item, f"{place}[{_shown(key)}]") for key, item in data.items()}
    if origin in {Union, UnionType}:
        for one in inner:
            if _fits(one, data):
                return read(one, data, place)
        _refuse(place, data, " or ".join(_NAMES[annotated(one)[0]] for one in inner))
    if data is None and rule.absent is not None:
        return rule.absent
    return read_scalar(kind, rule, data, place)


def _array(types: tuple[Any, ...], data: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        _refuse(place, data, "an array")
    if types[-1] is Ellipsis:
        types = (types[0],) * len(data)
    if len(data) != len(types):
        _refuse(place, data, f"an array of {len(types)}")
    both = zip(types, data, strict=True)
    return tuple(read(one, item, f"{place}[{index}]") for index, (one, item) in enumerate(both))


def read_scalar(kind: Any, rule: Rule, data: Any, place: str) -> Any:
    """Read a value that has no parts; the arguments are those of `read`, and the type's rule."""
    if issubclass(kind, Enum):
        allowed = [member.value for member in kind]
        return kind(data) if data in allowed else _refuse(place, data, f"one of {allowed}")
    if not _fits(kind, data):
        _refuse(place, data, f"of the kind {_NAMES[kind]}")
    if kind is float:
        data = _finite(data, place)
    if rule.enum is not None and data not in rule.enum:
        _refuse(place, data, f"one of {list(rule.enum)}")
    if rule.minimum is not None and data < rule.minimum:
        _refuse(place, data, f"at least {rule.minimum}")
    if rule.maximum is not None and data > rule.maximum:
        _refuse(place, data, f"at most {rule.maximum}")
    if rule.pattern is not None and not re.fullmatch(rule.pattern, data):
        _refuse(place, data, f"of the form {rule.pattern}")
    if rule.format is not None and not _is_moment(data):
        _refuse(place, data, "a moment like 2026-05-21T08:30:00+00:00")
    return data


def _finite(data: float, place: str) -> float:
    try:
        number = float(data)
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else _refuse(place, data, "finite")


def _fits(kind: Any, data: Any) -> bool:
    plain_kind = annotated(kind)[0]
    if plain_kind is float:
        return isinstance(data, (int, float)) and not isinstance(data, bool)
    return type(data) is plain_kind


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).tzinfo is not None
    except ValueError:
        return False


def _record(kind: Any, data: Any, place: str) -> Any:
    if not isinstance(data, dict):
        name = f"{place}: " if place else ""
        raise ValueError(  # noqa: TRY004  # one kind of error for everything that is no record
            f"{name}a {kind.__name__} is a JSON object; this is a {type(data).__name__}"
        )
    hints = hints_of(kind)
    unknown, missing = sorted(set(data) - set(hints)), sorted(set(hints) - set(data))
    if unknown:
        raise ValueError(f"{kind.__name__} has unknown keys: {_shown(', '.join(unknown))[1:-1]}")
    if missing:
        raise ValueError(f"{kind.__name__} lacks the keys: {', '.join(missing)}")
    within = f"{place}." if place else ""
    return kind(**{name: read(one, data[name], within + name) for name, one in hints.items()})


def _refuse(place: str, data: Any, wanted: str) -> NoReturn:
    raise ValueError(f"{place or 'it'} is {_shown(data)}; it must be {wanted}")


def _shown(data: Any) -> str:
    """Foreign data in a message: short, and nothing that a terminal would obey."""
    text = ascii(data)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…{text[-1]}"


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
        found = {"type": [_NAMES[kind], "null"] if rule.absent is not None else _NAMES[kind]}
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
