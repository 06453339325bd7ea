# SPDX-License-Identifier: Apache-2.0
"""Reading of records in bulk: a reader is put together once for each type, and tells no reasons.

What it does not take is left to `fields.read`, which says what is wrong with it.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, Union, get_args, get_origin

from pyaclnn.doctor.report.fields import Rule, annotated, hints_of, read, read_scalar
from pyaclnn.doctor.report.table import check, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Reader: TypeAlias = Callable[[Any], Any]

__all__ = ["made", "read_quickly"]

_PLAIN: Final = Rule()
_LARGEST: Final = sys.float_info.max


def read_quickly(kind: Any, data: Any) -> Any:
    """Return what `fields.read` does, sooner.

    Args:
        kind: The type.
        data: JSON's own types.

    Raises:
        ValueError: As `fields.read` does.
    """
    try:
        return _reader(kind)(data)
    except (ValueError, TypeError, KeyError, OverflowError):
        return read(kind, data)


@functools.cache
def _reader(kind: Any) -> Reader:
    kind, rule = annotated(kind)
    origin, inner = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    if rule.table:
        return _table(inner[0])
    if origin is tuple:
        return _tuple(inner)
    if origin is dict:
        item = _reader(inner[1])
        return lambda data: {key: item(value) for key, value in _of(dict, data).items()}
    if origin in {Union, UnionType}:
        by_type = {annotated(one)[0]: _reader(one) for one in inner}
        return lambda data: by_type[type(data)](data)
    return _scalar(kind, rule)


def _of(kind: type, data: Any) -> Any:
    if type(data) is not kind:
        raise TypeError
    return data


def _scalar(kind: Any, rule: Rule) -> Reader:
    if issubclass(kind, Enum):
        members = {member.value: member for member in kind}
        return lambda data: members[data]
    if rule == _PLAIN and kind is not float:
        return functools.partial(_of, kind)
    if kind not in {int, float} or rule.enum is not None or rule.maximum is not None:
        return lambda data: read_scalar(kind, rule, data, "")
    absent, least = rule.absent, -_LARGEST if rule.minimum is None else rule.minimum

    def number(data: Any) -> Any:
        if type(data) is kind and least <= data <= _LARGEST:
            return data
        return absent if data is None and absent else read_scalar(kind, rule, data, "")

    return number


def _tuple(inner: tuple[Any, ...]) -> Reader:
    if inner[-1] is Ellipsis:
        item = _reader(inner[0])
        return lambda data: tuple(map(item, _of(list, data)))
    first, second = map(_reader, inner)  # no record has others

    def pair(data: Any) -> tuple[Any, Any]:
        left, right = _of(list, data)
        return first(left), second(right)

    return pair


def made(kind: Any, values: dict[str, Any]) -> Any:
    """Return a record of values that were looked at: that is all that its class would do with them.

    Args:
        kind: The type of the record.
        values: A value for each of its fields.
    """
    record = object.__new__(kind)
    record.__dict__.update(values)
    return record


def _record(kind: Any) -> Reader:
    readers = {name: _reader(hint) for name, hint in hints_of(kind).items()}

    def record(data: Any) -> Any:
        if _of(dict, data).keys() != readers.keys():
            raise KeyError
        return made(kind, {name: reader(data[name]) for name, reader in readers.items()})

    return record


def _table(kind: Any) -> Reader:
    readers = {name: _reader(hint) for name, hint in hints_of(kind).items()}

    def table(data: Any) -> Any:
        if data is None:
            return ()
        check(data, "")
        same = {name: readers[name](value) for name, value in data["same"].items()}
        each = {n: list(map(readers[n], column)) for n, column in data["each"].items()}
        if same.keys() | each.keys() != readers.keys():
            raise KeyError
        return tuple(made(kind, row) for row in rows_of(same, each))

    return table
