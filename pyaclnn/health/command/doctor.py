# SPDX-License-Identifier: Apache-2.0
"""The commands ``pyaclnn doctor`` and ``pyaclnn doctor merge``."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import text_of
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.health.checks import catalogue
from pyaclnn.health.checks.context import Level, Options
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.child.processes import Interrupted, Terminated, terminable
from pyaclnn.health.command.explain import show_entries
from pyaclnn.health.command.live import view
from pyaclnn.health.command.output import STANDARD_OUTPUT, Output, WriteError, check_writable
from pyaclnn.health.command.run import run
from pyaclnn.health.explain.codes import of_check
from pyaclnn.health.report.figures import Baseline, read_baseline
from pyaclnn.health.report.fleet import gather, schema
from pyaclnn.health.report.hosts import expected_hosts
from pyaclnn.health.report.record import Exit
from pyaclnn.health.report.text import emit, open_console, part

if TYPE_CHECKING:
    import argparse

    from pyaclnn.health.report.record import Report

__all__ = ["doctor", "merge"]

_BACKENDS: Final = ("cann", "mock")


def doctor(options: argparse.Namespace) -> int:
    """Run the checks, or describe them.

    Args:
        options: The command line.

    Returns:
        The exit status.
    """
    try:
        output = Output(options)
        if options.list_checks:
            return _list_checks()
        if options.explain:
            show_entries([of_check(options.explain)], open_console())
            return 0
        if options.json_schema:
            text = json.dumps(schema(), indent=2) + "\n"
            return 0 if output.write(STANDARD_OUTPUT, text) else Exit.INCONCLUSIVE
        wanted = _options(options)
    except (ValueError, WriteError) as error:
        options.parser.error(text_of(error))
    try:
        console = open_console(error=True)
        shown = view(console) if options.detail >= 0 else contextlib.nullcontext(lambda _: None)
        with terminable(), shown as listener:
            report = run(wanted, listener)
    except Interrupted as end:
        output.message("interrupted; nothing is left running; this is what was found until then")
        report = end.report
    except KeyboardInterrupt:
        output.message("interrupted; nothing is left running, and no report was written.")
        return Exit.INTERRUPTED
    except Terminated as end:
        with contextlib.suppress(OSError):  # after SIGHUP the terminal may be closed
            what = "nothing is left running; this is what was found until then"
            output.message(f"ended by {end.name}; {what}")
        if end.report is None:
            return end.status
        report = end.report
    status = output.report([report], report.exit_status, Machine())
    saved = not options.save_baseline or _save(options.save_baseline, report, output)
    return status if saved else status or Exit.INCONCLUSIVE


def merge(options: argparse.Namespace) -> int:
    """Merge reports into one about a fleet.

    Args:
        options: The command line.

    Returns:
        The exit status: that of the worst machine.
    """
    try:
        output = Output(options)
        expected = expected_hosts(named) if (named := getattr(options, "hosts", "")) else ()
        fleet = gather(options.reports, expected)
    except (ValueError, WriteError) as error:
        options.parser.error(text_of(error))
    return output.report(fleet, fleet.exit_status)


def _save(target: str, report: Report, output: Output) -> bool:
    """Write a baseline; a run that was interrupted or found a fault cannot be one."""
    try:
        if report.exit_status != Exit.PASSED:
            raise ValueError("the machine is not as it should be")  # noqa: TRY301  # see below
        text = Baseline.of(report).to_text()
    except ValueError as error:
        output.message(f"'{target}' is not written: {text_of(error)}")
        return False
    if not output.write(target, text):
        return False
    output.message(f"expectations: {target}")
    return True


def _options(options: argparse.Namespace) -> Options:
    level = Level[options.level.upper()]
    catalogue.plan(level, options.only, options.skip)  # refuses names that fit no check
    _check_backend(options.backend or os.environ.get("PYACLNN_BACKEND") or "cann")
    if options.save_baseline:
        check_writable(options.save_baseline)
    asked = {f.name: getattr(options, f.name, None) for f in fields(Options)}
    expected = read_baseline(options.expect) if options.expect else None
    warned = options.fail_on == "warn"
    given = {name: value for name, value in asked.items() if value is not None}
    return Options(**{**given, "level": level, "fail_on_warn": warned, "expected": expected})


def _check_backend(choice: str) -> None:
    folder = os.path.expanduser(choice)  # noqa: PTH111  # never raises
    if choice in _BACKENDS or os.path.isdir(folder):  # noqa: PTH112  # likewise
        return
    question = did_you_mean(choice, _BACKENDS, lead="; ") or "."
    raise ValueError(f"the backend '{choice}' is neither 'cann' nor 'mock' nor a folder{question}")


def _list_checks() -> int:
    emit(part("checks", catalogue.checks()), open_console())
    return 0
