# SPDX-License-Identifier: Apache-2.0
"""One named check, and the record of what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, TypeAlias

from pyaclnn.health.checks.check_context import Site
from pyaclnn.health.checks.finding import Finding, skip
from pyaclnn.health.checks.options import Level
from pyaclnn.health.report.figure import Severity
from pyaclnn.health.report.record import CheckResult, Status

__all__ = ["Check", "Look"]

Look: TypeAlias = Callable[[Site], Finding]
_NOT_FOR_THE_MOCK: Final = "the simulated NPU has no need of it"


@dataclass(frozen=True)
class Check:
    """One named check.

    Attributes:
        id: Its stable name: a family and a number, e.g. ``ENV-002``, or an operator, e.g.
            ``NUM-rms_norm``.
        title: What it is about, in a few words.
        explanation: What it looks at, why that matters and where the rule comes from.
        look: Looks at the machine without loading anything; None for what a child process does.
        category: The family in words.
        hardware: Whether only a machine with an NPU is looked at, and no simulated one.
        group: The child process that does it: ``host`` (touches no device of its own), or one that
            there is for each device; ``compared`` does without. None for a static check.
        needs: The checks that must have passed.
        level: The lowest level that includes it.
        seconds: The deadline of a check in a child.
    """

    id: str
    title: str
    explanation: str
    look: Look | None = None
    _: KW_ONLY
    category: str
    hardware: bool = False
    group: str | None = None
    needs: tuple[str, ...] = ()
    level: Level = Level.QUICK
    seconds: float = 30.0

    def examine(self, site: Site) -> Finding:
        """Return what a static check finds on a machine.

        Args:
            site: Where it looks.
        """
        assert self.look is not None  # noqa: S101  # the catalogue's promise for static checks
        if self.hardware and not site.examines_hardware:
            return skip(_NOT_FOR_THE_MOCK)
        return self.look(site)

    def result_id(self, device: int | None = None) -> str:
        """Return the id of a result, e.g. ``DEV-104@0`` for a check of device 0."""
        return self.id if device is None else f"{self.id}@{device}"

    def result(self, found: Finding, seconds: float, device: int | None = None) -> CheckResult:
        """Return the record of what this check found.

        Args:
            found: What it found.
            seconds: How long that took.
            device: The device, for a check of one device.
        """
        told: dict[str, Any] = {**vars(found), "severity": _severity(found, device)}
        del told["absent"]  # is about the run
        name = self.result_id(device)
        return CheckResult(
            id=name, title=self.title, category=self.category, seconds=seconds, **told
        )


def _severity(found: Finding, device: int | None) -> Severity:
    """What is broken gets no new work; a warning about a device is looked at again."""
    if found.severity is not None:
        return found.severity
    if found.status.broken:
        return Severity.DRAIN
    watched = found.status is Status.WARN and device is not None
    return Severity.MONITOR if watched else Severity.NONE
