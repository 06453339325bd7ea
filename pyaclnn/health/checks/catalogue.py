# SPDX-License-Identifier: Apache-2.0
"""The checks: which there are, what each builds on, and which of them a run is made of."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.checks.options import Level

__all__ = ["NothingLeftError", "UnknownCheckError", "checks", "find", "plan"]

_FAMILIES: Final = (
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
"""The modules that have checks, in the order of the layers: what is built on comes first."""


class UnknownCheckError(ValueError):
    """No check has such a name."""


class NothingLeftError(ValueError):
    """Everything that was asked for was also to be left out."""


@functools.cache
def checks() -> tuple[Check, ...]:
    """Return every check in the order in which they run."""
    found: list[Check] = []
    for family in _FAMILIES:
        found += importlib.import_module(f"{__package__}.{family}").CHECKS
    return tuple(found)


@functools.cache
def _by_id() -> Mapping[str, Check]:
    return {check.id: check for check in checks()}


def find(name: str) -> Check:
    """Return a check by its id; what follows an ``@`` (a device) does not count.

    Raises:
        UnknownCheckError: There is none; the message lists all.
    """
    wanted = name.split("@", maxsplit=1)[0].strip().upper()
    known = next((check for check in checks() if check.id.upper() == wanted), None)
    if known is None:
        raise UnknownCheckError(f"there is no check {name!r}; there are {', '.join(_by_id())}")
    return known


def _matching(patterns: Iterable[str]) -> set[str]:
    """The ids that patterns name: an id, or a family like ``NUM``."""
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
        level: How far to go; does not limit what ``only`` names.
        only: Ids or families to run, with what they build on; empty for all.
        skip: Ids or families to leave out.

    Returns:
        The checks in order, and the ids of those that are to be reported as skipped.

    Raises:
        UnknownCheckError: A name fits no check.
        NothingLeftError: Everything that is wanted is also to be left out.
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
