# SPDX-License-Identifier: Apache-2.0
"""The commands ``pyaclnn capture``, ``trace`` and ``replay``."""

from __future__ import annotations

import itertools
import os
import sys
from typing import TYPE_CHECKING

import msgspec

from pyaclnn.base.errors import AclError
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.calling.by_name import c_spelling
from pyaclnn.capture.compare import compare
from pyaclnn.capture.example import test_of
from pyaclnn.capture.functions import with_contents
from pyaclnn.capture.program import run, why_nothing
from pyaclnn.capture.replay import replay
from pyaclnn.capture.session import Settings, captured
from pyaclnn.capture.show import lines_of
from pyaclnn.capture.trace import Call, TraceError, read_trace, traces_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from pyaclnn.capture.verdict import Outcome

__all__ = ["compare_traces", "replay_trace", "run_captured", "show_trace", "write_test"]

_DIFFERENT, _UNUSABLE, _NOT_EXECUTABLE, _NOT_FOUND = 1, 2, 126, 127


def _complain(command: str, error: object, status: int = _UNUSABLE) -> int:
    if isinstance(error, OSError) and error.filename is not None:
        error = f"{os.fspath(error.filename)!r}: {error.strerror}"
    sys.stderr.write(f"pyaclnn {command}: {error}\n")
    return status


def run_captured(options: argparse.Namespace) -> int:
    """Run a program, record its calls, and return its status; 2 if there were none."""
    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        options.parser.error("a program is missing after 'capture -o FILE --'")
    if os.path.lexists(options.output):
        return _complain("capture", f"'{options.output}' exists; name a file that does not")
    if not options.output.absolute().parent.is_dir():
        return _complain("capture", f"'{options.output.absolute().parent}' is no folder")
    first, last = options.calls or (0, None)
    settings = Settings(options.contents, options.largest, options.limit or 0, first, last,
                        tuple(options.full or ()))  # fmt: skip
    environment = captured(os.environ, options.output, settings)
    try:
        status = run(program, environment)
    except FileNotFoundError:
        return _complain("capture", f"there is no program '{program[0]}'", _NOT_FOUND)
    except OSError as error:
        message = f"'{program[0]}' cannot run: {error.strerror}"
        return _complain("capture", message, _NOT_EXECUTABLE)
    if os.path.lexists(options.output):
        _warn_of_uncalled(settings.full, options.output)
        return status
    return _complain("capture", f"nothing was recorded: {why_nothing(program[0])}",
                     status or _UNUSABLE)  # fmt: skip


def _warn_of_uncalled(names: Sequence[str], trace: Path) -> None:
    """Warn of operators that --full names and no recorded call of any process is of."""
    left, called = dict.fromkeys(names), set()
    try:
        for record in itertools.chain.from_iterable(map(read_trace, traces_of(trace))):
            if not left:
                return
            if isinstance(record, Call):
                left.pop(record.name, None)
                called.add(record.name)
    except TraceError as error:
        _complain("capture", error)
    operators = called & {*with_contents()}
    for name in left:
        hint = (
            did_you_mean(c_spelling(name), operators) or f"'pyaclnn trace show {trace}' lists all"
        )
        _complain("capture", f"--full {name}: no call of it was recorded; {hint}")


def _print(command: str, lines: Callable[[], Iterable[str]]) -> int:
    try:
        for line in lines():
            sys.stdout.write(f"{line}\n")
    except (TraceError, AclError) as error:
        return _complain(command, error)
    return 0


def show_trace(options: argparse.Namespace) -> int:
    """Print the calls of a trace."""
    given = {"operator": options.operator, "failed": options.failed, "as_json": options.json}
    return _print("trace show", lambda: lines_of(options.trace, **given))


def write_test(options: argparse.Namespace) -> int:
    """Print a test of one call."""
    return _print("trace test", lambda: [test_of(options.trace, options.number).rstrip("\n")])


def compare_traces(options: argparse.Namespace) -> int:
    """Compare two traces, and print where they part."""
    return _report("trace compare", options, lambda: compare(
        options.trace, options.other, exact=options.exact))  # fmt: skip


def replay_trace(options: argparse.Namespace) -> int:
    """Run the calls of a trace again, and print where the answers part."""
    return _report("replay", options, lambda: replay(
        options.trace, exact=options.exact, fail_early=options.fail_early))  # fmt: skip


def _report(command: str, options: argparse.Namespace, make: Callable[[], Outcome]) -> int:
    try:
        outcome = make()
    except (TraceError, AclError) as error:
        return _complain(command, error)
    if not (outcome.calls or outcome.skipped or outcome.divergences):
        return _complain(command, f"'{options.trace}' has no call: its process ended too early")
    texts = {
        options.json: lambda: msgspec.json.format(msgspec.json.encode(outcome)).decode(),
        options.junit: outcome.junit,
        options.report: outcome.table,
    }
    sys.stdout.write(f"{outcome.text()}\n")
    try:
        for path, text in texts.items():
            if path is not None:
                path.write_text(f"{text()}\n", "utf-8")
    except OSError as error:
        return _complain(command, error)
    return _DIFFERENT if outcome.divergences else 0
