# SPDX-License-Identifier: Apache-2.0
"""Names of machines, as schedulers write them: ``node[01-16,20],head``."""

from __future__ import annotations

import os
import re
from typing import Final

from pyaclnn.base.files import read_text

__all__ = ["expected_hosts", "is_same_host"]

_MOST: Final = 1 << 20
_NAME: Final = re.compile(r"(?:[^\s,\[\]]|\[[^\[\]]*\])+")
_RANGES: Final = re.compile(r"\[([^\[\]]*)\]")
_RANGE: Final = re.compile(r"(\d+)(?:-(\d+))?")


def expected_hosts(text: str) -> list[str]:
    """Return the names in a list of hosts, each once, in order.

    Args:
        text: Names with ranges in brackets, separated by commas or blanks; or a file of these, in
            which ``#`` begins a comment.

    Raises:
        ValueError: A range is wrong, there is no name, or the file cannot be read.
    """
    if os.path.lexists(text):
        try:
            lines = read_text(text, "a list of hosts").splitlines()
        except OSError as error:
            raise ValueError(f"'{text}' cannot be read: {error.strerror or error}.") from None
        text = " ".join(line.partition("#")[0] for line in lines)
    names = [name for match in _NAME.finditer(text) for name in _expanded(match[0])]
    if not names:
        raise ValueError("--expect names no host; it takes names like node[01-16], or a file")
    return list(dict.fromkeys(names))


def is_same_host(one: str, other: str) -> bool:
    """Return whether two names are of one machine; a domain counts where both have one."""
    short = one.partition(".")[0], other.partition(".")[0]
    return short[0] == short[1] if "." not in one or "." not in other else one == other


def _expanded(name: str) -> list[str]:
    match = _RANGES.search(name)
    if match is None:
        return [name]
    middles: list[str] = []
    for part in match[1].split(","):
        bounds = _RANGE.fullmatch(part.strip())
        if bounds is None:
            raise ValueError(f"'{part}' in '{name}' is no range of numbers, such as 01-16")
        first, last = int(bounds[1]), int(bounds[2] or bounds[1])
        if not 0 <= last - first < _MOST:
            raise ValueError(f"'{part}' in '{name}' must be a range of less than {_MOST} numbers")
        middles += [f"{number:0{len(bounds[1])}}" for number in range(first, last + 1)]
    rest = _expanded(name[match.end() :])
    return [name[: match.start()] + middle + end for middle in middles for end in rest]
