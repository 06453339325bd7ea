# SPDX-License-Identifier: Apache-2.0
"""A strict healthy machine, faults of it, and what the doctor and a user's program report."""

from __future__ import annotations

import contextlib
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.command.run import run
from pyaclnn.health.report.record import Status
from tests.doctor.case import OF_THE_TESTS
from tests.doctor.installations import ARCH, healthy
from tests.doctor.parts import SOURCES
from tests.doctor.sweep import ways

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyaclnn.health.report.record import Report
    from tests.doctor.installations import Fabricated
    from tests.doctor.parts import Parts
    from tests.doctor.sweep.faults import Fault

__all__ = ["Verdict", "examine", "strict", "user_program"]

PATIENCE: Final = 30.0
DEADLINE: Final = 15.0
"""Seconds for a step of the doctor, which shares the processors with other tests."""
_STATIC: Final = ("CANN", "HW", "DRV", "ENV", "LIB", "SYM", "PKG", "MOCK", "SYS", "EXT", "PY")
_TABLES: Final[dict[str, dict[str, Callable[[Path], None]]]] = {
    "file": ways.FILE,
    "folder": ways.FOLDER,
    "link": ways.LINK,
    "node": ways.NODE,
}
_NPU_SMI: Final = """#!/bin/sh
case "$2 $3" in
" ")
  echo "| NPU   Name | Health | Power(W) Temp(C) |"
  echo "| 0     910B3               | $KIT_HEALTH            | 93.6        $KIT_HEAT   0    / 0 |"
  echo "| 0                         | 0000:C1:00.0  | 0           0    / 0          3161 / 65536 |"
  ;;
"-m "*) echo "NPU ID  Chip ID  Chip Logic ID  Chip Name"; echo "0 0 0 Ascend 910B3" ;;
"-t health") echo "  Health Status : $KIT_HEALTH"; echo "  Error Code : NA" ;;
"-t common") echo "  NPU Temperature (C) : $KIT_HEAT"; echo "  Aicore cur Freq (MHZ) : 1800" ;;
"-t ecc") echo "  HBM Single Bit Error Count : 0"; echo "  HBM Double Bit Error Count : 0" ;;
esac
"""
_TOOLS: Final = {
    "empty": "exit 0",
    "garbage": "head -c 4000 /dev/urandom",
    "fails": "echo 'dcmi module initialize failed. ret is -8005'; exit 1",
    "hangs": "sleep 1000",
    "endless": "exec yes 'NPU 0 Chip 0'",
}


@dataclass(frozen=True)
class Verdict:
    """Outcome of one fault.

    Attributes:
        works: True if a user's program runs and computes correctly.
        output: The last line that the program printed.
        status: The doctor's exit status; None if it did not end.
        named: True if its first finding names the target.
        first: Its first finding.
    """

    works: bool
    output: str
    status: int | None
    named: bool
    first: str

    def judged(self, faults: Sequence[Fault]) -> str:
        """Return ``right``, or the way in which the doctor is wrong.

        Of several faults one may hide another: then it must only not call "in order" what fails.
        """
        if self.status is None or self.status == -1:
            return "no end"
        if len(faults) > 1:
            return "missed" if not self.works and self.status == 0 else "right"
        return self._judged_alone(faults[0])

    def _judged_alone(self, fault: Fault) -> str:
        silent = not self.first
        if fault.kind == "tool" and fault.way in {"critical", "negative"}:
            return "right" if self.named else "missed"
        if fault.way in ways.HARMLESS or (fault.kind, fault.target) == ("limit", "cores"):
            return "right" if silent or not self.works else "false alarm"
        if not self.works and self.status == 0:
            return "missed"
        if silent:
            return "right"
        return "right" if self.named else "not named"


def user_program(folder: Path, parts: Parts) -> Path:
    """Compile the program that a user runs; returns its path."""
    target = folder / "user"
    command = [os.environ.get("CC", "cc"), "-O1", "-D_GNU_SOURCE", f"-I{parts.headers}"]
    for name, libraries in (("8.1", parts.old), ("9.1", parts.new)):
        found = [str(path) for path in sorted(libraries.glob("*.so"))]
        subprocess.run(
            [
                *command,
                str(SOURCES / "user.c"),
                *found,
                "-Wl,--allow-shlib-undefined",
                "-lm",
                "-o",
                f"{target}-{name}",
            ],
            check=True,
        )
    return target


