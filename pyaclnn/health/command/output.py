# SPDX-License-Identifier: Apache-2.0
"""Where what was found goes: the terminal, and the files that were asked for."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Final

from pyaclnn.health.report import exits
from pyaclnn.health.report.bundle import as_bundle
from pyaclnn.health.report.files import (
    FORMATS,
    STANDARD_OUTPUT,
    WriteError,
    abandon_output,
    check_writable,
    write,
)
from pyaclnn.health.report.fleet import fleet_of, only
from pyaclnn.health.report.html import as_html
from pyaclnn.health.report.junit import as_junit
from pyaclnn.health.report.text import Detail, open_console, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.report.fleet import Fleet
    from pyaclnn.health.report.record import Report

__all__ = ["say", "targets_of", "tell", "write_anything", "written"]

_PROGRAM: Final = "pyaclnn doctor"


def tell(
    found: Sequence[Report] | Fleet,
    wanted: dict[str, str],
    status: int,
    detail: Detail,
    program: str = _PROGRAM,
) -> int:
    """Print the report and write what was asked for; a failed write is never a success.

    Args:
        found: The reports of one or more machines.
        wanted: What `targets_of` returned.
        status: What the command would exit with.
        detail: How much is printed.
        program: Who tells it.

    Returns:
        The exit status.
    """
    # What standard output is wanted for must not be mixed with anything.
    console = open_console(error=STANDARD_OUTPUT in wanted.values())
    told = True
    try:
        show(found, console, detail)
    except BrokenPipeError:
        raise
    except OSError as error:
        told = False
        abandon_output()
        say(f"the report could not be printed: {error.strerror}", program)
    for name, target in wanted.items():
        if not written(target, _formatted(name, found), program):
            told = False
        elif target != STANDARD_OUTPUT:
            say(f"{name} report: {target}", program)
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


def written(target: str, content: bytes | Iterable[str], program: str = _PROGRAM) -> bool:
    """Write a report, and say so if that failed.

    Args:
        target: A path, or ``-``.
        content: What to write, as for `files.write`.
        program: Who says so.
    """
    try:
        write(target, content)
    except WriteError as error:
        say(str(error), program)
        return False
    return True


def targets_of(options: argparse.Namespace) -> dict[str, str]:
    """Return the formats asked for and their targets, each of which can probably be written.

    Args:
        options: The command line.

    Raises:
        WriteError: One of them cannot be written, or two are the same.
    """
    wanted = {name: target for name in FORMATS if (target := getattr(options, name, None))}
    for target in wanted.values():
        check_writable(target)
        if list(wanted.values()).count(target) > 1:
            raise WriteError(f"two reports cannot both go to '{target}'.")
    return wanted


def write_anything() -> None:
    """Let an output that cannot encode a character show a question mark for it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str, program: str = _PROGRAM) -> None:
    """Write a line to standard error.

    Args:
        text: What to say.
        program: Who says it.
    """
    sys.stderr.write(f"{program}: {text}\n")
