# SPDX-License-Identifier: Apache-2.0
"""The folder in which built kernels are kept, and whether what lies in it is one's own.

What is found there is run. So a folder that somebody else made, or could have written to, is never
taken for the user's: the names below the system's folder for temporary files can be guessed.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from pyaclnn.cann.discovery import home_folder

__all__ = ["default_cache_dir", "make_private"]

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def default_cache_dir() -> Path:
    """Choose the folder in which built kernels are kept when nobody names one.

    Returns:
        ``$XDG_CACHE_HOME/pyaclnn/ascendc``, with ``~/.cache`` for the variable, if it can be made
        and written to; else one below the folder for temporary files that carries the user's id.

    Raises:
        PermissionError: The folder below that for temporary files is not the user's own.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else home_folder() / ".cache"
    folder = base / "pyaclnn" / "ascendc"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    own = Path(tempfile.gettempdir()) / f"pyaclnn-{os.getuid()}"
    make_private(own)
    return own / "ascendc"


def make_private(folder: Path) -> bool:
    """Make a folder to which nobody else can write, below others that exist or not.

    Args:
        folder: The folder; it may exist.

    Returns:
        Whether nobody else could have written to it before: what lies in it can be trusted.

    Raises:
        PermissionError: It is somebody else's, or a link, or a file.
        OSError: It cannot be made.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        kind = "is no folder" if not stat.S_ISDIR(found.st_mode) else f"is user {found.st_uid}'s"
        raise PermissionError(
            f"{folder} {kind}, and kernels that are kept there would be run: remove it, or name a "
            "folder of your own in cache_dir or XDG_CACHE_HOME"
        )
    if found.st_mode & _OTHERS_WRITE:
        folder.chmod(0o700)
        return False
    return True
