# SPDX-License-Identifier: Apache-2.0
"""The user's folders: home, and those in which is kept what would take time to make again.

What is found there is compiled or run. So a folder that somebody else made, or could have written
to, is never taken for the user's: the names below the system's folder for temporary files can be
guessed.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

__all__ = ["cache_folder", "home_folder", "make_private"]

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def home_folder() -> Path:
    """Return the user's home; the root folder for a user that has none, as in some containers."""
    try:
        return Path.home()
    except RuntimeError:  # no HOME, and nobody in the user database with this number
        return Path("/")


def cache_folder(part: str) -> Path:
    """Choose the folder in which something is kept when nobody names one.

    Args:
        part: What is kept there, e.g. ``ascendc``: built kernels.

    Returns:
        ``$XDG_CACHE_HOME/pyaclnn/PART``, with ``~/.cache`` for the variable, if it can be made
        and written to; else one below the folder for temporary files that carries the user's id.

    Raises:
        PermissionError: The folder below that for temporary files is not the user's own.
        OSError: None can be made.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else home_folder() / ".cache"
    folder = base / "pyaclnn" / part
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    import tempfile  # noqa: PLC0415  # it brings twelve modules, and is wanted here alone

    own = Path(tempfile.gettempdir()) / f"pyaclnn-{os.getuid()}"
    try:
        make_private(own)
    except OSError as error:
        if error.errno is None:  # it can be made, and is not the user's own
            raise
        raise OSError(
            error.errno,
            f"nothing can be kept: neither '{folder}' nor '{own}' can be made and written to "
            f"({error.strerror}); name a folder of your own in XDG_CACHE_HOME",
        ) from error
    return own / part


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
            f"{folder} {kind}, and what is kept there would be compiled or run: remove it, or name "
            "a folder of your own in XDG_CACHE_HOME"
        )
    if found.st_mode & _OTHERS_WRITE:
        folder.chmod(0o700)
        return False
    return True
