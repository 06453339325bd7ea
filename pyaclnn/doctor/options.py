# SPDX-License-Identifier: Apache-2.0
"""What a run of the doctor is asked to do, and the events by which it tells how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pyaclnn.doctor.catalogue import Level

if TYPE_CHECKING:
    from pyaclnn.doctor.catalogue import Check
    from pyaclnn.doctor.record import CheckResult

__all__ = ["Event", "Finished", "Listener", "Options", "Planned", "Progress", "Started"]


@dataclass(frozen=True)
class Options:
    """What to do.

    Attributes:
        level: How far to go.
        backend: ``cann``, ``mock`` or a folder; None for PYACLNN_BACKEND, then ``cann``.
        devices: The devices to examine, as the process numbers them; None for every visible one.
        only: Ids or families to run, with what they build on; empty for all of the level.
        skip: Ids or families to leave out.
        fail_on_warn: Whether a warning makes the run fail.
        soak: For how many seconds the operators are repeated at the end; 0 for not at all.
        deadline: No step in a child but the soak may take longer; None for each step's own.
        grace: How long a child may take to end after each signal.
    """

    level: Level = Level.MEDIUM
    backend: str | None = None
    devices: tuple[int, ...] | None = None
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    fail_on_warn: bool = False
    soak: float = 0.0
    deadline: float | None = None
    grace: float = 3.0


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
