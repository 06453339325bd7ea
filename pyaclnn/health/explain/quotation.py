# SPDX-License-Identifier: Apache-2.0
"""Quotation of a line's own statement, without time, process and class of the exception."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["NAME", "STATEMENT", "filled"]

STATEMENT: Final = "%q"
"""Place of the statement of a line in a text of an explanation."""
NAME: Final = "%n"
"""Place of the first name of an option, variable or argument in the statement."""
_BEFORE: Final = re.compile(
    r"^(?:[\s:,]|- |\([^()]*pid[^()]*\)|\[[^\[\]]{1,60}\](?=[\s\[:])|[EW] (?=\d)"
    r"|(?:ERROR|WARNING|Error|error|FATAL|CRITICAL)\b(?=[\s:\[])"
    r"|\d{2,4}-\d\d[-\d:.,T ]*|[\d:.,]{8,}|(?:\w+\.)*\w*(?:Error|Exception|Warning)\b(?=:)"
    r"|\bE[A-Z]?\d{4,5}\b|Value error,|Inner Error!)+"
)
"""Time, process, level, code and class of the exception before a statement."""
_BEHIND: Final = re.compile(
    r"\s*(?:\[FUNC:.*|(?:For more (?:details|information)|More information)\b.*)"
)
_NAME: Final = re.compile(
    r"(?<![\w./:])(?!aclnn)"
    r"(--[a-z][\w-]+|[A-Z][A-Z0-9]*_[A-Z0-9_]+|[a-z]\w*_\w+|[a-z]+[A-Z]\w+)\b(?![(./:?])"
    r"|(?<!For )[`'\"]([A-Za-z][\w.-]{0,40})[`'\"]"
)
_LONGEST: Final = 200
_NO_NAME: Final = "what it names"


def filled(text: str, line: str) -> str:
    """Fill the places of a text with the statement of a line, and with the name in it.

    Args:
        text: The text of an explanation.
        line: The line, or a sentence of it.
    """
    if STATEMENT not in text and NAME not in text:
        return text
    statement = _BEHIND.sub("", _BEFORE.sub("", line)).strip().rstrip(".") or line.strip()
    if len(statement) > _LONGEST:
        statement = f"{statement[:_LONGEST]}…"
    match = _NAME.search(statement)
    name = next(filter(None, match.groups())) if match else _NO_NAME
    return text.replace(STATEMENT, statement).replace(NAME, name)
