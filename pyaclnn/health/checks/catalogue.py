# SPDX-License-Identifier: Apache-2.0
"""Catalogue of the checks, and the plan of a run."""

from __future__ import annotations

import functools
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.spelling import did_you_mean
from pyaclnn.base.toml import fill
from pyaclnn.facts.operators import all_operators
from pyaclnn.health.checks.context import Level
from pyaclnn.health.checks.finding import FAMILIES, Finding, check_rows
from pyaclnn.health.report.record import CheckResult, Severity, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = [
    "COMPARED",
    "IN_TURN",
    "SOAK",
    "THE_END",
    "TOGETHER",
    "Check",
    "NothingLeftError",
    "UnknownCheckError",
    "checks",
    "find",
    "plan",
]

THE_END: Final = "DEV-111"
"""The check of a child's own end, which the parent observes from outside."""
SOAK: Final = "NUM-302"
"""The check that only runs if a time for it is given."""
IN_TURN: Final = "figures"
"""The group of checks that run on one device after the other."""
TOGETHER: Final = "together"
"""The group of checks that all devices begin at the same moment."""
COMPARED: Final = "compared"
"""The group of checks that compare the figures that the others measured."""


class UnknownCheckError(ValueError):
    """No check has this name."""


class NothingLeftError(ValueError):
    """Every requested check is excluded as well."""


@dataclass(frozen=True)
class Check:
    """One named check.

    Attributes:
        id: Its stable name: a family and a number, e.g. ``ENV-002``, or an operator, e.g.
            ``NUM-rms_norm``.
        title: Its subject in a few words.
        explanation: Subject of the check, why it matters, and the source of the rule.
        category: The family in words.
        module: The module of its function, in this folder or in that of the child.
        implementation: The function, without the underscore that its name begins with.
        hardware: True if it applies to a machine with an NPU only, and to no simulated one.
        once: True if one of several simulated devices does it for all, which have its kernels.
        group: The child process that does it: ``host`` (touches no device of its own), or one that
            exists for each device; ``compared`` needs none. None for a static check.
        needs: The checks that must have passed.
        level: The lowest level that includes it.
        seconds: The deadline of a check in a child.
    """

    id: str
    title: str
    explanation: str
    _: KW_ONLY
    category: str
    module: str = ""
    implementation: str = ""
    hardware: bool = False
    once: bool = False
    group: str | None = None
    needs: tuple[str, ...] = ()
    level: Level = Level.QUICK
    seconds: float = 30.0

    @property
    def function(self) -> Callable[..., Finding]:
        """The function of a check that needs no child.

        Its argument is the `CheckContext`; of a comparison, the device and the `Measured` figures.
        """
        function: Callable[..., Finding] = getattr(
            import_module(f"{__package__}.{self.module}"), f"_{self.implementation}"
        )
        return function

    def result_id(self, device: int | None = None) -> str:
        """Return the id of a result, e.g. ``DEV-104@0`` for a check of device 0."""
        return self.id if device is None else f"{self.id}@{device}"

    def result(self, found: Finding, seconds: float, device: int | None = None) -> CheckResult:
        """Return the record of a finding of this check.

        Args:
            found: The finding.
            seconds: The duration.
            device: The device, for a check of one device.
        """
        fields: dict[str, Any] = {**vars(found), "severity": _severity(found, device)}
        del fields["absent"]  # is about the run
        name = self.result_id(device)
        return CheckResult(
            id=name, title=self.title, category=self.category, seconds=seconds, **fields
        )


def _severity(found: Finding, device: int | None) -> Severity:
    """Return the severity: drain for a fault, monitor for a warning about a device."""
    if found.severity is not None:
        return found.severity
    if found.status.broken:
        return Severity.DRAIN
    watched = found.status is Status.WARN and device is not None
    return Severity.MONITOR if watched else Severity.NONE


_EACH: Final = "NUM-operator"
"""The row of the checks of single operators."""


@functools.cache
def checks() -> tuple[Check, ...]:
    """Return every check in the order in which they run."""
    rows = ((row, family) for family in FAMILIES for row in check_rows(family))
    return tuple(check for row, family in rows for check in _of(row, family))


@functools.cache
def _of(row: str, family: str) -> tuple[Check, ...]:
    """Return the checks of a row: that of an operator stands for all of them."""
    made = []
    for operator in all_operators() if row == _EACH else ("",):
        given = fill(check_rows(family)[row], {"operator": operator})
        level = Level[given.pop("level", "quick").upper()]
        seconds = given.pop("seconds", 30.0)
        more = given.pop("seconds_an_operator", 0.0)
        seconds += more * len(all_operators()) if more else 0.0
        identity = row.replace("operator", operator)
        made.append(Check(identity, level=level, seconds=seconds, **given))
    return tuple(made)


@functools.cache
def _by_id() -> Mapping[str, Check]:
    return {check.id: check for check in checks()}


def find(name: str) -> Check:
    """Return a check by its id; an ``@`` and the device behind it are ignored.

    Raises:
        UnknownCheckError: There is none; the message lists the checks, those of operators as one.
    """
    wanted = name.split("@", maxsplit=1)[0].strip().upper()
    known = next((check for check in _like(wanted) if check.id.upper() == wanted), None)
    if known is None:
        numeric = {f"NUM-{operator}" for operator in all_operators()}
        listed = dict.fromkeys("NUM-OPERATOR" if i in numeric else i for i in _by_id())
        question = did_you_mean(name, _by_id(), lead="; ")
        raise UnknownCheckError(
            f"there is no check {name!r}; there are {', '.join(listed)}{question}"
        )
    return known


def _like(wanted: str) -> Iterator[Check]:
    """Yield the checks whose ids begin like one, of the last family first: a child needs few."""
    start = wanted.partition("-")[0]
    for family in reversed(FAMILIES):
        for row in check_rows(family):
            if row.startswith(start):
                yield from _of(row, family)


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
