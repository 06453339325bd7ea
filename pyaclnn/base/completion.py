# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn completion``: code with which a shell completes the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.command_tree import commands_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pyaclnn.base.command_tree import Argument

__all__ = ["run"]

_FISH = """\
# The words before the cursor that are no options are these ...
function __{0}_at
    set -l words (string match --invert -- '-*' (commandline -opc)[2..])
    test "$words" = "$argv"
end
# ... or begin with these.
function __{0}_in
    set -l words (string match --invert -- '-*' (commandline -opc)[2..])
    string match --quiet -- "$argv *" "$words "
end
complete -c {0} -f
"""


def run(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the code for a shell; the exit status.

    Args:
        parser: The parser of all commands.
        shell: Its name: bash, zsh, tcsh or fish.
    """
    print("\n".join(_fish(parser)) if shell == "fish" else _by_shtab(parser, shell))  # noqa: T201
    return 0


def _by_shtab(parser: argparse.ArgumentParser, shell: str) -> str:
    import shtab  # noqa: PLC0415  # for this command alone

    for command in commands_of(parser):
        for one in command.arguments:
            if one.is_path:
                one.action.complete = shtab.DIRECTORY if one.is_folder else shtab.FILE
    return shtab.complete(parser, shell)


def _fish(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines for fish, which shtab does not know."""
    program = parser.prog
    yield _FISH.format(program)
    for command in commands_of(parser):
        if command.words:
            above = " ".join((f"__{program}_at", *command.words[:-1]))
            name = f"-a {command.words[-1]} -d {_quoted(command.help)}"
            yield f"complete -c {program} -n '{above}' {name}"
        inside = (
            " ".join((f"__{program}_in", *command.words)) if command.words else f"__{program}_at"
        )
        for one in command.arguments:
            given = _of_argument(one)
            if given:
                yield f"complete -c {program} -n '{inside}' {given}"


def _of_argument(one: Argument) -> str:
    values = f"-a {_quoted(' '.join(one.choices))}" if one.choices else "-F" if one.is_path else ""
    if not one.flags:
        return values
    flags = [f"-l {flag[2:]}" if flag[:2] == "--" else f"-s {flag[1:]}" for flag in one.flags]
    follows = [] if not one.takes_value else ["-r"] if one.is_path else ["-x"]
    return " ".join(filter(None, [*flags, *follows, values, "-d", _quoted(one.help)]))


def _quoted(text: str) -> str:
    inner = " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{inner}'"
