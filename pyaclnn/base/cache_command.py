# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn cache``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pyaclnn.base.folders import cached_folders

if TYPE_CHECKING:
    import argparse

    # The type has no public name.
    _Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

__all__ = ["add_to"]


def add_to(commands: _Commands) -> None:
    """Add the command.

    Args:
        commands: The result of ``add_subparsers``. The command sets ``action``, which takes the
            parsed options and returns the exit status.
    """
    cache = commands.add_parser(
        "cache",
        help="print where built kernels and headers are kept and their sizes; remove them",
        description="Print the folders in which built kernels and headers of the simulated NPU "
        "are kept, with their sizes. They are created again when needed.",
    )
    cache.add_argument("--clear", action="store_true", help="remove the folders")
    cache.set_defaults(action=_run)


def _run(options: argparse.Namespace) -> int:
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
