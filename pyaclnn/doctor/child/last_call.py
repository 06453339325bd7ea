# SPDX-License-Identifier: Apache-2.0
"""Which C function a child was in when it crashed or hung, and where the processor was.

The child notes each function of the C interface before it is called, in a page that it shares with
a file: what is written there outlives it. Where it hangs, the kernel says.
"""

from __future__ import annotations

import mmap
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["last_call", "note_calls", "place_of"]

_ROOM: Final = 128
_PREFIX: Final = "acl"


def note_calls(path: Path) -> None:
    """Begin to note calls, in this thread.

    Args:
        path: The file to note them in.
    """
    path.write_bytes(bytes(_ROOM))
    with path.open("r+b") as file:
        page = mmap.mmap(file.fileno(), _ROOM)

    def note(_: FrameType, event: str, function: Any) -> None:
        if event.startswith("c_"):
            name = getattr(function, "__name__", "")
            if name.startswith(_PREFIX):
                begun = name.encode() if event == "c_call" else b""
                page[:] = begun[:_ROOM].ljust(_ROOM, b"\0")

    sys.setprofile(note)


def last_call(path: Path) -> str | None:
    """Return the function that was called and has not returned, if there is one.

    Args:
        path: The file that the child was given.
    """
    try:
        name = path.read_bytes().rstrip(b"\0")
    except OSError:
        return None
    return name.decode(errors="replace") or None


def place_of(pid: int) -> str | None:
    """Return library and offset of the instruction at which a process waits in the kernel.

    Args:
        pid: The process.

    Returns:
        For example ``/lib64/libc.so.6+0xe5f7d``; None if it runs, or may not be looked at.
    """
    process = Path(f"/proc/{pid}")
    try:
        words = (process / "syscall").read_text(encoding="ascii").split()
        maps = (process / "maps").read_text(encoding="utf-8", errors="replace")
        address = int(words[-1], 16)
    except (OSError, ValueError, IndexError):  # 'running' is no address
        return None
    for line in maps.splitlines():
        span, _, offset, _, _, *path = line.split(maxsplit=5)
        low, high = (int(end, 16) for end in span.split("-"))
        if low <= address < high and path:
            return f"{path[0]}+{address - low + int(offset, 16):#x}"
    return None
