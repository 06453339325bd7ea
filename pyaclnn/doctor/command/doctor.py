# SPDX-License-Identifier: Apache-2.0
"""What ``pyaclnn doctor`` and ``pyaclnn doctor merge`` do."""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import os
import sys
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pyaclnn.doctor.checks import catalogue
from pyaclnn.doctor.checks.options import Level, Options
from pyaclnn.doctor.child.termination import Interrupted, Terminated, terminable
from pyaclnn.doctor.command.explain import show_entries
from pyaclnn.doctor.command.live import view
from pyaclnn.doctor.command.look_up import of_check
from pyaclnn.doctor.command.run import run
from pyaclnn.doctor.report import exits
from pyaclnn.doctor.report.baseline import Baseline, read_baseline
from pyaclnn.doctor.report.bundle import as_bundle
from pyaclnn.doctor.report.files import (
    FORMATS,
    STANDARD_OUTPUT,
    WriteError,
    abandon_output,
    check_writable,
    write,
)
from pyaclnn.doctor.report.fleet import fleet_of, gather, only
from pyaclnn.doctor.report.html import as_html
from pyaclnn.doctor.report.junit import as_junit
from pyaclnn.doctor.report.schema import schema
from pyaclnn.doctor.report.text import Detail, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from pyaclnn.doctor.report.fleet import Fleet
    from pyaclnn.doctor.report.record import Report

__all__ = ["doctor", "merge"]

_PLAIN_WIDTH: Final = 110
_BACKENDS: Final = ("cann", "mock")


class _NoBackendError(ValueError):
    """Nothing is called like the backend that was asked for."""


def doctor(options: argparse.Namespace) -> int:
    """Run the checks, or tell about them.

    Args:
        options: The command line.

    Returns:
        The exit status.
    """
    _write_anything()
    try:
        told = _asked_about(options)
        if told is not None:
            return told
        wanted = _wanted(options)
        asked = _asked(options)
    except (ValueError, WriteError) as error:
        options.parser.error(str(error))
    try:
        shown = view(_console(error=True)) if options.detail >= 0 else contextlib.nullcontext()
        with terminable(), shown as listener:
            report = run(asked, listener)
    except Interrupted as end:
        _say("interrupted; nothing is left running; this is what was found until then")
        report = end.report
    except KeyboardInterrupt:
        _say("interrupted; nothing is left running, and no report was written.")
        return exits.INTERRUPTED
    except Terminated as end:
        with contextlib.suppress(OSError):  # after SIGHUP there may be nobody to tell
            _say(f"ended by {end.name}; nothing is left running; this is what was found until then")
        if end.report is None:
            return end.status
        report = end.report
    status = _tell([report], wanted, report.exit_status, Detail(1 + options.detail))
    saved = not options.save_baseline or _saved(options.save_baseline, report)
    return status if saved else status or exits.INCONCLUSIVE


def _asked_about(options: argparse.Namespace) -> int | None:
    """Tell what is asked about the doctor itself; None if it is to examine."""
    if options.list_checks:
        return _list_checks()
    if options.explain:
        show_entries([of_check(options.explain)], _console())
        return 0
    if options.json_schema:
        told = _written(STANDARD_OUTPUT, json.dumps(schema(), indent=2) + "\n")
        return 0 if told else exits.INCONCLUSIVE
    return None


def _saved(target: str, report: Report) -> bool:
    """Write the file of expectations; what was interrupted or is broken is none to expect."""
    try:
        if report.exit_status != exits.PASSED:
            raise ValueError("the machine is not as it should be")  # noqa: TRY301  # told below
        text = Baseline.of(report).to_text()
    except ValueError as error:
        _say(f"'{target}' is not written: {error}")
        return False
    if not _written(target, text):
        return False
    _say(f"expectations: {target}")
    return True


