# SPDX-License-Identifier: Apache-2.0
"""Programs that a device holds: started, watched, and ended in a measured time."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["HeldProgram", "processes_of", "seconds_to_leave"]

_LONGEST = 300
OWN_PROCESSES = {"PYACLNN_MOCK_FORK_SERVER": ""}
"""Has a program start its device processes itself, so that they are its children."""


def seconds_to_leave() -> float:
    """Return how long a program may take to end: 10 s on an idle machine, more on a busy one."""
    return 10 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) ** 2


def processes_of(pid: int) -> list[int]:
    """List the processes that a process has started, and those of these."""
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text(encoding="ascii").split()):
            found += [child, *processes_of(child)]
    return found


def _has_ended(process: int, seconds: float) -> bool:
    """Wait for a process that is no child of this one."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


class HeldProgram:
    """Lines of Python in a process of their own, which a device holds.

    What holds it opens a pipe, which the environment variable ``HELD`` names, to write: it has
    begun then, and goes on when ``release`` is called.

    Args:
        folder: An empty folder for the pipe and what the program writes.
        code: The lines.
        environment: Variables beside those of this process; None removes one.
    """

    def __init__(self, folder: Path, code: str, **environment: str) -> None:
        self._pipe, self._err = folder / "held", folder / "err"
        os.mkfifo(self._pipe)
        # A shell's background jobs, and what they start, are born ignoring Ctrl-C.
        first = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        with self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", first + code],
                env={**os.environ, **OWN_PROCESSES, "HELD": str(self._pipe), **environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=err,
                text=True,
            )
        self._reader: int | None = None
        self.others: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in [*self.others, *processes_of(self.process.pid)]:
            if not _has_ended(process, 0):
                os.kill(process, signal.SIGKILL)
        self.process.kill()
        self.process.communicate()
        self.release()

    def await_held(self) -> None:
        """Wait until something holds the program, and note the processes that it has started."""
        self._reader = os.open(self._pipe, os.O_RDONLY | os.O_NONBLOCK)
        poll, end = select.poll(), time.monotonic() + _LONGEST
        poll.register(self._reader, select.POLLIN)
        while not poll.poll(1000):
            assert self.process.poll() is None, self.errors()
            assert time.monotonic() < end
        self.others = processes_of(self.process.pid)

    def release(self) -> None:
        """Let go what holds the program."""
        if self._reader is not None:
            os.close(self._reader)
            self._reader = None

    def kill_others(self) -> None:
        """Kill the processes that the program has started."""
        for process in self.others:
            os.kill(process, signal.SIGKILL)

    def end(self, number: int | None = None, longest: float = _LONGEST) -> tuple[int, str]:
        """Wait for the end of the program, after a signal to it if one is given.

        Returns:
            Its status and output. It has ended in time, and nothing of it is left.
        """
        began = time.monotonic()
        if number is not None:
            self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=longest)
        took, most = time.monotonic() - began, seconds_to_leave()
        assert number is None or took < most, (took, most, self.errors())
        left = [process for process in self.others if not _has_ended(process, 60)]
        assert not left, self.errors()
        return self.process.returncode, out

    def errors(self) -> list[str]:
        """Return the lines that the program has written to its standard error."""
        return self._err.read_text(encoding="utf-8", errors="replace").splitlines()
