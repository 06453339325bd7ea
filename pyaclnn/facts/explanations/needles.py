# SPDX-License-Identifier: Apache-2.0
"""Index of regular expressions by literal texts that every match of them contains."""

from __future__ import annotations

import functools
import sys
from collections import Counter, defaultdict
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

__all__ = ["Index"]

# Python has no public access to the parsed form of a pattern.
_parser: Final = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")


_PART: Final = 3
"""Length of the parts of texts by which patterns are found."""


class Index:
    """Index of patterns: finds the few that can match a text, without a search by each.

    A pattern is several alternatives, and each of them several texts that it needs. The part of the
    longest text that fewest others have leads to the alternative.

    Args:
        patterns: The patterns.
    """

    def __init__(self, patterns: Sequence[re.Pattern[str]]) -> None:
        self._by_part: dict[str, list[tuple[list[frozenset[str]], int]]] = defaultdict(list)
        self._short: list[tuple[list[frozenset[str]], int]] = []
        needed = [
            (alternative, needle, place)
            for place, pattern in enumerate(patterns)
            for alternative in _alternatives(_parser.parse(pattern.pattern, pattern.flags))
            for needle in _longest(alternative) or {""}
        ]
        common = Counter(part for _, needle, _ in needed for part in _parts(needle))
        for alternative, needle, place in needed:
            parts = _parts(needle)
            rarest = min(sorted(parts), key=common.__getitem__, default=None)
            (self._short if rarest is None else self._by_part[rarest]).append((alternative, place))

    def near(self, text: str) -> list[int]:
        """Return the places of the patterns that may match a text, in order.

        Args:
            text: The text.
        """
        lower = text.lower()
        near = list(self._short)
        for part in self._by_part.keys() & _parts(lower):
            near += self._by_part[part]
        return sorted({place for needed, place in near if _has_all(lower, needed)})


def _has_all(lower: str, needed: Iterable[frozenset[str]]) -> bool:
    for texts in needed:
        for text in texts:
            if text in lower:
                break
        else:
            return False
    return True


@functools.lru_cache(maxsize=1)  # one line is looked up in several indices
def _parts(text: str) -> frozenset[str]:
    return frozenset(text[start : start + _PART] for start in range(len(text) - _PART + 1))


def _longest(needed: Iterable[frozenset[str]]) -> frozenset[str]:
    return max(needed, key=lambda texts: min(map(len, texts)), default=frozenset())


def _alternatives(items: Any) -> list[list[frozenset[str]]]:
    """Return for each alternative of a parsed pattern sets of which each match has one text each.

    The texts are in lower case.
    """
    if len(items) == 1:
        operation, argument = items[0]
        if str(operation) == "SUBPATTERN":
            return _alternatives(argument[-1])
        if str(operation) == "BRANCH":
            return [found for branch in argument[1] for found in _alternatives(branch)]
    return [_needed(items)]


def _needed(items: Any) -> list[frozenset[str]]:
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
            found += _needed(argument[-1])
        elif kind == "BRANCH":
            branches = [_longest(_needed(branch)) for branch in argument[1]]
            found.append(frozenset().union(*branches) if all(branches) else frozenset())
        elif kind == "MAX_REPEAT" and argument[0] > 0:
            found += _needed(argument[2])
    found.append(frozenset({run} - {""}))
    return [texts for texts in found if texts]
