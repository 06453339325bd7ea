# SPDX-License-Identifier: Apache-2.0
"""The driver's tool npu-smi: its output, and its numbers of a device.

A device has up to four numbers: the logical one that a process gives to CANN, the physical one
behind ASCEND_RT_VISIBLE_DEVICES, and card and chip as npu-smi counts them.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.base.paths import ExaminedPath
from pyaclnn.health.checks.driver import read_visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["NOT_RUN", "TOOL", "DevicePlace", "ask", "chips", "find_tool", "output_of", "place_of"]

TOOL: Final = "npu-smi"
NOT_RUN: Final = "cannot be run"
"""Words in the reason of a tool that did not even start."""
_PATIENCE: Final = 20.0
_MOST: Final = 4096
_LONGEST: Final = 4 << 20


@dataclass(frozen=True)
class DevicePlace:
    """Numbers of a device.

    Attributes:
        logical: The number that a process gives to CANN.
        physical: The number behind ASCEND_RT_VISIBLE_DEVICES; None if it cannot be known.
        card: The number of the card in npu-smi, None likewise.
        chip: The number of the chip on it.
        reason: The reason why a number is not known; empty if all are.
    """

    logical: int
    physical: int | None = None
    card: int | None = None
    chip: int = 0
    reason: str = ""

    @property
    def options(self) -> str:
        """The options that name it to npu-smi, by the best number that is known."""
        number = self.physical if self.card is None else self.card
        number = self.logical if number is None else number
        return f"-i {number} -c {self.chip}" if self.chip else f"-i {number}"

    def __str__(self) -> str:
        """Return all numbers that are known."""
        numbers = [f"logical {self.logical}"]
        numbers += [] if self.physical is None else [f"physical {self.physical}"]
        numbers += [] if self.card is None else [f"{TOOL} -i {self.card} -c {self.chip}"]
        return ", ".join(numbers)


def find_tool(environment: Mapping[str, str]) -> str | None:
    """Return the path of npu-smi; None if it is not on PATH.

    One that cannot be executed is returned as well: running it gives the reason.

    Args:
        environment: The environment, with PATH.
    """
    path = environment.get("PATH", os.defpath)
    places = (Path(folder or ".", TOOL) for folder in path.split(os.pathsep))
    return shutil.which(TOOL, path=path) or next(
        (str(place) for place in places if os.path.lexists(place)), None
    )


def place_of(device: int, environment: Mapping[str, str]) -> DevicePlace:
    """Return the numbers of a device, as far as npu-smi and the environment give them.

    Args:
        device: The device, as the process numbers it.
        environment: The environment, with PATH and ASCEND_RT_VISIBLE_DEVICES.
    """
    known, failed = chips(environment)
    text = environment.get("ASCEND_RT_VISIBLE_DEVICES")
    if text is None:
        visible = tuple(sorted(known) or range(device + 1))
    else:
        visible = read_visible(text, len(known) or _MOST).devices
    physical = visible[device] if device < len(visible) else None
    if not known:
        return DevicePlace(device, physical, reason=failed)
    if physical not in known:
        return DevicePlace(device, reason=f"{TOOL} info -m does not list device {device}")
    return DevicePlace(device, physical, *known[physical])


def chips(environment: Mapping[str, str]) -> tuple[dict[int, tuple[int, int]], str]:
    """Return card and chip by the physical number of a device, and the reason if none is known.

    Args:
        environment: The environment, with PATH.
    """
    tool = find_tool(environment)
    said, failed = ask(tool, environment, "-m") if tool else ("", f"{TOOL} is not on PATH")
    rows = (re.match(r"\s*(\d+)\s+(\d+)\s+(\d+)\s", line) for line in said.splitlines())
    known = {int(row[3]): (int(row[1]), int(row[2])) for row in rows if row}
    return known, "" if known else failed or f"{TOOL} info -m lists no chip"


def ask(tool: str, environment: Mapping[str, str], *what: str) -> tuple[str, str]:
    """Return the output of ``npu-smi info``, and the reason if there is none.

    Args:
        tool: The path of npu-smi.
        environment: The environment of the tool.
        what: Its arguments behind ``info``.
    """
    return output_of([tool, "info", *what], environment)


def output_of(command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the output of a tool of the machine, and the reason if there is none.

    Args:
        command: The path of the tool, and its arguments.
        environment: The environment of the tool.
    """
    tool, name = command[0], Path(command[0]).name
    if tool in _DEAF:  # asked once more it would hang again
        return "", _DEAF[tool]
    try:
        process = subprocess.Popen(  # noqa: S603  # what the machine's PATH names
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return "", f"{name} {NOT_RUN}: {_refusal(ExaminedPath(tool), error)}"
    with process:
        text, failed = _read(process, name)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # what it may have started and left
    if failed:
        _DEAF[tool] = failed
        return "", failed
    if process.returncode:
        words = text.strip().splitlines()
        status = f"{name} ended with status {process.returncode}"
        return "", f"{status}{f': {words[-1]}' if words else ''}"
    return text, ""


def _refusal(tool: ExaminedPath, error: OSError) -> str:
    """Return the reason why a program is not run."""
    if absence := tool.absence():
        return f"{tool} is {absence}" if tool.is_symlink() else absence
    if tool.is_dir():
        return f"{tool} is a folder"
    if isinstance(error, FileNotFoundError):
        return f"the interpreter or loader that {tool} asks for does not exist"
    return f"{tool}: {error.strerror}"


_DEAF: Final[dict[str, str]] = {}
"""Tools that did not end by themselves, with the reason."""


def _read(process: subprocess.Popen[bytes], name: str) -> tuple[str, str]:
    """Return the output of a tool, and the reason if it is not complete."""
    assert process.stdout is not None  # noqa: S101  # it is a pipe
    end, text = time.monotonic() + _PATIENCE, b""
    while len(text) <= _LONGEST:
        left = end - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return "", f"{name} did not answer for {_PATIENCE:.0f} s"
        part = os.read(process.stdout.fileno(), 1 << 16)
        if not part:
            try:
                process.wait(max(left, 1.0))
            except subprocess.TimeoutExpired:
                return "", f"{name} did not end within {_PATIENCE:.0f} s"
            return text.decode(errors="replace"), ""
        text += part
    return "", f"{name} prints without an end: more than {_LONGEST >> 20} MiB"
