# SPDX-License-Identifier: Apache-2.0
"""JSON of records: reading with their types as rules, and writing that people can compare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from pyaclnn.health.report.clean import cleaned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["SCHEMA", "json_lines", "json_text", "read"]

Record = TypeVar("Record")

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
