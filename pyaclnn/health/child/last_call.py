# SPDX-License-Identifier: Apache-2.0
"""Which C function a child was in when it crashed or hung.

The child notes each function of the C interface before it is called, in a page that it shares with
a file: what is written there outlives it.
"""

from __future__ import annotations

import mmap
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

__all__ = ["last_call", "note_calls"]

_ROOM: Final = 128
_PREFIX: Final = "acl"
_OURS: Final = "binding_"


def note_calls(path: Path) -> None:
    """Begin to note calls, in this thread.

    Args:
        path: The file to note them in.
    """
    path.write_bytes(bytes(_ROOM))
    with path.open("r+b") as file:
        page = mmap.mmap(file.fileno(), _ROOM)

    def note(frame: FrameType, event: str, function: Any) -> None:
        if event.startswith("c_"):
            name = getattr(function, "__name__", "")
            if name.startswith(_OURS):  # C of ours, which is told whom to call
                name = str(frame.f_locals.get("name"))
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
