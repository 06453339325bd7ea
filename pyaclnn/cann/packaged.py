# SPDX-License-Identifier: Apache-2.0
"""Path of a file of the package, as plain text: a device process does not need pathlib."""

from __future__ import annotations

import os

__all__ = ["packaged_file"]


def packaged_file(name: str) -> str:
    """Return the real path of a packaged file; an editable install keeps it in the build tree.

    Args:
        name: Its path in the package.

    Raises:
        FileNotFoundError: The installation is incomplete.
    """
    path = f"{__file__.rpartition('/cann/')[0]}/{name}"
    if not os.path.isfile(path):  # noqa: PTH113
        # Not at the top: every host and device process starts with this, and it costs each 10 ms.
        from importlib.resources import as_file, files  # noqa: PLC0415

        with as_file(files("pyaclnn").joinpath(*name.split("/"))) as found:
            path = str(found)
    if not os.path.isfile(path):  # noqa: PTH113
        raise FileNotFoundError(
            f"{path} is missing: this installation of pyaclnn is incomplete; install it again"
        )
    return path
