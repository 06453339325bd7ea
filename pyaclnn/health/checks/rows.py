# SPDX-License-Identifier: Apache-2.0
"""Tables of the checks: the TOML files of this folder, a family of checks each.

Under ``all`` is what the checks of the family share; each check has a table of its own under its
id, and below it one for each outcome but success, see `pyaclnn.health.checks.finding.found`.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.toml import fill, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FAMILIES", "check_rows", "outcome_row"]

FAMILIES: Final = (
    "presence",
    "nodes",
    "driver",
    "environment",
    "layout",
    "libraries",
    "symbols",
    "operators",
    "python_packages",
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
