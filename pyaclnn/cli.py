# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn``.

Each command imports what it needs when it runs, so that ``pyaclnn mock cflags`` in a makefile does
not wait for NumPy.
"""

from __future__ import annotations

import argparse
import functools
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyaclnn.ascendc import command as ascendc
from pyaclnn.ascendc.tiling import command as tiling
from pyaclnn.base import cache_command, completion, manual
from pyaclnn.base.command_table import CommandTable
from pyaclnn.base.errors import AclError
from pyaclnn.base.outputs import discard_output, open_missing_outputs, print_any_text
from pyaclnn.base.suggestions import Parser
from pyaclnn.base.toml import fill, read_toml
from pyaclnn.base.variable import variable_set
from pyaclnn.capture import arguments as capture
from pyaclnn.facts.chips import DEFAULT_SOC_NAME
from pyaclnn.facts.releases import DEFAULT, RELEASES, VARIABLE, ReleaseError
from pyaclnn.health import arguments as health
from pyaclnn.mock.control import functions, kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyaclnn.base.command_table import Commands

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "NOT_EXECUTABLE",
    "NOT_FOUND",
    "UNREAD",
    "UNUSABLE",
    "add_to",
    "main",
    "parser",
]

FAILED = 1
"""Exit status: something ran and did not pass."""
UNUSABLE = 2
"""Exit status: nothing could run, or the command line is wrong."""
NOT_EXECUTABLE = 126
"""Exit status of ``mock run``, as in a shell: the program cannot be executed."""
NOT_FOUND = 127
"""Exit status of ``mock run``, as in a shell: there is no such program."""
INTERRUPTED = 130
"""Exit status after Ctrl-C, as in a shell: 128 and the number of the signal."""
UNREAD = 141
"""Exit status when the reader of the output has gone, as in ``pyaclnn mock chips | head -n 1``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: The command line without the program's name; that of the process if None.

    Returns:
        0 if all went well, 1 if a check did not pass or the output could not be written, 2 if
        nothing could be run, 3 if CANN ended the run, 130 after Ctrl-C, 141 when the reader of the
        output has gone; the doctor has more, see ``pyaclnn doctor --help``.
    """
    open_missing_outputs()
    print_any_text()
    try:
        status = _run(arguments)
        # At the interpreter's end, a failing flush could not be reported.
        sys.stdout.flush()
    except (AclError, ReleaseError) as error:
        return _complain(str(error), UNUSABLE)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        discard_output()
        return UNREAD
    except SystemExit as done:
        # rich exits by itself when the reader has gone, with a status of its own.
        if isinstance(done.__context__, BrokenPipeError):
            return UNREAD
        raise
    except OSError as error:
        discard_output()
        return _complain(str(error), FAILED)
    return status


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options = parser().parse_args(arguments)
    except SystemExit as done:  # also after --help and --version, whose output can fail
        return int(done.code or 0)
    with variable_set(VARIABLE, getattr(options, "cann", None)):
        return int(options.action(options))


def _complain(message: str, status: int) -> int:
    print(f"pyaclnn: {message}", file=sys.stderr)
    return status


def parser() -> argparse.ArgumentParser:
    """Build the command-line parser of all commands."""
    parser: argparse.ArgumentParser = _CommandParser(
        prog="pyaclnn",
        description="Norm operators of Ascend NPUs from Python, on CANN or on a simulated NPU.",
    )
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        default=argparse.SUPPRESS,
        help="print the version, the commit if there is one, Python, NumPy and the backend",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    health.add_to(commands, "smoke")
    add_to(commands, "mock")
    health.add_to(commands, "doctor", "explain", "fleet")
    add_to(commands, "env")
    health.add_to(commands, "ops", "abi")
    add_to(commands, "tiling", "ascendc", "capture", "trace", "replay")
    add_to(commands, "cache", "completion", "manual")
    return parser


def add_to(commands: Commands, *names: str) -> None:
    """Add commands of the table ``commands.toml``; the others are those of `health`.

    Args:
        commands: The commands of a parser.
        names: Names in the table.
    """
    _table().add_to(commands, *names)


@functools.cache
def _table() -> CommandTable:
    table = fill(
        read_toml(Path(__file__).with_name("commands.toml")),
        {
            "absent": functions.ABSENT,
            "implemented": functions.IMPLEMENTED,
            "refuses": functions.REFUSES,
            "release": DEFAULT,
            "releases": " or ".join(RELEASES),
            "soc": DEFAULT_SOC_NAME,
            "variable": VARIABLE,
        },
    )
    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "ascendc compile": ascendc.compile_program,
        "ascendc run": ascendc.run,
        "cache": cache_command.run,
        "completion": lambda options: completion.run(parser(), options.shell),
        **capture.ACTIONS,
        "env": _env,
        "manual": _manual,
        "mock faults": functools.partial(_contract, "print_faults"),
        "mock functions": functions.run,
        "mock home": _mock_home,
        "mock kernels": kernels.run,
        "mock print": _mock_print,
        "mock rules": functools.partial(_contract, "print_rules"),
        "mock run": _mock_run,
        "tiling": tiling.run,
    }
    # Unlike a display, the call refuses a name that two rooms give.
    types: dict[str, Callable[[str], Any]] = dict(
        float=float, int=int, path=Path, **ascendc.TYPES, **capture.TYPES, **tiling.TYPES
    )
    return CommandTable(table, actions.__getitem__, types)


class _CommandParser(Parser):
    """Parser of a command. Its help ends with the examples of ``command_examples.toml``."""

    def format_help(self) -> str:
        """Return the help with the examples of this command."""
        tables = read_toml(Path(__file__).with_name("command_examples.toml"))
        examples = tables.get(self.prog, {})
        width = max(map(len, examples), default=0)
        lines = [f"  {command:{width}}  {text}\n" for command, text in examples.items()]
        return "".join([super().format_help(), *(["\nexamples:\n"] if lines else []), *lines])


class _Version(argparse.Action):
    """Action that prints the version; its parts are collected on demand."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from pyaclnn.runtime.configuration import version_line

        print(version_line())
        parser.exit()


