# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn completion``: code with which a shell completes the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    # The type has no public name.
    _Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

__all__ = ["add_to"]

_FOLDERS = ("DIR", "FOLDER")
_FILES = ("FILE", "KERNEL", "REPORT")
"""Beginnings of the names of arguments, in the help, that are completed from the disk."""


def add_to(commands: _Commands, parser: argparse.ArgumentParser) -> None:
    """Add the command.

    Args:
        commands: The result of ``add_subparsers``. The command sets ``action``, which takes the
            parsed options and returns the exit status.
        parser: The parser of all commands.
    """
    completion = commands.add_parser(
        "completion",
        help="print the code with which a shell completes this command",
        description="Print the code with which a shell completes commands, options, files and "
        "folders. Your shell's start-up file can evaluate it.",
    )
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    completion.set_defaults(action=_run, parser=parser)


def _run(options: argparse.Namespace) -> int:
    import shtab  # noqa: PLC0415  # for this command alone

    _mark_paths(options.parser, shtab.FILE, shtab.DIRECTORY)
    print(shtab.complete(options.parser, options.shell))  # noqa: T201
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
