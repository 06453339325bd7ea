# SPDX-License-Identifier: Apache-2.0
"""A program that is captured: run as a child, with the signals that this process gets."""

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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

__all__ = ["run", "why_nothing"]

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
    """Return why no call of a program was recorded, as far as its file tells."""
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
