# SPDX-License-Identifier: Apache-2.0
"""Records out of JSON: for each type a reader is put together once.

A reader looks at nothing twice, for reports have thousands of values; where it stands is found out
on the way back from what it refuses.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import sys
from datetime import datetime
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, Union, get_args, get_origin

from pyaclnn.health.report.fields import JSON_TYPES, Rule, annotated, hints_of
from pyaclnn.health.report.table import unpacked, wrong_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Reader: TypeAlias = Callable[[Any], Any]

__all__ = ["made", "read"]

_PLAIN: Final = Rule()
_LARGEST: Final = sys.float_info.max
_MOST_SHOWN: Final = 60


class _UnfitError(ValueError):
    """Data that is not what it must be; what is said goes on the name of its place."""

    place = ""

    def within(self, place: str) -> _UnfitError:
        self.place = place + self.place
        return self

    def __str__(self) -> str:
        place = self.place.removeprefix(".")
        return f"{place or 'it'}{self.args[0]}".removeprefix("it: ")


def read(kind: Any, data: Any, place: str = "") -> Any:
    """Read what `fields.plain` returned.

    Args:
        kind: The type that it was.
        data: JSON's own types.
        place: Where in the whole this is, for messages.

    Raises:
        ValueError: A key is missing or unknown, or a value is none that its type allows; the
            message names the place.
    """
    try:
        return _reader(kind)(data)
    except _UnfitError as error:
        raise error.within(place) from None


@functools.cache
def _reader(kind: Any) -> Reader:  # noqa: PLR0911  # as many kinds
    kind, rule = annotated(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        return functools.partial(_record, kind, _readers(kind))
    if rule.table:
        return functools.partial(_table, inner[0], _readers(inner[0]))
    if origin is tuple and inner[-1] is Ellipsis:
        return functools.partial(_array, _reader(inner[0]))
    if origin is tuple:
        return functools.partial(_fixed, [_reader(one) for one in inner])
    if origin is dict:
        return functools.partial(_mapping, _reader(inner[1]))
    if origin in {Union, UnionType}:
        return functools.partial(_either, {annotated(one)[0]: _reader(one) for one in inner})
    return _scalar(kind, rule)


def _readers(kind: Any) -> dict[str, Reader]:
    return {name: _reader(hint) for name, hint in hints_of(kind).items()}


def _refuse(data: Any, wanted: str) -> NoReturn:
    raise _UnfitError(f" is {_shown(data)}; it must be {wanted}")


def _shown(data: Any) -> str:
    """Foreign data in a message: short, and nothing that a terminal would obey."""
    text = ascii(data)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…{text[-1]}"


def _array(item: Reader, data: Any, beside: str = "") -> tuple[Any, ...]:
    """Read an array; what stands beside its items goes to the name of the place."""
    if type(data) is not list:
        _refuse(data, "an array")
    found: list[Any] = []
    try:
        for one in data:
            found.append(item(one))  # noqa: PERF401  # how many there are says which is unfit
    except _UnfitError as error:
        raise error.within(f"[{len(found)}]{beside}") from None
    return tuple(found)


def _fixed(items: Sequence[Reader], data: Any) -> tuple[Any, ...]:
    if type(data) is not list or len(data) != len(items):
        _refuse(data, f"an array of {len(items)}")
    rest = iter(items)
    return _array(lambda one: next(rest)(one), data)  # noqa: PLW0108  # another one for each


def _mapping(item: Reader, data: Any) -> dict[str, Any]:
    if type(data) is not dict:
        _refuse(data, "an object")
    return _values(dict.fromkeys(data, item), data, "[{!a:.60}]")


def _either(readers: dict[Any, Reader], data: Any) -> Any:
    reader = readers.get(type(data))
    if reader is None:
        _refuse(data, " or ".join(JSON_TYPES[kind] for kind in readers))
    return reader(data)


def _values(readers: dict[str, Reader], data: dict[str, Any], place: str) -> dict[str, Any]:
    name = ""
    values = {}
    try:
        for name, reader in readers.items():
            values[name] = reader(data[name])
    except _UnfitError as error:
        raise error.within(place.format(name)) from None
    return values


def made(kind: Any, values: dict[str, Any]) -> Any:
    """Return a record of values that were looked at: that is all that its class would do with them.

    Args:
        kind: The type of the record.
        values: A value for each of its fields.
    """
    record = object.__new__(kind)
    record.__dict__.update(values)
    return record


def _record(kind: Any, readers: dict[str, Reader], data: Any) -> Any:
    if type(data) is not dict:
        raise _UnfitError(f": a {kind.__name__} is a JSON object; this is a {type(data).__name__}")
    _require_keys(kind, readers, data)
    return made(kind, _values(readers, data, ".{}"))


def _require_keys(kind: Any, wanted: Iterable[str], given: Iterable[str]) -> None:
    unknown, missing = sorted(set(given) - set(wanted)), sorted(set(wanted) - set(given))
    if unknown:
        raise _UnfitError(f": {kind.__name__} has unknown keys: {_shown(', '.join(unknown))[1:-1]}")
    if missing:
        raise _UnfitError(f": {kind.__name__} lacks the keys: {', '.join(missing)}")


def _table(kind: Any, readers: dict[str, Reader], data: Any) -> tuple[Any, ...]:
    wrong = wrong_with(data)
    if wrong:
        raise _UnfitError(wrong)
    if data is None:
        return ()
    given, each = data["same"], data["each"]
    _require_keys(kind, readers, [*given, *each])
    same = _values({name: readers[name] for name in given}, given, "[0].{}")
    columns = {name: _array(readers[name], each[name], f".{name}") for name in each}
    return tuple(made(kind, row) for row in unpacked({"same": same, "each": columns}))


def _scalar(kind: Any, rule: Rule) -> Reader:
    """The reader of a value that has no parts; nearly all of them are what they must be."""
    if issubclass(kind, Enum):
        return functools.partial(_member, {member.value: member for member in kind})
    least = -_LARGEST if rule.minimum is None else rule.minimum
    numeric = kind in {int, float} and rule.enum is None and rule.maximum is None
    plain = rule == _PLAIN

    def scalar(data: Any) -> Any:
        if type(data) is kind and (least <= data <= _LARGEST if numeric else plain):
            return data
        return _checked(kind, rule, data)

    return scalar


def _member(members: dict[str, Enum], data: Any) -> Enum:
    if type(data) is not str or data not in members:
        _refuse(data, f"one of {[*members]}")
    return members[data]


def _checked(kind: Any, rule: Rule, data: Any) -> Any:
    if data is None and rule.absent is not None:
        return rule.absent
    if type(data) is not kind and not (kind is float and type(data) is int):
        _refuse(data, f"of the kind {JSON_TYPES[kind]}")
    if kind is float:
        data = _finite(data)
    if rule.enum is not None and data not in rule.enum:
        _refuse(data, f"one of {list(rule.enum)}")
    if rule.minimum is not None and data < rule.minimum:
        _refuse(data, f"at least {rule.minimum}")
    if rule.maximum is not None and data > rule.maximum:
        _refuse(data, f"at most {rule.maximum}")
    if rule.pattern is not None and not re.fullmatch(rule.pattern, data):
        _refuse(data, f"of the form {rule.pattern}")
    if rule.format is not None and not _is_moment(data):
        _refuse(data, "a moment like 2026-05-21T08:30:00+00:00")
    return data


def _finite(data: float) -> float:
    try:
        number = float(data)
    except OverflowError:
        number = math.inf
    return number if math.isfinite(number) else _refuse(data, "finite")


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).tzinfo is not None
    except ValueError:
        return False
