# SPDX-License-Identifier: Apache-2.0
"""Output of a command: messages, the report on the terminal, and the files that were asked for."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.base.errors import text_of
from pyaclnn.health.command.support import collect
from pyaclnn.health.report.bundle import as_bundle
from pyaclnn.health.report.fleet import fleet_of, only
from pyaclnn.health.report.pages import as_html, as_junit
from pyaclnn.health.report.record import Exit
from pyaclnn.health.report.text import Detail, open_console, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.checks.machine import Machine
    from pyaclnn.health.report.fleet import Fleet
    from pyaclnn.health.report.record import Report

__all__ = ["STANDARD_OUTPUT", "Output", "WriteError", "check_writable", "write"]

STANDARD_OUTPUT = "-"
"""The name that stands for standard output."""

_PUBLIC = 0o666

FORMATS = ("json", "junit", "html", "bundle")
"""The formats in which a report can be written; each is an option that names a file."""


class WriteError(Exception):
    """A report could not be written; the message names the file, the reason and what to do."""


def check_writable(target: str) -> None:
    """Refuse a target that cannot be written, before the checks take their time.

    Args:
        target: A path, or ``-``.

    Raises:
        WriteError: The folder does not exist or may not be written, or the path is a folder.
    """
    if target == STANDARD_OUTPUT:
        return
    path = Path(target).expanduser()
    folder = path.parent
    if path.is_dir():
        raise WriteError(f"'{target}' is a folder; name a file.")
    if not folder.is_dir():
        raise WriteError(f"'{target}' cannot be written: there is no folder '{folder}'; create it.")
    if not os.access(path if _is_special(path) else folder, os.W_OK):
        raise WriteError(f"'{target}' cannot be written: no permission in '{folder}'.")


def write(target: str, content: bytes | Iterable[str]) -> None:
    """Write a whole file, or leave the existing one untouched.

    Args:
        target: A path, or ``-`` for standard output.
        content: The content; texts, one after the other, as UTF-8.

    Raises:
        WriteError: It could not be written; nothing of it is left behind.
    """
    if isinstance(content, bytes):
        parts: Iterable[bytes] = [content]
    else:
        parts = (text.encode() for text in ([content] if isinstance(content, str) else content))
    try:
        if target == STANDARD_OUTPUT:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(parts)
            sys.stdout.buffer.flush()
            return
        path = Path(target).expanduser().resolve()
        if _is_special(path):
            with path.open("wb") as file:
                file.writelines(parts)
        else:
            _replace(path, parts)
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"'{target}'"
        if target == STANDARD_OUTPUT:
            where = "standard output"
            abandon_output()
        raise WriteError(
            f"{where} could not be written: {error.strerror or error}; "
            "free some space or name another place."
        ) from None


def abandon_output() -> None:
    """Abandon standard output after it failed, or Python would fail once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_special(path: Path) -> bool:
    """Return whether the path is a device or a pipe, which cannot be replaced."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123  # a descriptor, not a path
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(_PUBLIC & ~mask)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


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
            True if the file was written.
        """
        try:
            write(target, content)
        except WriteError as error:
            self.message(str(error))
            return False
        return True

    def report(
        self, found: Sequence[Report] | Fleet, status: int, machine: Machine | None = None
    ) -> int:
        """Print the report and write the files that were asked for.

        Args:
            found: The reports of one or more machines.
            status: The exit status of the command.
            machine: The machine that it is about, if it is this one.

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
            try:
                written = self.write(target, _formatted(name, found, machine))
            except ValueError as error:  # a file that has changed since it was read
                self.message(text_of(error))
                written = False
            if not written:
                complete = False
            elif target != STANDARD_OUTPUT:
                self.message(f"{name} report: {target}")
        return status if complete else status or Exit.INCONCLUSIVE


def _formatted(
    name: str, found: Sequence[Report] | Fleet, machine: Machine | None
) -> bytes | Iterable[str]:
    if name == "bundle":
        return as_bundle(found, collect(machine) if machine else None)
    if name == "html":
        return as_html(found)
    if name == "junit":
        return as_junit(found)
    one = only(found)
    return fleet_of(found).lines() if one is None else one.to_text()
