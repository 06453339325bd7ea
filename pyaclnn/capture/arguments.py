# SPDX-License-Identifier: Apache-2.0
"""Actions and types of the command lines of a capture; a command is imported when it runs."""

from __future__ import annotations

import argparse
import functools
import importlib
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ACTIONS", "TYPES"]

_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_LEAST_LIMIT: Final = 4096


def _run(module: str, name: str, options: argparse.Namespace) -> int:
    return int(getattr(importlib.import_module(f"pyaclnn.capture.{module}"), name)(options))


def _calls(text: str) -> tuple[int, int | None]:
    match = re.fullmatch(r"(\d*):(\d*)", text)
    if match is None or (match[1] and match[2] and int(match[1]) >= int(match[2])):
        message = f"{text!r} is no range of calls such as 1000:2000 or 1000:"
        raise argparse.ArgumentTypeError(message)
    return int(match[1] or 0), int(match[2]) if match[2] else None


def _operator(text: str) -> str:
    from pyaclnn.calling.by_name import c_spelling, closest_operators  # noqa: PLC0415  # it needs NumPy
    from pyaclnn.capture.roles import with_contents  # noqa: PLC0415

    known = with_contents()
    if text not in known:
        message = f"{text!r} is no operator; {closest_operators(c_spelling(text), known)}"
        raise argparse.ArgumentTypeError(message)
    return text


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if match is None or not int(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no size in bytes such as 4096, 64M or 2G")
    return int(match[1]) * _UNITS[match[2]]


def _limit(text: str) -> int:
    limit = _size(text)
    if limit < _LEAST_LIMIT:
        message = f"{text!r} is less than a trace begins with; it must be 4K or more"
        raise argparse.ArgumentTypeError(message)
    return limit


ACTIONS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    action: functools.partial(_run, module, name)
    for action, module, name in (
        ("capture", "program", "run_captured"),  # needs no NumPy, unlike the others
        ("replay", "commands", "replay_trace"),
        ("trace compare", "commands", "compare_traces"),
        ("trace show", "commands", "show_trace"),
        ("trace test", "commands", "write_test"),
    )
}
"""The function of each command, by the ``action`` of its row."""
TYPES: Final[dict[str, Callable[[str], Any]]] = {
    "calls": _calls,
    "recorded-operator": _operator,
    "size": _size,
    "limit": _limit,
}
"""The types of options, by the ``type`` of their rows."""
