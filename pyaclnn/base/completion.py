# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn completion``: code with which a shell completes the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["run"]

_FOLDERS = ("DIR", "FOLDER")
_FILES = ("FILE", "KERNEL", "REPORT")
"""Beginnings of the names of arguments, in the help, that are completed from the disk."""


def run(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the code for a shell; the exit status.

    Args:
        parser: The parser of all commands.
        shell: Its name: bash, zsh or tcsh.
    """
    import shtab  # noqa: PLC0415  # for this command alone

    _mark_paths(parser, shtab.FILE, shtab.DIRECTORY)
    print(shtab.complete(parser, shell))  # noqa: T201
    return 0


def _mark_paths(
    parser: argparse.ArgumentParser, file: Mapping[str, object], folder: Mapping[str, object]
) -> None:
    """Mark the arguments that take a file or a folder, for shtab."""
    actions: list[Any] = parser._actions  # noqa: SLF001  # it has no public name
    for action in actions:
        if action.nargs == argparse.PARSER:
            for part in action.choices.values():
                _mark_paths(part, file, folder)
        name = str(action.metavar)
        if name.startswith((*_FOLDERS, *_FILES)):
            action.complete = folder if name.startswith(_FOLDERS) else file
