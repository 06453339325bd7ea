# SPDX-License-Identifier: Apache-2.0
"""Paths of a machine that may be broken."""

from __future__ import annotations

import errno
import os
from pathlib import PosixPath
from typing import Final

__all__ = ["FORBIDDEN", "NOTHING_THERE", "ExaminedPath"]

NOTHING_THERE: Final = "no such file"
"""Reason of a path at which there is nothing, nor could be."""
FORBIDDEN: Final = os.strerror(errno.EACCES)
"""Reason of a path that lies, or whose target lies, below a folder that may not be entered."""
_ABSENCES: Final = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}


class ExaminedPath(PosixPath):
    """Path on a machine that may be broken: no question about it raises.

    An ordinary path raises from ``exists``, ``is_dir`` and ``is_file`` if it is too long or below a
    folder that may not be entered, and from ``resolve`` if links lead in a circle. Here the answers
    are those of `os.path`. Paths that are derived from one are of this class, too.
    """

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it exists and can be seen."""
        return os.path.exists(self) if follow_symlinks else os.path.lexists(self)  # noqa: PTH110

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a folder that can be seen."""
        return os.path.isdir(self) and (follow_symlinks or not os.path.islink(self))  # noqa: PTH112, PTH114

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is an ordinary file that can be seen."""
        return os.path.isfile(self) and (follow_symlinks or not os.path.islink(self))  # noqa: PTH113, PTH114

    def absence(self) -> str:
        """Return the reason why nothing can be seen at it; empty if something can."""
        try:
            os.stat(self)  # noqa: PTH116  # raises only what is caught
        except ValueError:  # a null byte
            return NOTHING_THERE
        except OSError as error:
            if error.errno == errno.ELOOP:
                return "a link that leads to itself"
            if error.errno in _ABSENCES and os.path.islink(self):  # noqa: PTH114
                return f"a link to {os.readlink(self)}, which does not exist"  # noqa: PTH115
            reason = error.strerror or str(error)
            return NOTHING_THERE if error.errno in _ABSENCES else reason
        return ""

    def resolve(self, strict: bool = False) -> ExaminedPath:
        """Return it without links, as far as they can be followed.

        Args:
            strict: True to raise as an ordinary path does.
        """
        if strict:
            return type(self)(super().resolve(strict=True))
        return type(self)(os.path.realpath(self))
