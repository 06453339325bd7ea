# SPDX-License-Identifier: Apache-2.0
"""The events by which a run tells how it goes."""

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
    """The run is about to begin; these checks are in it."""

    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Started:
    """A check began.

    Attributes:
        check: Which.
        device: On which device, for a check of one device.
    """

    check: Check
    device: int | None = None


@dataclass(frozen=True)
class Progress:
    """A check in a child process is still at it.

    Attributes:
        check: Which.
        device: On which device.
        seconds: For how long already.
        deadline: After how many seconds it is given up.
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
