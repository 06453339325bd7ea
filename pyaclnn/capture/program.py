# SPDX-License-Identifier: Apache-2.0
"""The command ``pyaclnn capture``: a program as a child, which gets the signals of this process."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.base.elf import ElfError, interpreter
from pyaclnn.capture.session import Settings, captured, require_new

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from types import FrameType

__all__ = ["complain", "environment_of", "run", "run_captured", "why_nothing"]

_UNUSABLE, _NOT_EXECUTABLE, _NOT_FOUND = 2, 126, 127

_PASSED_ON: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_OF_TERMINALS: Final = (signal.SIGINT, signal.SIGQUIT)
"""A terminal sends these to the program as well."""


def run(program: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program to its end, and return its status, as a shell has it.

    Raises:
        OSError: It cannot be started.
    """
    sys.stdout.flush()
    with subprocess.Popen(program, env=environment) as process:  # noqa: S603  # the user's

        def pass_on(number: int, _: FrameType | None) -> None:
            if number in _PASSED_ON or not sys.__stdin__ or not sys.__stdin__.isatty():
                process.send_signal(number)

        before = {n: signal.signal(n, pass_on) for n in (*_PASSED_ON, *_OF_TERMINALS)}
        try:
            status = process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    return 128 - status if status < 0 else status


def why_nothing(program: str) -> str:
    """Return why no call of a program was recorded, as far as its file shows."""
    path = Path(shutil.which(program) or program)
    try:
        if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
            return f"'{path}' runs as another user, and the loader then ignores LD_LIBRARY_PATH"
        if interpreter(path) is None:
            return f"'{path}' is linked statically, and opens no libraries"
    except (ElfError, OSError):
        pass  # a script; what it starts is not known
    return (
        "the program called no function of CANN, or not by way of LD_LIBRARY_PATH, which begins "
        f"with the folder of the capture. Scripts that source set_env.sh put CANN before it: "
        f"source it first, and capture what the script starts; 'ldd {os.fspath(path)}' and "
        "LD_DEBUG=libs show what is loaded"
    )


def complain(command: str, error: object, status: int = _UNUSABLE) -> int:
    """Print why a command of captures cannot do what it is for.

    Args:
        command: The command, e.g. ``trace show``.
        error: The reason.
        status: The exit status.

    Returns:
        The exit status.
    """
    if isinstance(error, OSError) and error.filename is not None:
        error = f"{os.fspath(error.filename)!r}: {error.strerror}"
    sys.stderr.write(f"pyaclnn {command}: {error}\n")
    return status


def environment_of(options: argparse.Namespace) -> dict[str, str]:
    """Return the environment in which a program is captured, by the options of the command.

    Raises:
        BackendNotFoundError: There is nothing to capture.
    """
    first, last = options.calls or (0, None)
    settings = Settings(options.contents, options.largest, options.limit or 0, first, last,
                        tuple(options.full or ()))  # fmt: skip
    return captured(os.environ, options.output, settings)


def run_captured(options: argparse.Namespace) -> int:
    """Run a program, record its calls, and return its status; 2 if there were none."""
    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program:
        options.parser.error("a program is missing after 'capture -o FILE --'")
    try:
        require_new(options.output)
    except OSError as error:
        return complain("capture", error)
    environment = environment_of(options)
    try:
        status = run(program, environment)
    except FileNotFoundError:
        return complain("capture", f"there is no program '{program[0]}'", _NOT_FOUND)
    except OSError as error:
        message = f"'{program[0]}' cannot run: {error.strerror}"
        return complain("capture", message, _NOT_EXECUTABLE)
    if os.path.lexists(options.output):
        if options.full:
            from pyaclnn.capture.uncalled import uncalled  # noqa: PLC0415  # it needs NumPy

            for message in uncalled(tuple(options.full), options.output):
                complain("capture", message)
        return status
    return complain("capture", f"nothing was recorded: {why_nothing(program[0])}",
                     status or _UNUSABLE)  # fmt: skip
