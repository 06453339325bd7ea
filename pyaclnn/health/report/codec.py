# SPDX-License-Identifier: Apache-2.0
"""JSON of records: reading with their types as rules, and writing that people can compare.

Texts that are shown are cleaned: logs hold anything, and a terminal obeys escape sequences.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pyaclnn.base.printable import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["SCHEMA", "cleaned", "json_lines", "json_text", "read"]

Record = TypeVar("Record")

_ON_ONE_LINE: Final = re.compile(r"\s*[\n\t]\s*")
_LINES: Final = frozenset({"text", "summary", "verdict", "causes", "next_step"})
"""The fields that may have several lines."""
_WITH_TEXTS: Final = frozenset({str, tuple, dict})
"""The types of fields that may contain a text."""


def cleaned(record: Record) -> Record:
    """Return a record with texts that can be shown anywhere.

    They are as `pyaclnn.base.printable.harmless` returns them. A name, e.g. of a machine, stays on
    one line, so that it cannot pass for lines of the report.

    Args:
        record: The report of one machine, or a part of it.
    """
    harmless: Record = _harmless(record, on_one_line=True)
    return harmless


def _harmless(value: Any, *, on_one_line: bool) -> Any:
    """Return the value itself if it is harmless, as nearly all are; many records make a fleet."""
    if isinstance(value, Struct):
        changed = {}
        for name in value.__struct_fields__:
            before = getattr(value, name)
            if type(before) in _WITH_TEXTS and not (type(before) is str and before.isprintable()):
                after = _harmless(before, on_one_line=name not in _LINES)
                if after is not before:
                    changed[name] = after
        return replace(value, **changed) if changed else value
    if type(value) is dict:
        return {
            _harmless(key, on_one_line=True): _harmless(item, on_one_line=key not in _LINES)
            for key, item in value.items()
        }
    if type(value) is tuple:
        found = tuple([_harmless(item, on_one_line=on_one_line) for item in value])
        return found if any(map(operator.is_not, found, value)) else value
    if type(value) is not str or value.isprintable():
        return value
    text = harmless(value)
    return _ON_ONE_LINE.sub(" ", text) if on_one_line else text


SCHEMA: Final = 4
"""Version of the JSON layout."""
_LONGEST_MESSAGE: Final = 300


def read(kind: Callable[..., Record], data: Any) -> Record:
    """Read a record.

    Args:
        kind: The type of the record.
        data: JSON text, or JSON's own types.

    Raises:
        ValueError: The text is no JSON; or a value, or a missing or unknown key, violates the type:
            then the message begins with the name of the field.
    """
    try:
        if isinstance(data, (str, bytes, msgspec.Raw)):
            return msgspec.json.decode(data, type=kind)  # type: ignore[no-any-return]
        return msgspec.convert(data, kind)  # type: ignore[no-any-return]
    except RecursionError:
        raise ValueError("too deep") from None
    except msgspec.MsgspecError as error:
        message, _, place = str(error).partition(" - at `$")
        place = place.rstrip("`").lstrip(".")
        if place == "schema":
            message = message.replace("Invalid enum value", "schema is")
            message, place = f"{message}; this version reads {SCHEMA}", ""
        raise ValueError(_printable(f"{place}: {message}" if place else message)) from None


def _printable(text: str) -> str:
    """Escape control characters: the text may quote a foreign file, and go to a terminal."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return shown if len(shown) <= _LONGEST_MESSAGE else f"{shown[:_LONGEST_MESSAGE]}…"


def json_text(value: Any) -> str:
    """Return a value as JSON text on one line; a lone surrogate becomes U+FFFD."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(cleaned(value)).decode()


def json_lines(fields: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """Yield JSON text with a line for each key, and for each record of a sequence.

    Args:
        fields: Keys and values; an iterator yields the JSON texts of records.
    """
    begin = "{\n"
    for key, value in fields:
        yield f"{begin}  {json_text(key)}: "
        begin = ",\n"
        if not isinstance(value, Iterator) and not _is_records(value):
            yield json_text(value)
            continue
        before = "["
        for item in value if isinstance(value, Iterator) else map(json_text, value):
            yield f"{before}\n    {item}"
            before = ","
        yield "[]" if before == "[" else "\n  ]"
    yield "\n}\n"


def _is_records(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], msgspec.Struct)
