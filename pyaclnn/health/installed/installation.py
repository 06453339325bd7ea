# SPDX-License-Identifier: Apache-2.0
"""An installation of CANN as it lies on disk: nothing of it is loaded."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.base.folders import home_folder
from pyaclnn.cann.discovery import (
    header_folders,
    installation_roots,
    library_sets,
)
from pyaclnn.cann.signatures import OperatorHeaders

if TYPE_CHECKING:
    from pyaclnn.cann.discovery import LibrarySet

__all__ = ["Installation", "find_installation"]


@dataclass(frozen=True)
class Installation:
    """An installation.

    Attributes:
        root: Its root, as ``ASCEND_HOME_PATH`` names it.
        libraries: Its libraries.
        headers: The headers of its operators.
    """

    root: Path
    libraries: LibrarySet
    headers: OperatorHeaders

    @classmethod
    def at(cls, root: Path) -> Installation | None:
        """Return the installation in a folder; None if there are neither libraries nor headers."""
        found = library_sets(root, flat=True)[0]
        folders = header_folders(found.operators, root)
        if not folders and any(root.glob("aclnn*.h")):
            folders = [root]
        there = found.base.exists() or any(path.exists() for path in found.runtime)
        if not folders and not there and not found.operators:
            return None
        return cls(root, found, OperatorHeaders(folders))


def find_installation(folder: Path | None = None) -> Installation | None:
    """Find an installation.

    Args:
        folder: Its root, the folder of its libraries, or one of operator headers; None for the CANN
            that would be used.

    Returns:
        The installation, or None if there is none.
    """
    usual = installation_roots(os.environ, home_folder(), Path(sys.prefix))
    roots = usual if folder is None else [folder.expanduser()]
    return next((found for root in roots if (found := Installation.at(root)) is not None), None)
