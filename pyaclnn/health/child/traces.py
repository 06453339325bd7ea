# SPDX-License-Identifier: Apache-2.0
"""Traces that a child leaves: the C function it called, the instruction, and its logs.

The child notes each function of the C interface before it is called, in a page that it shares with
a file: the file outlives the child. It writes down its instruction when a signal ends it, and when
it is asked. If it waits inside the driver and does not answer, the kernel knows the instruction.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.cann.faults import QUESTION, places_in, routine_in

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["ask", "call_before", "crashed_at", "error_lines", "last_call", "note_calls", "tail"]

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


_ROOM: Final = 128
_PREFIX: Final = "acl"
_OURS: Final = "binding_"
_CALLED: Final[deque[str]] = deque(maxlen=16)
"""Functions that were called last, in order; none of those that only ask."""
_ASKING: Final = ("aclGet", "aclrtGet", "aclrtPeek", "aclrtQuery")
"""Beginnings of functions that report a lost device themselves, or do not reach for it."""
_PATIENCE: Final = 1.0
_POLL: Final = 0.02


def note_calls(path: Path) -> None:
    """Begin to note C functions that this thread calls.

    Args:
        path: The file to note them in.
    """
    path.write_bytes(bytes(_ROOM))
    with path.open("r+b") as file:
        page = mmap.mmap(file.fileno(), _ROOM)

    noted: object = None

    def note(frame: FrameType, event: str, function: Any) -> None:
        # Called for every call of the process: the frequent cases come first.
        nonlocal noted
        if event == "c_call":
            name = getattr(function, "__name__", "")
            if name.startswith(_OURS):  # C of ours, which takes the function as an argument
                name = str(frame.f_locals.get("name"))
            if name.startswith(_PREFIX):
                noted = function
                if not name.startswith(_ASKING):
                    _CALLED.append(name)
                page[:] = name.encode()[:_ROOM].ljust(_ROOM, b"\0")
        elif noted is not None and function is noted:  # it has returned, or raised
            noted = None
            page[:] = bytes(_ROOM)

    sys.setprofile(note)


def call_before(routine: str) -> str | None:
    """Return the function that was called last before another one; None if that is not known.

    Args:
        routine: The other one, which failed.
    """
    names = list(_CALLED)
    if routine in names:
        while names.pop() != routine:
            pass
    return names[-1] if names else None


def last_call(path: Path) -> str | None:
    """Return the function that was called and has not returned, if there is one.

    Args:
        path: The file that `note_calls` got.
    """
    try:
        name = path.read_bytes().rstrip(b"\0")
    except OSError:
        return None
    return name.decode(errors="replace") or None


def crashed_at(path: Path) -> tuple[str | None, str | None]:
    """Return where a child crashed.

    Args:
        path: The file in which the child notes faults.

    Returns:
        The routine that a launch had called, and the place, e.g. ``/lib64/libc.so.6+0xe5f7d``; each
        is None if it is not known.
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
        path: The file in which it notes faults. If it is missing, the child would not understand.

    Returns:
        As `crashed_at`.
    """
    if not path.exists():
        return None, _waits_at(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, QUESTION)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and not path.read_bytes().endswith(b"end\n"):
        time.sleep(_POLL)
    routine, place = crashed_at(path)
    return routine, place or _waits_at(pid)


def _waits_at(pid: int) -> str | None:
    """Return the place at which a process waits in the kernel; None if it runs or is protected."""
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