def _contract(name: str, options: argparse.Namespace) -> int:
    from pyaclnn.mock.control import contract_command  # reads all rules

    return int(getattr(contract_command, name)(options))


def _manual(_options: argparse.Namespace) -> int:
    from importlib.metadata import version  # takes as long as all other imports here

    return manual.run(parser(), version("pyaclnn"))


def _env(options: argparse.Namespace) -> int:
    if options.variables:
        from pyaclnn.facts.variables import VARIABLES

        if options.json:
            import json

            print(json.dumps(dict(VARIABLES), indent=2, ensure_ascii=False))
            return 0
        width = max(map(len, VARIABLES))
        sys.stdout.writelines(f"{name:{width}}  {text}\n" for name, text in VARIABLES.items())
        return 0

    from pyaclnn.runtime.configuration import configuration

    sys.stdout.write(configuration(load=True, as_json=options.json))
    return 0


def _mock_print(options: argparse.Namespace) -> int:
    from pyaclnn import mock

    if options.what == "chips":
        from pyaclnn.facts.chips import all_chips

        print(*(chip.soc_name for chip in all_chips()), sep="\n")
    elif options.what in {"cflags", "ldflags"}:
        print(shlex.join(getattr(mock, options.what)()))
    else:
        print(getattr(mock, options.what)())
    return 0


def _mock_home(options: argparse.Namespace) -> int:
    from pyaclnn import mock

    try:
        home = mock.build_home(options.folder)
    except OSError as error:
        print(f"pyaclnn mock home: {error}", file=sys.stderr)
        return UNUSABLE
    print(f"source {shlex.quote(str(home / 'set_env.sh'))}")
    return 0


def _mock_run(options: argparse.Namespace) -> int:
    from pyaclnn import mock

    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        options.parser.error("a program is missing after 'mock run'")
    environment = mock.environment(os.environ)
    sys.stdout.flush()
    try:
        os.execvpe(program[0], program, environment)  # noqa: S606  # this is the purpose of the command
    except FileNotFoundError:
        print(f"pyaclnn mock run: there is no program '{program[0]}'", file=sys.stderr)
        return NOT_FOUND
    except OSError as error:
        print(f"pyaclnn mock run: '{program[0]}' cannot run: {error.strerror}", file=sys.stderr)
        return NOT_EXECUTABLE
