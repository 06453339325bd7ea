# SPDX-License-Identifier: Apache-2.0
"""Health of all chips by ``npu-smi info``, and the links of their network ports by hccn_tool."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.health.checks.finding import Finding, found, ok, skip, value
from pyaclnn.health.checks.npu_smi import NOT_RUN, TOOL, ask, chips, find_tool, output_of
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
_COMPATIBILITY: Final = re.compile(r"^\s*Compatibility\s*:\s*(\S.*?)\s*$", re.MULTILINE)
_FITS: Final = re.compile("OK|NA|UNKNOWN", re.IGNORECASE)
LINK_TOOL: Final = "hccn_tool"
_LINK_TOOLS: Final = "/usr/local/Ascend/driver/tools"
_LINK: Final = re.compile(r"(?i)\blink(?: status)?\s*:\s*(up|down)\b")
_POSSIBLE: Final = range(-40, 126)
_HOT: Final = 95
"""Degrees Celsius."""
_MILD: Final = re.compile("warning|minor|general", re.IGNORECASE)


def _healthy(session: Session) -> Finding:
    """Read the tool's table of all chips."""
    tool = find_tool(os.environ)
    if tool is None:
        return skip(f"{TOOL} is not on PATH")
    text, failed = ask(tool, os.environ)
    if failed:
        outcome = "HW-005.not_run" if NOT_RUN in failed else "HW-005.failed"
        return found(outcome, Evidence("log", TOOL, failed), reason=failed)
    listed = [_Chip(*words) for words in _CHIP.findall(text)]
    if not listed:
        return found("HW-005.unreadable", Evidence("log", TOOL, text[:_SHOWN]))
    seen = (
        *(value(str(chip), f"{chip.health}, {chip.heat} °C") for chip in listed),
        *(value("process on it", " ".join(row.split())) for row in _PROCESS.findall(text)),
    )
    wrong = _worst(listed, seen) or _uncounted(listed, seen, session.task.expected_devices)
    return (
        wrong
        or _incompatible(listed, seen, tool)
        or ok(f"{TOOL} reports {len(listed)} chips, all OK", *seen)
    )


def _uncounted(
    listed: Sequence[_Chip], seen: Sequence[Evidence], expected: int | None
) -> Finding | None:
    """Build the finding of chips that no node stands for; None if there are none."""
    if expected is None or _VISIBLE in os.environ or len(listed) <= expected:
        return None
    return found("HW-005.count", *seen, count=len(listed), expected=expected)


def _incompatible(listed: Sequence[_Chip], seen: Sequence[Evidence], tool: str) -> Finding | None:
    """Build the finding of a card whose driver and firmware the tool holds for no pair."""
    for chip in {chip.card: chip for chip in listed}.values():
        text, _ = ask(tool, os.environ, "-t", "board", "-i", chip.card)
        answer = _COMPATIBILITY.search(text)
        if answer and not _FITS.fullmatch(answer[1]):
            said = value("Compatibility", answer[1])
            return found("HW-005.incompatible", *seen, said, name=chip, answer=answer[1])
    return None


def _linked(_: Session) -> Finding:
    """Read whether the network port of each device has a link."""
    tool = shutil.which(LINK_TOOL) or shutil.which(LINK_TOOL, path=_LINK_TOOLS)
    if tool is None:
        return skip(f"{LINK_TOOL} is not installed")
    known, failed = chips(os.environ)
    states = {}
    for device in sorted(known):
        text, failed = output_of([tool, "-i", str(device), "-link", "-g"], os.environ)
        if answer := _LINK.search(text):
            states[device] = answer[1].upper()
    if not states:
        return skip(f"{LINK_TOOL} names no link: {failed or 'its answer has no link status'}")
    seen = (value(f"{LINK_TOOL} -i {device} -link -g", state) for device, state in states.items())
    down = [device for device, state in states.items() if state != "UP"]
    if not down or len(down) == len(states):  # a machine that works alone needs none
        return ok(f"{len(states) - len(down)} of {len(states)} network ports have a link", *seen)
    return found("HW-007.down", *seen, device=down[0], down=len(down), count=len(states))


def _worst(listed: Sequence[_Chip], seen: Sequence[Evidence]) -> Finding | None:
    """Build the finding of the first chip that breaks the worst rule; None if all keep all."""
    for outcome, rule in _RULES.items():
        for chip in filter(rule, listed):
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
    "HW-005.no_memory": lambda chip: chip.memory == "0",
    "HW-005.absurd": lambda chip: int(chip.heat) not in _POSSIBLE,
    "HW-005.hot": lambda chip: int(chip.heat) > _HOT,
    "HW-005.full": lambda chip: int(chip.used or 0) > _FULL * int(chip.memory or 1),
}
"""Outcome -> rule for a chip, the worst first."""
