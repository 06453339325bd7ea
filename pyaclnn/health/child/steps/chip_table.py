# SPDX-License-Identifier: Apache-2.0
"""Health of all chips, by the table that ``npu-smi info`` prints."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.health.checks.finding import Finding, found, ok, skip, value
from pyaclnn.health.checks.npu_smi import TOOL, ask, find_tool
from pyaclnn.health.report.record import Evidence, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyaclnn.health.child.session import Session

__all__: list[str] = []

_SHOWN: Final = 500
_CHIP: Final = re.compile(
    r"^\|\s*(\d+)\s+(\S+)\s*\|\s*(\S[^|]*?)\s*\|\s*(\S+)\s+(-?\d+)\b[^\n]*\n"
    r"\|\s*(\d+)[^|]*\|\s*([0-9A-Fa-f:.]+)\s*\|",
    re.MULTILINE,
)
"""Two lines of the tool's table: NPU, name, health, power, temperature; chip and PCIe address."""
_POSSIBLE: Final = range(-40, 126)
_HOT: Final = 95
"""Degrees Celsius."""
_MILD: Final = re.compile("warning|minor|general", re.IGNORECASE)


def _healthy(session: Session) -> Finding:
    """Read the tool's table of all chips."""
    if session.task.simulated:
        return skip("not read: a simulated NPU has no npu-smi")
    tool = find_tool(os.environ)
    if tool is None:
        return skip(f"{TOOL} is not on PATH")
    text, failed = ask(tool, os.environ)
    if failed:
        return found("HW-005.failed", Evidence("log", TOOL, failed), reason=failed)
    chips = [_Chip(*words) for words in _CHIP.findall(text)]
    if not chips:
        return found("HW-005.unreadable", Evidence("log", TOOL, text[:_SHOWN]))
    seen = tuple(value(str(chip), f"{chip.health}, {chip.heat} °C") for chip in chips)
    return _worst(chips, seen) or ok(f"{TOOL} reports {len(chips)} chips, all OK", *seen)


def _worst(chips: Sequence[_Chip], seen: Sequence[Evidence]) -> Finding | None:
    """Build the finding of the first chip that breaks the worst rule; None if all keep all."""
    for outcome, rule in _RULES.items():
        for chip in filter(rule, chips):
            mild = outcome == "HW-005.health" and _MILD.search(chip.health)
            return found(
                outcome,
                *seen,
                status=Status.WARN if mild else None,
                name=chip,
                health=chip.health,
                heat=chip.heat,
                card=chip.card,
                chip=chip.chip,
            )
    return None


class _Chip(NamedTuple):
    """A chip in the tool's table, in its words."""

    card: str
    model: str
    health: str
    power: str
    heat: str
    chip: str
    bus: str

    def __str__(self) -> str:
        return f"NPU {self.card} chip {self.chip} ({self.model}, {self.bus})"


_RULES: Final[dict[str, Callable[[_Chip], bool]]] = {
    "HW-005.health": lambda chip: chip.health.upper() != "OK",
    "HW-005.absurd": lambda chip: int(chip.heat) not in _POSSIBLE,
    "HW-005.hot": lambda chip: int(chip.heat) > _HOT,
}
"""Outcome -> rule for a chip, the worst first."""
