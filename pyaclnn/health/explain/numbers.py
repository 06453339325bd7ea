# SPDX-License-Identifier: Apache-2.0
"""Numbers of the system in a line, as errno and signals, and CANN's texts of its own numbers.

Sources: errno(3), signal(7); bash(1) for exit codes above 128; the kernel's convention to return
numbers of errors below zero. The runtime prints the name of an internal number in lower case.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import signal
from typing import TYPE_CHECKING, Final

from pyaclnn.cann import status as codes
from pyaclnn.facts.explanations import internal_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["code_of_text", "with_words"]

_TEXT: Final = re.compile(r"(?i)\b(?:reason|desc(?:ription)?)\s*[=:]\s*\[([^\]]{3,80})\]")
_EMPTY_WORDS: Final = {"error", "err", "fail", "failed", "invalid", "pointer", "the", "a", "is"}
_BEYOND_SIGNALS: Final = 128
"""Exit codes of a shell are numbers of signals above this."""


def code_of_text(line: str) -> int | None:
    """Return the status code whose name the runtime prints in words, as ``reason=[kernel lookup]``.

    Args:
        line: The line.
    """
    match = _TEXT.search(line)
    words = _words(match[1]) if match else frozenset()
    near = [known for known in _codes_by_words() if known <= words]
    return _codes_by_words()[max(near, key=len)] if near else None


@functools.cache
def _codes_by_words() -> Mapping[frozenset[str], int]:
    names = [(name.removeprefix("ACL_ERROR_RT_"), code) for code, name in codes.names().items()]
    found = {_words(name): code for name, code in [*internal_codes().values(), *names]}
    return {words: code for words, code in found.items() if len(words) > 1}


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall("[a-z]+", text.lower().replace("_", " "))) - _EMPTY_WORDS


def with_words(line: str) -> str:
    """Return a line with the system's own texts for its numbers of errors and signals.

    Args:
        line: The line.
    """
    for pattern, text_of in _SYSTEM:
        line = pattern.sub(text_of, line)
    return line


def _error(match: re.Match[str]) -> str:
    number = int(match[match.lastindex or 0])
    return f"{match[0]} {os.strerror(number)}" if number in errno.errorcode else match[0]


def _signal(match: re.Match[str]) -> str:
    number = int(match[match.lastindex or 0]) % _BEYOND_SIGNALS
    with contextlib.suppress(ValueError):
        name = signal.Signals(number).name
        return f"died with signal {number} ({name}): {signal.strsignal(number)}"
    return match[0]


_SYSTEM: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (
        re.compile(
            r"(?i)(?<!\[)\berrno(?:\W{1,4}| is )(\d{1,3})\b(?! \()"
            r"|^\[(?: *\d+\.\d{6}\]|\w+\] ?(?:HCCP|HCCL|ROCE)\()"
            r".*\b(?:ret|rc|err|error)\W{1,3}-(\d{1,3})\b"
        ),
        _error,
    ),
    (
        re.compile(
            r"(?i)\bexit(?:ed)?[ _]?(?:with )?"
            r"(?:(?:code|status)?[\s:=(]{1,4}-(\d{1,2})|(?:code|status)[\s:=(]{1,4}(1[2-5]\d))\b"
        ),
        _signal,
    ),
)
"""Numbers in a line, and the texts of the system that take their places or stand behind them."""
