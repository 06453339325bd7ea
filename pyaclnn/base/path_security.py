# SPDX-License-Identifier: Apache-2.0
"""Security of paths from which code is loaded.

A user who can write to a library or a Python file can execute code in this process. Therefore code
is never loaded from a path relative to the current folder, and a warning precedes loading from a
folder to which other users can write. See SECURITY.md.
"""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "UntrustedPathWarning",
    "absolute_folders",
    "made_absolute",
    "warn_of_writers",
    "writable_by_others",
]


class UntrustedPathWarning(UserWarning):
    """Code is loaded from a path that other users can write, or from a relative path.

    Examples:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", pyaclnn.UntrustedPathWarning)  # refuse such paths
        ...     loaded = pyaclnn.backend()
    """

    __module__ = "pyaclnn"


def absolute_folders(variable: str, environment: Mapping[str, str]) -> list[Path]:
    """List the folders that an environment variable names, separated by colons.

    Args:
        variable: Its name.
        environment: The environment variables.

    Returns:
        The absolute ones in their order. A relative one depends on the current folder; it is
        skipped, with an :class:`UntrustedPathWarning` that names it.
    """
    entries = [entry for entry in environment.get(variable, "").split(":") if entry]
    for entry in entries:
        if not entry.startswith("/"):
            _warn(
                f"{variable} names {entry!r}, which depends on the current folder: it is left out. "
                f"Name it {str(Path(entry).absolute())!r} if that is what you mean."
            )
    return [Path(entry) for entry in entries if entry.startswith("/")]


def made_absolute(folder: Path) -> Path:
    """Return the absolute path of a folder that a variable names.

    Args:
        folder: The folder.

    Warns:
        UntrustedPathWarning: It depends on the current folder.
    """
    absolute = folder.absolute()
    if absolute != folder:
        _warn(f"'{folder}' depends on the current folder: it is taken for '{absolute}'.")
    return absolute


def writable_by_others(path: Path) -> Path | None:
    """Return the path at which other users can replace a file.

    A sticky folder, such as ``/tmp``, protects only files of the user and of root.

    Args:
        path: The file or folder; links are followed.

    Returns:
        The file itself, or its nearest parent that others can write to or own; None if there is
        none, or if the file does not exist.
    """
    try:
        real = path.resolve(strict=True)
        below = real.stat()
        if below.st_mode & stat.S_IWOTH:
            return real
        for folder in real.parents:
            found = folder.stat()
            if found.st_mode & stat.S_IWOTH:
                sticky = found.st_mode & stat.S_ISVTX
                if not sticky or below.st_uid not in {0, os.geteuid()}:
                    return folder
            below = found
    except OSError:
        return None
    return None


def warn_of_writers(path: Path) -> None:
    """Warn if other users can replace a file that is about to be loaded or executed.

    Args:
        path: The file.

    Warns:
        UntrustedPathWarning: They can; the message names the folder.
    """
    place = writable_by_others(path)
    if place is not None:
        _warn(
            f"{path} is loaded, and other users can write to {place}: whatever they put there runs "
            f"with your rights. Take the right from them: chmod o-w '{place}'."
        )


def _warn(message: str) -> None:
    # Not at a line of the user's code, which set neither the variable nor the folder's mode.
    warnings.warn_explicit(message, UntrustedPathWarning, __file__, 1, module=__name__)
