# SPDX-License-Identifier: Apache-2.0
"""Output of a command: messages, the report on the terminal, and the files that were asked for."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

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
from pyaclnn.health.report.record import Exit
from pyaclnn.health.report.text import Detail, open_console, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.report.fleet import Fleet
    from pyaclnn.health.report.record import Report

__all__ = ["Output"]


class Output:
    """Output of a command that makes reports.

    Characters that standard output and error cannot encode become question marks.

    Args:
        options: The command line: an option for each format, and ``detail``.
        program: The name of the command in its messages.

    Raises:
        WriteError: A file cannot be written, or two formats go to the same.
    """

    def __init__(self, options: argparse.Namespace, program: str = "pyaclnn doctor") -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        self._program = program
        self._detail = Detail(1 + options.detail)
        given = {name: getattr(options, name, None) for name in FORMATS}
        self._targets = {name: target for name, target in given.items() if target}
        for target in self._targets.values():
            check_writable(target)
            if list(self._targets.values()).count(target) > 1:
                raise WriteError(f"two reports cannot both go to '{target}'.")

    def message(self, text: str) -> None:
        """Write a line to standard error."""
        sys.stderr.write(f"{self._program}: {text}\n")

    def write(self, target: str, content: bytes | Iterable[str]) -> bool:
        """Write a file, or a message if that fails.

        Args:
            target: A path, or ``-``.
            content: The content, as for `files.write`.

        Returns:
            Whether the file was written.
        """
        try:
            write(target, content)
        except WriteError as error:
            self.message(str(error))
            return False
        return True

    def report(self, found: Sequence[Report] | Fleet, status: int) -> int:
        """Print the report and write the files that were asked for.

        Args:
            found: The reports of one or more machines.
            status: The exit status of the command.

        Returns:
            The exit status; after a failed write it is never that of success.
        """
        # Standard output that is asked for a format gets nothing else.
        console = open_console(error=STANDARD_OUTPUT in self._targets.values())
        complete = True
        try:
            show(found, console, self._detail)
        except BrokenPipeError:
            raise
        except OSError as error:
            complete = False
            abandon_output()
            self.message(f"the report could not be printed: {error.strerror}")
        for name, target in self._targets.items():
            if not self.write(target, _formatted(name, found)):
                complete = False
            elif target != STANDARD_OUTPUT:
                self.message(f"{name} report: {target}")
        return status if complete else status or Exit.INCONCLUSIVE


def _formatted(name: str, found: Sequence[Report] | Fleet) -> bytes | Iterable[str]:
    if name == "bundle":
        return as_bundle(found)
    if name == "html":
        return as_html(found)
    if name == "junit":
        return as_junit(found)
    one = only(found)
    return fleet_of(found).lines() if one is None else one.to_text()
