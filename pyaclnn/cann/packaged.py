# SPDX-License-Identifier: Apache-2.0
"""Path of a file of the package, as plain text: a device process does not need pathlib."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["packaged_file"]


def packaged_file(name: str) -> str:
    """Return the real path of a packaged file; an editable install keeps it in the build tree.

    Args:
        name: Its path in the package.

    Raises:
        FileNotFoundError: The installation is incomplete.
    """
    path = f"{__file__.rpartition('/cann/')[0]}/{name}"
    if os.path.isfile(path):  # noqa: PTH113
        return path
    # importlib.resources asks the same; to import it costs every host and device process 8 ms.
    loader: Any = sys.modules["pyaclnn"].__loader__
    found = str(loader.get_resource_reader("pyaclnn").files().joinpath(*name.split("/")))
    if not os.path.isfile(found):  # noqa: PTH113
        raise FileNotFoundError(
            f"{path} is missing: this installation of pyaclnn is incomplete; install it again"
        )
    return found
