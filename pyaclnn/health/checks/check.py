# SPDX-License-Identifier: Apache-2.0
"""A named check and the record of its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, TypeAlias

from pyaclnn.health.checks.check_context import CheckContext
from pyaclnn.health.checks.finding import Finding, skip
from pyaclnn.health.checks.options import Level
from pyaclnn.health.report.record import CheckResult, Severity, Status

__all__ = ["Check", "Look"]

Look: TypeAlias = Callable[[CheckContext], Finding]
_NOT_FOR_THE_MOCK: Final = "the simulated NPU has no need of it"


@dataclass(frozen=True)
class Check:
    """One named check.

    Attributes:
        id: Its stable name: a family and a number, e.g. ``ENV-002``, or an operator, e.g.
            ``NUM-rms_norm``.
        title: Its subject in a few words.
        explanation: What it examines, why that matters and the source of the rule.
        look: Examines the machine without loading anything; None if a child process does it.
        category: The family in words.
        hardware: Whether it applies to a machine with an NPU only, and to no simulated one.
        group: The child process that does it: ``host`` (touches no device of its own), or one that
            exists for each device; ``compared`` needs none. None for a static check.
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

    def examine(self, context: CheckContext) -> Finding:
        """Run a static check.

        Args:
            context: The machine and the run.
        """
        assert self.look is not None  # noqa: S101  # the catalogue's promise for static checks
        if self.hardware and not context.examines_hardware:
            return skip(_NOT_FOR_THE_MOCK)
        return self.look(context)

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
