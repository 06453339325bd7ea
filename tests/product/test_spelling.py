# SPDX-License-Identifier: Apache-2.0
"""A mistyped command line is told by the command that was meant, with what may have been meant."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from pyaclnn.base.suggestions import Parser
from pyaclnn.cli import main, parser

if TYPE_CHECKING:
    from collections.abc import Iterator

# Typed words, the command that answers, and its message.
MISTYPED = [
    ("smok", "pyaclnn", "did you mean 'smoke'?"),
    ("smoke --tabel", "pyaclnn smoke", "unrecognized arguments: --tabel; did you mean '--table'?"),
    ("smoke --bakend=mock", "pyaclnn smoke", "unrecognized arguments: --bakend; did you mean"),
    ("doctor --levl quick", "pyaclnn doctor", "arguments: --levl; did you mean '--level'?"),
    ("doctor --level quik", "pyaclnn doctor", "choose from"),
    ("doctor --level quik", "pyaclnn doctor", "did you mean 'quick'?"),
    ("doctor merge --jsn r.json a.json", "pyaclnn doctor merge", "did you mean '--json'?"),
    ("mock run --cnn=9.1 prog", "pyaclnn mock run", "did you mean '--cann'?"),
    ("mock home --can 9.1 x --wat", "pyaclnn mock home", "unrecognized arguments: --wat"),
    ("mock cflag", "pyaclnn mock", "did you mean 'cflags'?"),
    ("smoke more", "pyaclnn smoke", "unrecognized arguments: more"),
    ("smoke --device -x", "pyaclnn smoke", "unrecognized arguments: -x"),
]


@pytest.mark.parametrize(("typed", "command", "words"), MISTYPED)
def test_it_says_what_was_meant(
    typed: str, command: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed.split()) == 2
    told = capsys.readouterr().err
    assert f"{command}: error: " in told
    assert words in told


def test_without_a_command_the_help_lists_the_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    told = capsys.readouterr().err
    assert told.startswith("usage: pyaclnn")
    assert "smoke" in told
    assert "\npyaclnn: error: the following arguments are required: COMMAND\n" in told


def test_a_command_without_commands_below_it_says_in_short_what_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = Parser(prog="one", description="A long description.")
    one.add_argument("file")
    with pytest.raises(SystemExit):
        one.parse_args([])
    told = capsys.readouterr().err
    assert told.endswith("one: error: the following arguments are required: file\n")
    assert "A long description." not in told


def every(of: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield of
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part in action.choices.values():
                yield from every(part)


def test_every_command_reads_its_line_so() -> None:
    commands = list(every(parser()))
    assert len(commands) > 20
    [kind] = {type(command) for command in commands}
    assert issubclass(kind, Parser)


@pytest.mark.parametrize(
    ("typed", "name", "value"),
    [
        ("smoke --backend=mock --dev 1", "device", 1),  # the beginning of an option is enough
        ("explain -- --level", "code", ["--level"]),
        ("explain -8020", "code", ["-8020"]),
        ("mock run prog --levl -x", "program", ["prog", "--levl", "-x"]),
    ],
)
def test_what_is_right_is_taken_as_ever(typed: str, name: str, value: object) -> None:
    assert getattr(parser().parse_args(typed.split()), name) == value
