# SPDX-License-Identifier: Apache-2.0
"""Removal of harmful characters: logs hold anything, and a terminal obeys escape sequences."""

from __future__ import annotations

import operator
import re
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

__all__ = ["cleaned"]

Record = TypeVar("Record")

# Control characters but tab and newline, marks that turn the direction of writing, separators of
# lines that only some programs know, lone surrogates, and characters that XML 1.0 cannot contain.
_HARMFUL: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufffe\uffff]"
)
_ON_ONE_LINE: Final = re.compile(r"\s*[\n\t]\s*")
_LINES: Final = frozenset({"text", "summary", "verdict", "causes", "next_step"})
"""The fields that may have several lines."""
_WITH_TEXTS: Final = frozenset({str, tuple, dict})
"""The types of fields that may contain a text."""
_ESCAPES: Final = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]")


def cleaned(record: Record) -> Record:
    """Return a record with texts that can be shown anywhere.

    Escape sequences go; other characters that do something instead of being seen become U+FFFD. A
    name, e.g. of a machine, stays on one line, so that it cannot pass for lines of the report.

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
    text = _HARMFUL.sub("\ufffd", _ESCAPES.sub("", value))
    return _ON_ONE_LINE.sub(" ", text) if on_one_line else text
