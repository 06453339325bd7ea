# SPDX-License-Identifier: Apache-2.0
"""Commands of a parser as a tree: their words, options, arguments and texts."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Argument", "Command", "commands_of"]

_FOLDERS = ("DIR", "FOLDER")
_FILES = ("FILE", "KERNEL", "REPORT")
"""Beginnings of the names of arguments, in the help, that are completed from the disk."""


class Argument(NamedTuple):
    """An option, or an argument without a flag.

    Attributes:
        action: Its action in argparse.
        help: Its text.
    """

    action: Any
    help: str

    @property
    def flags(self) -> tuple[str, ...]:
        """Its flags; none for an argument."""
        return tuple(self.action.option_strings)

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it may have; none if any."""
        return tuple(map(str, self.action.choices or ()))

    @property
    def takes_value(self) -> bool:
        """True if a value follows the flag."""
        return bool(self.action.nargs != 0)

    @property
    def is_folder(self) -> bool:
        """True if it is a folder on the disk."""
        return str(self.action.metavar).startswith(_FOLDERS)

    @property
    def is_path(self) -> bool:
        """True if it is a file or a folder on the disk."""
        return str(self.action.metavar).startswith((*_FOLDERS, *_FILES))


class Command(NamedTuple):
    """A command.

    Attributes:
        words: Its words, without the program's name.
        help: The line about it in the help of the command above.
        parser: Its parser.
        arguments: Its options and arguments.
        is_group: True if it has commands below it.
    """

    words: tuple[str, ...]
    help: str
    parser: argparse.ArgumentParser
    arguments: tuple[Argument, ...]
    is_group: bool


def commands_of(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = (), text: str = ""
) -> Iterator[Command]:
    """Walk the commands of a parser, each before those below it.

    Args:
        parser: The parser.
        words: The words of the command that it parses.
        text: The line about that command.

    Yields:
        The command itself, then those below it.
    """
    # argparse has no public name for them.
    actions: list[Any] = parser._actions  # noqa: SLF001
    groups = [action for action in actions if action.nargs == argparse.PARSER]
    own = [
        Argument(action, _expanded(parser, action))
        for action in actions
        if action not in groups and action.help != argparse.SUPPRESS
    ]
    yield Command(words, text, parser, tuple(own), bool(groups))
    for group in groups:
        texts = {choice.dest: choice.help or "" for choice in group._choices_actions}  # noqa: SLF001
        for name, below in group.choices.items():
            yield from commands_of(below, (*words, name), texts.get(name, ""))


def _expanded(parser: argparse.ArgumentParser, action: Any) -> str:
    return str(parser._get_formatter()._expand_help(action)) if action.help else ""  # noqa: SLF001
