# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn manual``: the manual page of all commands, for man."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.command_tree import commands_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pyaclnn.base.command_tree import Argument, Command

__all__ = ["run"]


def run(parser: argparse.ArgumentParser, version: str) -> int:
    """Print the page in the language of man; the exit status.

    Args:
        parser: The parser of all commands.
        version: The version of the program.
    """
    print("\n".join(_page(parser, version)))  # noqa: T201
    return 0


def _page(parser: argparse.ArgumentParser, version: str) -> Iterator[str]:
    whole, *commands = commands_of(parser)
    name, about = parser.prog, parser.description or ""
    yield f'.TH {name.upper()} 1 "" "{name} {version}" "User Commands"'
    yield f".SH NAME\n{name} \\- {_text(about.rstrip('.'))}"
    yield f".SH SYNOPSIS\n.B {name}\n.I COMMAND\n[options]"
    yield ".SH OPTIONS"
    yield from _arguments(whole)
    yield ".SH COMMANDS"
    for command in commands:
        yield f".SS {name} {' '.join(command.words)}"
        yield _text(command.parser.description or command.help)
        yield from _arguments(command)


def _arguments(command: Command) -> Iterator[str]:
    for one in command.arguments:
        if "--help" not in one.flags or not command.words:
            yield f".TP\n{_heading(one)}\n{_text(one.help)}"


def _heading(one: Argument) -> str:
    metavar = one.action.metavar or one.action.dest.upper()
    value = "{" + ",".join(one.choices) + "}" if one.choices else str(metavar)
    shown = "" if not one.takes_value else rf" \fI{_text(value)}\fR"
    flags = ", ".join(rf"\fB{_text(flag)}\fR" for flag in one.flags)
    return f"{flags}{shown}".strip()


def _text(text: str) -> str:
    """Return a text whose backslashes, hyphens and leading dots are no requests of roff."""
    lines = (" ".join(line.split()) for line in text.strip().split("\n\n"))
    escaped = (line.replace("\\", "\\e").replace("-", "\\-") for line in lines)
    return "\n.PP\n".join(rf"\&{line}" if line[:1] in {".", "'"} else line for line in escaped)
