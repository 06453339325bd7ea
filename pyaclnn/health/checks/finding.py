# SPDX-License-Identifier: Apache-2.0
"""Finding of a check, the functions that build one, and the tables of its texts.

The tables are the TOML files of this folder, a family of checks each. Under ``all`` is what the
checks of the family share; each check has a table of its own under its id, and below it one for
each outcome but success, see `found`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.toml import fill, read_toml
from pyaclnn.health.report.record import Evidence, Number, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sized

    from pyaclnn.health.report.record import Figure, Severity

__all__ = [
    "FAMILIES",
    "Finding",
    "at_path",
    "check_rows",
    "found",
    "more",
    "ok",
    "outcome_row",
    "skip",
    "value",
]

FAMILIES: Final = (
    "presence",
    "nodes",
    "driver",
    "environment",
    "resources",
    "layout",
    "libraries",
    "symbols",
    "operators",
    "inventory",
    "python_packages",
    "products",
    "runtime",
    "chips",
    "device",
    "numbers",
    "figures",
)
"""The families in the order in which their checks run: each builds on those before it."""


class _Texts(dict[str, object]):
    """Values of names in braces; a name without one stands for a shared text of the file."""

    def __init__(self, values: Mapping[str, object], shared: Mapping[str, str]) -> None:
        super().__init__(values)
        self._shared = shared

    def __missing__(self, name: str) -> str:
        return self._shared[name].format_map(self)


@functools.cache
def _file(family: str) -> Mapping[str, Any]:
    return read_toml(Path(__file__).with_name(f"{family}.toml"))


def check_rows(family: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a family by id, with what its checks share, without the outcomes."""
    file = _file(family)
    tables = {name: row for name, row in file.items() if name not in {"all", "texts"}}
    return {
        name: {**file["all"], **{k: v for k, v in row.items() if not isinstance(v, dict)}}
        for name, row in tables.items()
    }


def outcome_row(outcome: str, texts: Mapping[str, object]) -> dict[str, Any]:
    """Return the row of an outcome with its texts filled in.

    Args:
        outcome: The id of the check and the name of the outcome, e.g. ``ENV-001.gone``.
        texts: Values of the names in braces.

    Raises:
        KeyError: There is no such outcome, or a text has a name without a value.
    """
    check, _, name = outcome.partition(".")
    file = next(file for file in map(_file, FAMILIES) if check in file)
    row: dict[str, Any] = fill(file[check][name], _Texts(texts, file.get("texts", {})))
    return row


@dataclass(frozen=True)
class Finding:
    """The outcome of a check, without the check, its time and its duration.

    Attributes:
        status: The status of the check.
        summary: The finding in one line.
        evidence: The facts that it is based on.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next.
        code: CANN's status code, if one is behind it.
        code_name: The code's name.
        numbers: Comparisons of numeric checks.
        severity: The consequence for a scheduler; None to derive it from the status.
        figures: Measurements of checks that measure.
        absent: True if there is nothing to examine: no CANN, or no device.
    """

    status: Status
    summary: str
    evidence: tuple[Evidence, ...] = ()
    causes: tuple[str, ...] = ()
    next_step: str | None = None
    code: int | None = None
    code_name: str | None = None
    numbers: tuple[Number, ...] = ()
    severity: Severity | None = None
    figures: tuple[Figure, ...] = ()
    absent: bool = False


def found(
    outcome: str,
    *evidence: Evidence,
    status: Status | None = None,
    causes: tuple[str, ...] = (),
    **texts: object,
) -> Finding:
    """Build the finding of an outcome that the tables of checks describe.

    Args:
        outcome: The id of the check and the name of the outcome, e.g. ``ENV-001.gone``.
        evidence: The facts that it is based on.
        status: The status, instead of the one in the table.
        causes: The causes, of an outcome without any in the table.
        texts: Values of the names in braces in the texts of the outcome.
    """
    row = outcome_row(outcome, texts)
    return Finding(
        status or Status(row.get("status", "fail").upper()),
        row["summary"],
        evidence,
        row.get("causes", causes),
        row.get("next_step"),
        absent=row.get("absent", False),
    )


def ok(summary: str, *evidence: Evidence) -> Finding:
    """Build a finding without fault."""
    return Finding(Status.PASS, summary, evidence)


def skip(reason: str) -> Finding:
    """Build the finding of a check that does not apply here."""
    return Finding(Status.SKIP, reason)


def more(items: Sized, text: str) -> str:
    """Return a text about the number of items after the first; an empty one if there are none.

    Args:
        items: The items.
        text: The text, with ``{}`` for the number.
    """
    return text.format(len(items) - 1) if len(items) > 1 else ""


def value(label: str, text: object) -> Evidence:
    """Build evidence of a value."""
    return Evidence("value", label, str(text))


def at_path(path: Path | str, text: str) -> Evidence:
    """Build evidence of something seen at a path."""
    return Evidence("path", str(path), text)
