# SPDX-License-Identifier: Apache-2.0
"""Where in which library a child was when it crashed, or is while it hangs.

The child writes it down when a signal ends it and when it is asked. Where it does not answer,
because it waits inside the driver, the kernel says.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Final

from pyaclnn.cann.faults import QUESTION, places_in, routine_in

__all__ = ["ask", "crashed_at", "waits_at"]

_PATIENCE: Final = 1.0
_POLL: Final = 0.02


def crashed_at(path: Path) -> tuple[str | None, str | None]:
    """Return the routine that a launch had called, and the place, each None if that is not known.

    Args:
        path: The file in which the child notes faults.

    Returns:
        The place is e.g. ``/lib64/libc.so.6+0xe5f7d``.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None, None
    return routine_in(text), _innermost(text)


def ask(pid: int, path: Path) -> tuple[str | None, str | None]:
    """Ask a child that hangs where it is.

    Args:
        pid: The child.
        path: The file in which it notes faults; without one it would not understand.

    Returns:
        What `crashed_at` does.
    """
    if not path.exists():
        return None, waits_at(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, QUESTION)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and not path.read_bytes().endswith(b"end\n"):
        time.sleep(_POLL)
    routine, place = crashed_at(path)
    return routine, place or waits_at(pid)


def waits_at(pid: int) -> str | None:
    """Return library and offset of the instruction at which a process waits in the kernel.

    Args:
        pid: The process.

    Returns:
        None if it runs, or may not be looked at.
    """
    process = Path(f"/proc/{pid}")
    try:
        words = (process / "syscall").read_text(encoding="ascii").split()
        maps = (process / "maps").read_text(encoding="utf-8", errors="replace")
        address = int(words[-1], 16)
    except (OSError, ValueError, IndexError):  # 'running' is no address
        return None
    return _innermost(f"at {address:x}\n{maps}")


def _innermost(text: str) -> str | None:
    place = next(iter(places_in(text)), None)
    return f"{place.path}+{place.offset:#x}" if place else None