def strict(root: Path, layout: str, parts: Parts) -> Fabricated:
    """Make a healthy machine whose libraries read the files that CANN's read."""
    made = healthy(root, layout, parts)
    tool = made.write("/usr/local/bin/npu-smi", _NPU_SMI)
    tool.chmod(0o755)
    made.environment.update(
        KIT_ROOT=str(root),
        KIT_CHIPS=str(made.cann.resolve() / ARCH / "data/platform_config"),
        KIT_HEALTH="OK",
        KIT_HEAT="41",
        PATH=f"{tool.parent}:{made.environment['PATH']}",
        HOME=str(root / "home/user"),
    )
    (root / "tmp").mkdir()
    made.environment["TMPDIR"] = str(root / "tmp")
    return made


def examine(faults: Sequence[Fault], root: Path, parts: Parts, program: Path) -> Verdict:
    """Make a machine with faults; let the doctor look at it and a user's program run.

    Limits of this process are lowered: call it in a process of its own.
    """
    made = strict(root, faults[0].layout, parts)
    gone = (OSError,) if len(faults) > 1 else ()  # the target, with a folder that holds it
    for fault in faults:
        with contextlib.suppress(*gone):
            _break(made, fault)
    report = _doctor(made, quick=True)
    of_files = all(fault.kind in _TABLES for fault in faults)
    if report.exit_status == 0 and not (of_files and _inert(made, program)):
        report = _doctor(made, quick=False)
    for fault in faults:
        if fault.way == ways.UNREADABLE and os.getuid() == 0 and (root / fault.target).exists():
            (root / fault.target).chmod(0o755)
            ways.remove(root / fault.target)  # root reads what others may not
    works, output = _truth(made, program)
    found = _problems(report)
    return Verdict(
        works,
        output,
        report.exit_status,
        bool(found) and any(_names(fault, found[0]) for fault in faults),
        found[0][:4000] if found else "",
    )


def _inert(made: Fabricated, program: Path) -> bool:
    """Return whether a program works: so would the doctor's operators, which do the same."""
    return _truth(made, program)[0]


def _doctor(made: Fabricated, *, quick: bool) -> Report:
    if quick:
        options = Options(level=Level.QUICK)
    else:
        only = (*_STATIC, "DEV", "FIG-106", "NUM-rms_norm")
        options = Options(only=only, skip=OF_THE_TESTS, grace=0.5, deadline=DEADLINE)
    return run(options, machine=made.machine())


def _problems(report: Report) -> list[str]:
    quiet = {Status.PASS, Status.SKIP, Status.NOT_RUN}
    return [
        " | ".join(
            [
                result.id,
                result.summary,
                *result.causes,
                result.next_step or "",
                *(f"{e.label}: {e.text}" for e in result.evidence),
            ]
        )
        for result in report.results
        if result.status not in quiet
    ]


def _names(fault: Fault, finding: str) -> bool:
    name = fault.target.rstrip("/").rpartition("/")[2]
    return name in finding or name.removesuffix("GetWorkspaceSize") in finding


def _break(made: Fabricated, fault: Fault) -> None:
    variables, target = made.environment, fault.target
    if fault.kind in _TABLES:
        way: Callable[[Path], None] = _TABLES[fault.kind][fault.way]
        way(made.root / target)
    elif fault.kind == "variable":
        first, colon, rest = variables[target].partition(":")
        value = ways.VARIABLE[fault.way](first)
        if value is None or (not value and not colon):
            variables.pop(target) if value is None else variables.update({target: ""})
        else:
            variables[target] = f"{value}{colon}{rest}"
    elif fault.kind == "number":
        variables[target] = ways.WORDS[fault.way]
    elif fault.kind == "answer":
        variables["PYACLNN_MOCK_FAULTS"] = f"{target}={fault.way}"
    elif fault.kind == "tool":
        _break_tool(made, fault.way)
    else:
        ways.limit(target)


def _break_tool(made: Fabricated, way: str) -> None:
    if way in {"critical", "negative"}:
        key, value = {"critical": ("HEALTH", "Critical"), "negative": ("HEAT", "-4000")}[way]
        made.environment[f"KIT_{key}"] = value
    else:
        tool = made.write("/usr/local/bin/npu-smi", f"#!/bin/sh\n{_TOOLS[way]}\n")
        tool.chmod(0o755)


def _truth(made: Fabricated, program: Path) -> tuple[bool, str]:
    # The working folder is not the machine's: relative paths of variables lead nowhere.
    try:
        done = subprocess.run(
            [f"{program}-{made.layout}"],
            env=made.environment,
            cwd="/",
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        return False, str(error)
    words = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode == 0, words[0] if words else f"status {done.returncode}"
