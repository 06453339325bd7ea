# SPDX-License-Identifier: Apache-2.0
"""Values of variables, compared with the table of variables and with what lies on the disk."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.base.elf import fault_of_library
from pyaclnn.base.errors import text_of
from pyaclnn.health.checks.resources import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.machine import Variable
    from pyaclnn.health.checks.machine import Machine

__all__ = ["Problem", "problem_of"]

_SEPARATORS: Final = {"folders": ":", "files": "[: ]"}
_FILES: Final = frozenset({"file", "files", "json"})
_INTERFACES: Final = "/sys/class/net"


class Problem(NamedTuple):
    """Fault of a value.

    Attributes:
        outcome: The outcome of the check.
        words: The fault, the accepted values of a number, or the interfaces that are here.
        path: The path that is wrong.
        repair: The value that is right; empty if none is known.
    """

    outcome: str
    words: str
    path: str = ""
    repair: str = ""


def problem_of(machine: Machine, row: Variable) -> Problem | None:
    """Return the fault of a variable that is set; None if there is none.

    Args:
        machine: The machine.
        row: The row of the variable.
    """
    text = machine.environment[row.name]
    if row.kind == "number":
        return (
            None
            if re.fullmatch(row.pattern, text, re.ASCII)
            else Problem("ENV-004.refused", row.words)
        )
    if row.kind == "writable":
        return _not_writable(machine, text)
    if row.kind == "interfaces":
        return _absent(machine, text)
    if row.kind not in _SEPARATORS:
        return _misplaced(row, text) or (_garbled(machine, text) if row.kind == "json" else None)
    for entry in filter(None, re.split(_SEPARATORS[row.kind], text)):
        problem = _misplaced(row, entry) or (_foreign(entry) if row.kind == "files" else None)
        if problem is not None:  # the other entries stay as they are
            whole = text.replace(entry, problem.repair, 1) if problem.repair else ""
            return problem._replace(repair=whole)
    return None


def _misplaced(row: Variable, entry: str) -> Problem | None:
    """Return the fault of a path, with the path nearby that was meant."""
    if _fits(row, entry):
        return None
    there = os.path.lexists(entry)
    repair = next((near for near in _nearby(entry, row) if _fits(row, near)), "")
    if repair:
        return Problem("ENV-004.misplaced", _words(row, entry, there), entry, repair)
    if there and (row.kind in _FILES or (row.kind == "folders" and row.holds)):
        words = f"which has no {' or '.join(row.holds)}" if row.holds else "which is no file"
        return Problem("ENV-004.gone", words, entry)
    if there or row.kind == "folders":
        # Paths may have entries of what is not installed; damage is for the inventory to report.
        return None
    return Problem("ENV-004.gone", "which does not exist", entry)


def _words(row: Variable, entry: str, there: bool) -> str:
    """Return the fault of a path for which another was meant, in words."""
    if there:
        return f"which has no {' or '.join(row.holds)}" if row.holds else "which is no folder"
    if entry.startswith("~"):
        return "whose ~ only a shell replaces"
    return "which does not exist" if entry.startswith("/") else "a relative path"


def _fits(row: Variable, path: str) -> bool:
    if not path.startswith("/"):
        return row.kind == "files" and "/" not in path  # the loader looks for it
    if row.kind in _FILES:
        return os.path.isfile(path)  # noqa: PTH113  # never raises
    parts = [os.path.join(path, part) for part in row.holds] or [path]  # noqa: PTH118
    return any(map(os.path.isdir, parts))


def _nearby(entry: str, row: Variable) -> Iterator[str]:
    """Yield the paths that may have been meant."""
    plain = entry.strip().strip("'\"").strip()
    yield plain
    if "/" in plain:  # the missing slash of a path, not any folder of the root
        yield f"/{plain}"
    if plain.startswith("~"):
        yield os.path.expanduser(plain)  # noqa: PTH111  # never raises
    if not row.holds and not os.path.isfile(plain):  # noqa: PTH113  # any folder would do
        return
    yield os.path.dirname(plain)  # noqa: PTH120  # of any length
    for child in ("opp", "latest", "cann", os.path.basename(plain)):  # noqa: PTH119
        yield os.path.join(plain, child)  # noqa: PTH118


def _foreign(path: str) -> Problem | None:
    """Return the fault of a library that the loader finds and does not load."""
    if not path.startswith("/"):
        return None
    fault = fault_of_library(Path(path))
    return Problem("ENV-004.not_loaded", fault, path) if fault else None


def _absent(machine: Machine, text: str) -> Problem | None:
    """Return the fault of names of network interfaces; None if one is here, or none is known."""
    try:
        here = sorted(path.name for path in machine.at(_INTERFACES).iterdir())
    except OSError:
        here = []
    wanted = tuple(text.removeprefix("=").split(","))
    exact = text.startswith("=")
    known = any(name in wanted if exact else name.startswith(wanted) for name in here)
    if known or not here or text.startswith("^"):
        return None
    return Problem("ENV-004.no_interface", ", ".join(here), text)


def _garbled(machine: Machine, text: str) -> Problem | None:
    """Return the fault of a file of JSON that can be read."""
    try:
        json.loads(machine.text(text) or "null")
    except (ValueError, RecursionError) as error:
        return Problem("ENV-004.garbled", f"no JSON: {text_of(error)}", text)
    return None


def _not_writable(machine: Machine, text: str) -> Problem | None:
    """Return the fault of a folder that is made if it is missing."""
    place = text
    while not os.path.lexists(place) and os.path.dirname(place) not in {"", place}:  # noqa: PTH120
        place = os.path.dirname(place)  # noqa: PTH120
    if not os.path.isdir(place):  # noqa: PTH112  # never raises
        return Problem("ENV-004.log", f"and {place or text} is no folder", text)
    if not machine.may(Path(place), "wx"):
        owner = machine.owner(Path(place))
        return Problem("ENV-004.log", f"which this user may not write to: {owner}", text)
    reason = refusal(Path(place))
    return (
        Problem("ENV-004.log", f"and no file can be made there: {reason}", text) if reason else None
    )
