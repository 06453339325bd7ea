# SPDX-License-Identifier: Apache-2.0
"""Command lines from a table: commands, their options and their texts."""

from __future__ import annotations

import argparse
import functools
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["CommandTable", "Commands"]

# The type has no public name.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001
"""The sub-commands of a parser: the result of ``add_subparsers``."""


class _Parsers(dict[str, Any]):
    """Parsers of commands by name, each made on its first lookup.

    A command line uses one of them, and to make all takes longer than most commands.
    """

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if not isinstance(found, argparse.ArgumentParser):
            found = self[name] = found()
        return found

    def values(self) -> Any:
        return {name: self[name] for name in self}.values()

    def items(self) -> Any:
        return {name: self[name] for name in self}.items()


class CommandTable:
    """Commands of a TOML file.

    An option stands under ``options`` once, whatever commands have it, with the arguments of
    ``add_argument``; its flag is its name, unless it has ``flags``. A command, under ``commands``
    by its words, lists its options; a list inside of these are those that exclude each other.
    With ``parts`` it has sub-commands, the commands whose names begin with its own.
    Each command sets ``action``, which takes the parsed options and returns the exit status,
    ``parser``, and what it has under ``defaults``.

    Args:
        table: Contents of the file.
        action: Returns the function that a command runs, by the ``action`` of its row.
        types: The types of options, by the ``type`` of their rows.
    """

    def __init__(
        self,
        table: Mapping[str, Any],
        action: Callable[[str], Callable[[argparse.Namespace], int]],
        types: Mapping[str, Callable[[str], Any]],
    ) -> None:
        self._table = table
        self._action = action
        self._types = types

    def add_to(self, commands: Commands, *names: str) -> None:
        """Add commands to those of a parser.

        Args:
            commands: The commands of the parser.
            names: Names in the table.
        """
        group: Any = commands  # argparse has no public name for what is made later
        if not isinstance(group.choices, _Parsers):
            group.choices = group._name_parser_map = _Parsers(group.choices)  # noqa: SLF001
        for name in names:
            word = name.rpartition(" ")[2]
            line = group._ChoicesPseudoAction(word, (), self._table["commands"][name]["help"])  # noqa: SLF001
            group._choices_actions.append(line)  # noqa: SLF001
            make = functools.partial(self._make, group._parser_class, name)  # noqa: SLF001
            group.choices[word] = functools.partial(make, f"{group._prog_prefix} {word}")  # noqa: SLF001

    def _make(
        self, kind: type[argparse.ArgumentParser], name: str, program: str
    ) -> argparse.ArgumentParser:
        row = self._table["commands"][name]
        as_written = "epilog" in row  # and so is the description
        description = row.get("description", "")
        parser = kind(
            prog=program,
            description=description if as_written else " ".join(description.split()) or None,
            usage=row.get("usage"),
            epilog=row.get("epilog"),
            formatter_class=argparse.RawDescriptionHelpFormatter
            if as_written
            else argparse.HelpFormatter,
        )
        for title, options in {"": row.get("options", []), **row.get("groups", {})}.items():
            group = parser.add_argument_group(title) if title else parser
            for option in options:
                alone = isinstance(option, str)
                place = group if alone else group.add_mutually_exclusive_group()
                for one in [option] if alone else option:
                    self._add_option(place, one, suppressed="suppressed" in row)
        parser.set_defaults(parser=parser, **row.get("defaults", {}))
        if "action" in row:
            parser.set_defaults(action=self._action(row["action"]))
        if "parts" in row:
            parts = parser.add_subparsers(**row["parts"])
            below = [other for other in self._table["commands"] if other.rpartition(" ")[0] == name]
            self.add_to(parts, *below)
        return parser

    def _add_option(self, place: Any, name: str, *, suppressed: bool) -> None:
        """Add an option; ``suppressed`` leaves it out of the result if it is not given."""
        given = dict(self._table["options"][name])
        if "type" in given:
            given["type"] = self._types[given["type"]]
        flags = given.pop("flags", [f"--{name}"])
        if suppressed and flags[0].startswith("-"):
            given["default"] = argparse.SUPPRESS
        elif given.get("default") == []:
            given["default"] = ()
        place.add_argument(*flags, **given)
