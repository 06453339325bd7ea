# SPDX-License-Identifier: Apache-2.0
"""What was measured on a device, and what a finding asks of who hands out work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Final

from pyaclnn.health.report.fields import Rule

__all__ = ["BETTER", "PER_MILLION", "UNITS", "Figure", "Severity"]

PER_MILLION: Final = "/million"
"""How units end that are for each million of launches."""

UNITS: Final = (
    *("GB/s", "1/s", "ratio", "s", "count", "bytes", "°C", "MHz"),
    *(f"count{PER_MILLION}", f"bytes{PER_MILLION}"),
)
"""``GB/s`` is 1e9 bytes a second."""

BETTER: Final = ("more", "less", "neither")
"""Which values of a figure are better; of a ``neither`` no device is faulted."""


class Severity(str, Enum):
    """What a finding asks of who hands out work, in the words of a scheduler.

    Attributes:
        NONE: Nothing.
        MONITOR: The device, or the machine if the finding is of no device, may be used, but should
            be looked at again.
        DRAIN: It should be given no new work until somebody has seen to it.
    """

    NONE = "NONE"
    MONITOR = "MONITOR"
    DRAIN = "DRAIN"

    @property
    def asks(self) -> str:
        """What it asks for, in words; nothing of NONE."""
        words = {Severity.MONITOR: "look at it again", Severity.DRAIN: "give it no new work"}
        return words.get(self, "")


@dataclass(frozen=True)
class Figure:
    """One measurement.

    Attributes:
        name: What was measured, e.g. ``host_to_device_pinned``; the same on every device.
        value: How much, in ``unit``.
        unit: One of `UNITS`.
        better: One of `BETTER`.
    """

    name: Annotated[str, Rule(pattern=r"^[a-z][a-z0-9_]*$")]
    value: float
    unit: Annotated[str, Rule(enum=UNITS)]
    better: Annotated[str, Rule(enum=BETTER)] = "more"

    def __str__(self) -> str:
        """Return it as anybody would write it, e.g. ``host_to_device_pinned 24.1 GB/s``."""
        return f"{self.name} {self.value:.4g} {self.unit}"
