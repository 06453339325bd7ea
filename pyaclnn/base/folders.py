# SPDX-License-Identifier: Apache-2.0
"""The user's home folder and cache folders.

Files in a cache folder are compiled or executed. Therefore a folder that another user created, or
could have written to, is never used: names below the folder for temporary files are predictable.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

__all__ = ["cache_folder", "cached_folders", "home_folder", "make_private"]

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def home_folder() -> Path:
    """Return the user's home; the root folder for a user that has none, as in some containers."""
    try:
        return Path.home()
    except RuntimeError:  # no HOME, and no entry in the user database
        return Path("/")


def cache_folder(part: str) -> Path:
    """Return the default folder of a cache.

    Args:
        part: The cache, e.g. ``ascendc``: built kernels.

    Returns:
        ``$XDG_CACHE_HOME/pyaclnn/PART``, with ``~/.cache`` as the default of the variable, if it
        can be created and written to; else a folder with the user's id below the folder for
        temporary files.

    Raises:
        PermissionError: The folder below that for temporary files is not the user's own.
        OSError: No folder can be created.
    """
    folder = _user_caches() / part
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    own = _temporary_caches()
    try:
        make_private(own)
    except OSError as error:
        if error.errno is None:  # it exists, and belongs to another user
            raise
        raise OSError(
            error.errno,
            f"nothing can be kept: neither '{folder}' nor '{own}' can be made and written to "
            f"({error.strerror}); name a folder of your own in XDG_CACHE_HOME",
        ) from error
    return own / part


def cached_folders() -> list[Path]:
    """Return the folders of all caches that exist, the user's own."""
    found = []
    for base in (_user_caches(), _temporary_caches()):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if base.lstat().st_uid == os.geteuid() and not base.is_symlink():
                found += sorted(path for path in base.iterdir() if path.is_dir())
    return found


def _user_caches() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(named) if named.startswith("/") else home_folder() / ".cache"
    return base / "pyaclnn"


def _temporary_caches() -> Path:
    import tempfile  # noqa: PLC0415  # imports twelve modules

    return Path(tempfile.gettempdir()) / f"pyaclnn-{os.getuid()}"


def make_private(folder: Path) -> bool:
    """Create a folder to which no other user can write, and its parents.

    Args:
        folder: The folder; it may exist.

    Returns:
        True if its contents can be trusted: no other user could write to it before.

    Raises:
        PermissionError: It belongs to another user, or is a link or a file.
        OSError: It cannot be created.
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
