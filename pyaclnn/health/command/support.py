# SPDX-License-Identifier: Apache-2.0
"""Texts that support asks for beside a report, by `support.toml`: logs, versions, links."""

from __future__ import annotations

import glob
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import text_of
from pyaclnn.base.files import open_file
from pyaclnn.base.toml import read_toml
from pyaclnn.health.checks.npu_smi import output_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyaclnn.health.checks.machine import Machine

__all__ = ["collect"]

_MOST_FILES: Final = 16
"""Number of files of one kind, the newest."""
_MOST_BYTES: Final = 1 << 18
"""Bytes of one file, its last."""
_LARGEST: Final = 1 << 50
_NODE: Final = re.compile(r"/dev/(?:v?davinci|devmm_svm|hisi_hdc)\w*")


def collect(machine: Machine) -> dict[str, str]:
    """Collect the texts by the names of their files in a bundle; those without a source are absent.

    Args:
        machine: The machine.
    """
    table = read_toml(Path(__file__).with_name("support.toml"))
    texts = {name: _printed(command, machine) for name, command in table["commands"].items()}
    texts |= {name: _written(patterns, machine) for name, patterns in table["files"].items()}
    for name, pattern in table["lines"].items():
        kept = re.compile(pattern)
        texts[name] = "".join(
            line for line in texts[name].splitlines(keepends=True) if kept.search(line)
        )
    texts["holders.txt"] = "".join(_holders(machine))
    return {name: text for name, text in texts.items() if text}


def _printed(command: Sequence[str], machine: Machine) -> str:
    tool = shutil.which(command[0], path=machine.environment.get("PATH"))
    if tool is None:
        return ""
    text, reason = output_of([tool, *command[1:]], machine.environment)
    return text or f"{reason}\n"


def _written(patterns: Sequence[str], machine: Machine) -> str:
    """Return the ends of the files that fit, each under its name, the newest first."""
    log = machine.environment.get("ASCEND_PROCESS_LOG_PATH") or str(machine.home / "ascend/log")
    found: list[tuple[float, Path]] = []
    for pattern in patterns:
        place = machine.at(pattern.format(log=glob.escape(log))).relative_to(machine.root)
        for path in machine.root.glob(str(place)):
            changed = _time_of(path)
            if changed is not None:
                found.append((changed, path))
    newest = [path for _, path in sorted(found, reverse=True)[:_MOST_FILES]]
    return "".join(f"==> {machine.shown(path)}\n{_end_of(path)}\n" for path in newest)


def _time_of(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _end_of(path: Path) -> str:
    try:
        with open_file(path, "a log", most=_LARGEST) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - _MOST_BYTES, 0))
            return file.read(_MOST_BYTES).decode(errors="replace")
    except (OSError, ValueError) as error:
        return f"not read: {text_of(error)}"


def _holders(machine: Machine) -> Iterator[str]:
    """Yield a line for each process that has a device open."""
    for process in sorted(machine.at("/proc").glob("[0-9]*")):
        try:
            opened = {str(link.readlink()) for link in (process / "fd").iterdir()}
        except OSError:  # it ended, or belongs to another user
            continue
        nodes = sorted(node for node in opened if _NODE.fullmatch(node))
        if nodes:
            name = machine.text(process / "comm") or "?"
            yield f"{process.name} {name.strip()}: {' '.join(nodes)}\n"
