# SPDX-License-Identifier: Apache-2.0
"""Catalogue of the checks, and the plan of a run."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyaclnn.base.toml import fill
from pyaclnn.facts.operators import all_operators
from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.options import Level
from pyaclnn.health.checks.rows import FAMILIES, check_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyaclnn.health.checks.check import Look

__all__ = ["NothingLeftError", "UnknownCheckError", "checks", "find", "plan"]


class UnknownCheckError(ValueError):
    """No check has this name."""


class NothingLeftError(ValueError):
    """Every requested check is excluded as well."""


@functools.cache
def checks() -> tuple[Check, ...]:
    """Return every check in the order in which they run."""
    return tuple(check for family in FAMILIES for check in _of_family(family))


def _of_family(family: str) -> Iterator[Check]:
    rows = check_rows(family)
    static = any("group" not in row for row in rows.values())
    looks = import_module(f"{__package__}.{family}").LOOKS if static else {}
    for name, row in rows.items():
        # The row of an operator stands for all of them.
        for operator in all_operators() if name == "NUM-operator" else ("",):
            filled = fill(row, {"operator": operator})
            yield _check(name.replace("operator", operator), filled, looks.get(name))


def _check(name: str, row: dict[str, Any], look: Look | None) -> Check:
    level = Level[row.pop("level", "quick").upper()]
    seconds = row.pop("seconds", 30.0) + row.pop("seconds_an_operator", 0.0) * len(all_operators())
    return Check(name, look=look, level=level, seconds=seconds, **row)


@functools.cache
def _by_id() -> Mapping[str, Check]:
    return {check.id: check for check in checks()}


def find(name: str) -> Check:
    """Return a check by its id; an ``@`` and the device behind it are ignored.

    Raises:
        UnknownCheckError: There is none; the message lists all checks.
    """
    wanted = name.split("@", maxsplit=1)[0].strip().upper()
    known = next((check for check in checks() if check.id.upper() == wanted), None)
    if known is None:
        raise UnknownCheckError(f"there is no check {name!r}; there are {', '.join(_by_id())}")
    return known


def _matching(patterns: Iterable[str]) -> set[str]:
    """Return the ids that patterns name: an id, or a family like ``NUM``."""
    named: set[str] = set()
    for pattern in patterns:
        family = pattern.strip().upper()
        members = {check.id for check in checks() if check.id.split("-")[0] == family}
        named |= members or {find(pattern).id}
    return named


def plan(
    level: Level, only: Iterable[str] = (), skip: Iterable[str] = ()
) -> tuple[tuple[Check, ...], frozenset[str]]:
    """Choose the checks of a run.

    Args:
        level: The highest level to include; does not limit ``only``.
        only: Ids or families to run, with the checks that they need; empty for all.
        skip: Ids or families to exclude.

    Returns:
        The checks in order, and the ids of those to report as skipped.

    Raises:
        UnknownCheckError: A name fits no check.
        NothingLeftError: Every requested check is excluded.
    """
    skipped = _matching(skip)
    wanted = _matching(only) or {check.id for check in checks() if check.level <= level}
    if wanted <= skipped:
        raise NothingLeftError("nothing is left to check: all of it is skipped")
    pending = list(wanted)
    while pending:
        needed = set(_by_id()[pending.pop()].needs) - wanted
        wanted |= needed
        pending += needed
    return tuple(c for c in checks() if c.id in wanted), frozenset(skipped)
