# SPDX-License-Identifier: Apache-2.0
"""Ends of files, and error lines of CANN's own log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["error_lines", "tail"]

_MOST_OF_A_LOG: Final = 1 << 16
_MOST_LINES: Final = 12


def tail(path: Path, most: int = 6000) -> str:
    """Return the end of a file; empty if it cannot be read.

    Args:
        path: The file.
        most: The number of bytes.
    """
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(file.tell() - most, 0))
            return file.read().decode(errors="replace").strip()
    except OSError:
        return ""


def error_lines(folder: Path) -> str:
    """Return the last lines that CANN's log marks as errors.

    Args:
        folder: The folder in ASCEND_PROCESS_LOG_PATH; the log lies somewhere below it.
    """
    lines: list[str] = []
    for path in sorted(folder.rglob("*.log")):
        lines += [line for line in tail(path, _MOST_OF_A_LOG).splitlines() if "[ERROR]" in line]
    return "\n".join(lines[-_MOST_LINES:])