def merge(options: argparse.Namespace) -> int:
    """Put reports together.

    Args:
        options: The command line.

    Returns:
        The exit status: that of the machine that is worst off.
    """
    _write_anything()
    try:
        wanted = _wanted(options)
        fleet = gather(options.reports)
    except (ValueError, WriteError) as error:
        options.parser.error(str(error))
    return _tell(fleet, wanted, fleet.exit_status, Detail(1 + options.detail))


def _tell(
    found: Sequence[Report] | Fleet, wanted: dict[str, str], status: int, detail: Detail
) -> int:
    """Print the report and write what was asked for; a failed write is never a success."""
    # What standard output is wanted for must not be mixed with anything.
    console = _console(error=STANDARD_OUTPUT in wanted.values())
    told = True
    try:
        show(found, console, detail)
    except BrokenPipeError:
        raise
    except OSError as error:
        told = False
        abandon_output()
        _say(f"the report could not be printed: {error.strerror}")
    for name, target in wanted.items():
        if not _written(target, _formatted(name, found)):
            told = False
        elif target != STANDARD_OUTPUT:
            _say(f"{name} report: {target}")
    return status if told else status or exits.INCONCLUSIVE


def _formatted(name: str, found: Sequence[Report] | Fleet) -> bytes | Iterable[str]:
    if name == "bundle":
        return as_bundle(found)
    if name == "html":
        return as_html(found)
    if name == "junit":
        return as_junit(found)
    one = only(found)
    return fleet_of(found).lines() if one is None else one.to_text()


def _written(target: str, content: bytes | Iterable[str]) -> bool:
    try:
        write(target, content)
    except WriteError as error:
        _say(str(error))
        return False
    return True


def _wanted(options: argparse.Namespace) -> dict[str, str]:
    """The formats asked for and their targets, each of which can probably be written."""
    wanted = {name: target for name in FORMATS if (target := getattr(options, name, None))}
    for target in wanted.values():
        check_writable(target)
        if list(wanted.values()).count(target) > 1:
            raise WriteError(f"two reports cannot both go to '{target}'.")
    return wanted


def _asked(options: argparse.Namespace) -> Options:
    level = Level[options.level.upper()]
    catalogue.plan(level, options.only, options.skip)  # refuses names that fit no check
    _check_backend(options.backend or os.environ.get("PYACLNN_BACKEND") or "cann")
    if options.save_baseline:
        check_writable(options.save_baseline)
    return Options(
        level=level,
        backend=options.backend,
        devices=options.device,
        only=options.only,
        skip=options.skip,
        fail_on_warn=options.fail_on == "warn",
        soak=options.soak,
        soak_threads=options.soak_threads,
        soak_processes=options.soak_processes,
        soak_faults=options.soak_faults,
        figure_bytes=options.figure_bytes,
        figure_seconds=options.figure_seconds,
        memory_share=options.memory_share,
        memory_seconds=options.memory_seconds,
        expected=read_baseline(options.expect) if options.expect else None,
    )


def _check_backend(choice: str) -> None:
    folder = os.path.expanduser(choice)  # noqa: PTH111  # never raises
    if choice in _BACKENDS or os.path.isdir(folder):  # noqa: PTH112  # likewise
        return
    near = difflib.get_close_matches(choice.lower(), _BACKENDS, 1)
    question = f"; did you mean '{near[0]}'?" if near else "."
    raise _NoBackendError(
        f"the backend '{choice}' is neither 'cann' nor 'mock' nor a folder{question}"
    )


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
    _console().print(table)
    return 0


def _console(*, error: bool = False) -> Console:
    console = Console(stderr=error, highlight=False)
    if console.is_terminal:
        return console
    return Console(stderr=error, highlight=False, width=_PLAIN_WIDTH)


def _write_anything() -> None:
    """Let an output that cannot encode a character show a question mark for it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _say(text: str) -> None:
    sys.stderr.write(f"pyaclnn doctor: {text}\n")
