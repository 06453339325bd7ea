# SPDX-License-Identifier: Apache-2.0
"""Measurements of a device, and the severity of a finding in the words of a scheduler."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from pyaclnn.health.report.layout import Finite

__all__ = ["Better", "Figure", "Severity", "Unit"]

Unit: TypeAlias = Literal[
    "GB/s", "1/s", "ratio", "s", "count", "bytes", "°C", "MHz", "count/million", "bytes/million"
]
"""``GB/s`` is 1e9 bytes a second; ``/million`` counts for each million of launches."""

Better: TypeAlias = Literal["more", "less", "neither"]
"""Direction of a figure: which values are better; with ``neither`` no device is at fault."""


class Severity(str, Enum):
    """Request of a finding to whoever schedules work.

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
        """The request in words; empty for NONE."""
        words = {Severity.MONITOR: "look at it again", Severity.DRAIN: "give it no new work"}
        return words.get(self, "")


class Figure(Struct, frozen=True, forbid_unknown_fields=True):
    """One measurement.

    Attributes:
        name: The measured quantity, e.g. ``host_to_device_pinned``; the same on every device.
        value: The value in ``unit``.
        unit: One of `Unit`.
        better: One of `Better`.
    """

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*$(?!\n)")]
    value: Finite
    unit: Unit
    better: Better = "more"

    def __str__(self) -> str:
        """Return name, value and unit, e.g. ``host_to_device_pinned 24.1 GB/s``."""
        return f"{self.name} {self.value:.4g} {self.unit}"
