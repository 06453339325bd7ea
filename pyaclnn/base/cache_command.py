# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn cache``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.folders import cached_folders

if TYPE_CHECKING:
    import argparse

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Print the folders, and remove them if that is asked for; the exit status."""
    import shutil  # noqa: PLC0415  # for this command alone

    folders = cached_folders()
    for folder in folders:
        size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
        print(f"{size / 1e6:8.1f} MB  {folder}{'  removed' if options.clear else ''}")  # noqa: T201
        if options.clear:
            shutil.rmtree(folder)
    if not folders:
        print("nothing is cached")  # noqa: T201
    return 0
