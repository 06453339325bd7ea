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
    r"\|\s*(\d+)[^|]*\|\s*([0-9A-Fa-f:.]+)\s*\|(?:[^|\n]*?(\d+)\s*/\s*(\d+)\s*\|)?",
    re.MULTILINE,
)
"""Two lines of the tool's table: NPU, name, health, power, temperature; chip, PCIe address, used
and whole memory in MB, which is the last pair of numbers."""
_VISIBLE: Final = "ASCEND_RT_VISIBLE_DEVICES"
_FULL: Final = 0.95
"""Share of the memory with which hardly any program starts."""
_PROCESS: Final = re.compile(
    r"^\|(\s*\d+\s+\d+\s*\|\s*\d+\s*\|[^|\n]+\|\s*\d+)\s*\|$", re.MULTILINE
)
"""A line of the tool's table of processes: NPU and chip, process, name, memory in MB."""
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
    seen = (
        *(value(str(chip), f"{chip.health}, {chip.heat} °C") for chip in chips),
        *(value("process on it", " ".join(row.split())) for row in _PROCESS.findall(text)),
    )
    worst = _worst(chips, seen) or _uncounted(chips, seen, session.task.expected_devices)
    return worst or ok(f"{TOOL} reports {len(chips)} chips, all OK", *seen)


def _uncounted(
    chips: Sequence[_Chip], seen: Sequence[Evidence], expected: int | None
) -> Finding | None:
    """Build the finding of chips that no node stands for; None if there are none."""
    if expected is None or _VISIBLE in os.environ or len(chips) <= expected:
        return None
    return found("HW-005.count", *seen, count=len(chips), expected=expected)


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
                used=chip.used,
                memory=chip.memory,
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
    used: str
    memory: str

    def __str__(self) -> str:
        return f"NPU {self.card} chip {self.chip} ({self.model}, {self.bus})"


_RULES: Final[dict[str, Callable[[_Chip], bool]]] = {
    "HW-005.health": lambda chip: chip.health.upper() != "OK",
    "HW-005.absurd": lambda chip: int(chip.heat) not in _POSSIBLE,
    "HW-005.hot": lambda chip: int(chip.heat) > _HOT,
    "HW-005.full": lambda chip: int(chip.used or 0) > _FULL * int(chip.memory or 1),
}
"""Outcome -> rule for a chip, the worst first."""
