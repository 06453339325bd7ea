# SPDX-License-Identifier: Apache-2.0
"""A broken machine, and what the doctor must say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.report.record import Status

if TYPE_CHECKING:
    from .breakages import Break

__all__ = ["OF_THE_TESTS", "QUICK", "Case"]

QUICK = Options(level=Level.QUICK)
OF_THE_TESTS = ("EXT-004",)
"""Checks of what belongs to the Python of the tests, not to the machine: torch-npu."""


@dataclass(frozen=True)
class Case:
    """One broken machine.

    Attributes:
        name: What is broken.
        broken: Breaks it.
        check: The first check that is not content.
        words: A pattern that its summary, causes or next step must contain.
        status: The status of that check.
        code: The exit status of the run.
        options: What the doctor is asked to do.
        layouts: In which layouts.
        devices: How many devices the machine has.
    """

    name: str
    broken: Break
    check: str
    words: str
    status: Status = Status.FAIL
    code: int = 1
    options: Options = QUICK
    layouts: tuple[str, ...] = ("8.1",)
    devices: int = 1
