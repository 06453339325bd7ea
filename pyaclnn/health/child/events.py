# SPDX-License-Identifier: Apache-2.0
"""Events of a run, for those who show its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.report.record import CheckResult

__all__ = ["Event", "Finished", "Listener", "Planned", "Progress", "Started"]


@dataclass(frozen=True)
class Planned:
    """The run begins with these checks."""

    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Started:
    """A check begins, on a device if it is a check of one device."""

    check: Check
    device: int | None = None


@dataclass(frozen=True)
class Progress:
    """A check in a child process goes on.

    Attributes:
        check: The check.
        device: The device.
        seconds: How long it has been running.
        deadline: Seconds after which the child is ended.
    """

    check: Check
    device: int | None
    seconds: float
    deadline: float


@dataclass(frozen=True)
class Finished:
    """A check ended, or will not run."""

    result: CheckResult


Event: TypeAlias = "Planned | Started | Progress | Finished"
Listener: TypeAlias = Callable[[Event], None]
