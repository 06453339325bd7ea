# SPDX-License-Identifier: Apache-2.0
"""What ``pyaclnn doctor`` and ``pyaclnn doctor merge`` do."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from pyaclnn.health.checks import catalogue
from pyaclnn.health.checks.options import Level, Options
from pyaclnn.health.child.termination import Interrupted, Terminated, terminable
from pyaclnn.health.command.explain import show_entries
from pyaclnn.health.command.live import view
from pyaclnn.health.command.look_up import of_check
from pyaclnn.health.command.output import say, targets_of, tell, write_anything, written
from pyaclnn.health.command.run import run
from pyaclnn.health.report import exits
from pyaclnn.health.report.baseline import Baseline, read_baseline
from pyaclnn.health.report.files import STANDARD_OUTPUT, WriteError, check_writable
from pyaclnn.health.report.fleet import gather
from pyaclnn.health.report.schema import schema
from pyaclnn.health.report.text import Detail, open_console

if TYPE_CHECKING:
    import argparse

    from pyaclnn.health.report.record import Report

__all__ = ["doctor", "merge"]

_BACKENDS: Final = ("cann", "mock")


def doctor(options: argparse.Namespace) -> int:
    """Run the checks, or tell about them.

    Args:
        options: The command line.

    Returns:
        The exit status.
    """
    write_anything()
    try:
        told = _asked_about(options)
        if told is not None:
            return told
        wanted = targets_of(options)
        asked = _asked(options)
    except (ValueError, WriteError) as error:
        options.parser.error(str(error))
    try:
        console = open_console(error=True)
        shown = view(console) if options.detail >= 0 else contextlib.nullcontext(lambda _: None)
        with terminable(), shown as listener:
            report = run(asked, listener)
    except Interrupted as end:
        say("interrupted; nothing is left running; this is what was found until then")
        report = end.report
    except KeyboardInterrupt:
        say("interrupted; nothing is left running, and no report was written.")
        return exits.INTERRUPTED
    except Terminated as end:
        with contextlib.suppress(OSError):  # after SIGHUP there may be nobody to tell
            say(f"ended by {end.name}; nothing is left running; this is what was found until then")
        if end.report is None:
            return end.status
        report = end.report
    status = tell([report], wanted, report.exit_status, Detail(1 + options.detail))
    saved = not options.save_baseline or _saved(options.save_baseline, report)
    return status if saved else status or exits.INCONCLUSIVE


def _asked_about(options: argparse.Namespace) -> int | None:
    """Tell what is asked about the doctor itself; None if it is to examine."""
    if options.list_checks:
        return _list_checks()
    if options.explain:
        show_entries([of_check(options.explain)], open_console())
        return 0
    if options.json_schema:
        told = written(STANDARD_OUTPUT, json.dumps(schema(), indent=2) + "\n")
        return 0 if told else exits.INCONCLUSIVE
    return None


def _saved(target: str, report: Report) -> bool:
    """Write the file of expectations; what was interrupted or is broken is none to expect."""
    try:
        if report.exit_status != exits.PASSED:
            raise ValueError("the machine is not as it should be")  # noqa: TRY301  # told below
        text = Baseline.of(report).to_text()
    except ValueError as error:
        say(f"'{target}' is not written: {error}")
        return False
    if not written(target, text):
        return False
    say(f"expectations: {target}")
    return True


def merge(options: argparse.Namespace) -> int:
    """Put reports together.

    Args:
        options: The command line.

    Returns:
        The exit status: that of the machine that is worst off.
    """
    write_anything()
    try:
        wanted = targets_of(options)
        fleet = gather(options.reports)
    except (ValueError, WriteError) as error:
        options.parser.error(str(error))
    return tell(fleet, wanted, fleet.exit_status, Detail(1 + options.detail))


def _asked(options: argparse.Namespace) -> Options:
    level = Level[options.level.upper()]
    catalogue.plan(level, options.only, options.skip)  # refuses names that fit no check
    _check_backend(options.backend or os.environ.get("PYACLNN_BACKEND") or "cann")
    if options.save_baseline:
        check_writable(options.save_baseline)
    given = {f.name: getattr(options, f.name) for f in fields(Options) if f.name in options}
    expected = read_baseline(options.expect) if options.expect else None
    warned = options.fail_on == "warn"
    return Options(**{**given, "level": level, "fail_on_warn": warned, "expected": expected})


def _check_backend(choice: str) -> None:
    folder = os.path.expanduser(choice)  # noqa: PTH111  # never raises
    if choice in _BACKENDS or os.path.isdir(folder):  # noqa: PTH112  # likewise
        return
    near = difflib.get_close_matches(choice.lower(), _BACKENDS, 1)
    question = f"; did you mean '{near[0]}'?" if near else "."
    raise ValueError(f"the backend '{choice}' is neither 'cann' nor 'mock' nor a folder{question}")


def _list_checks() -> int:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("check", "level", "what it is about", "builds on"):
        table.add_column(heading, no_wrap=heading == "check")
    category = None
    for check in catalogue.checks():
        if check.category != category:
            category = check.category
            table.add_row(Text(category, style="bold"))
        needs = ", ".join(check.needs)
        table.add_row(f"  {check.id}", check.level.name.lower(), Text(check.title), needs)
    open_console().print(table)
    return 0
