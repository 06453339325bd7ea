# SPDX-License-Identifier: Apache-2.0
"""Literal texts that every match of a regular expression contains: a quick test before a search."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

__all__ = ["needles_of"]

# Python has no public access to the parsed form of a pattern.
_parser: Final = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")


def needles_of(pattern: re.Pattern[str]) -> frozenset[str]:
    """Return texts in lower case, of which each match of a pattern contains one or more.

    Args:
        pattern: The pattern.

    Returns:
        The texts; one that is empty if the pattern has no such text.
    """
    return _needles(_parser.parse(pattern.pattern, pattern.flags)) or frozenset({""})


def _needles(items: Iterable[tuple[Any, Any]]) -> frozenset[str]:
    """Return those of a sequence: of its parts that must be there, the one with the longest."""
    found: list[frozenset[str]] = []
    run = ""
    for operation, argument in items:
        kind = str(operation)
        if kind == "LITERAL":
            run += chr(argument).lower()
            continue
        found.append(frozenset({run} - {""}))
        run = ""
        if kind == "SUBPATTERN":
            found.append(_needles(argument[-1]))
        elif kind == "BRANCH":
            branches = [_needles(branch) for branch in argument[1]]
            found.append(frozenset().union(*branches) if all(branches) else frozenset())
        elif kind == "MAX_REPEAT" and argument[0] > 0:
            found.append(_needles(argument[2]))
    found.append(frozenset({run} - {""}))
    return max(found, key=lambda part: min(map(len, part), default=0))
