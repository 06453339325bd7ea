# SPDX-License-Identifier: Apache-2.0
"""Programs of Python that begin as forks: they need not import again what all of them import.

To start Python with NumPy and this package takes most programs here longer than all that they do.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["run_program", "serve_programs"]

_SERVER = Path(__file__).with_name("forked_python.py")
# What an interpreter, the system's loader, a library or this package reads when it starts.
_AT_START = (
    *("PYTHON", "LD_", "LC_", "LANG", "OMP_", "OPENBLAS_", "MALLOC_", "GLIBC_", "NPY_"),
    *("PYACLNN_CACHING", "PYACLNN_TRACE"),
)
_LONGEST = 300.0
_open: list[_Server] = []


def run_program(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    folder: Path | None = None,
    given: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a program; as a fork of a server if it is one of Python, and is started as that was.

    Args:
        command: The program and its arguments.
        environment: All variables that it has.
        folder: Where it runs; None for the current one.
        given: Its standard input.
    """
    words = list(map(str, command))
    for server in _open:
        if _can_fork(words[0], words[1:]) and _at_start(environment) == server.at_start:
            request = {"folder": str(folder or Path.cwd()), "environment": dict(environment)}
            return server.run({**request, "words": words[1:]}, words, given)
    return subprocess.run(
        words,
        env=environment,
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        timeout=_LONGEST,
        check=False,
    )


@contextlib.contextmanager
def serve_programs() -> Iterator[None]:
    """Have a server, so long as the context is entered."""
    server = _Server()
    _open.append(server)
    yield
    _open.remove(server)
    server.close()


def _can_fork(program: str, options: list[str]) -> bool:
    while options and options[0] == "-W":
        options = options[2:]
    is_known = options[:1] == ["-c"] or options[:2] == ["-m", "pyaclnn"]
    return program == sys.executable and is_known


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in environment.items() if name.startswith(_AT_START)}


class _Server:
    """Python that forks."""

    def __init__(self) -> None:
        self.at_start = _at_start(os.environ)
        self._channel, theirs = socket.socketpair()
        command = [sys.executable, str(_SERVER), str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )

    def close(self) -> None:
        self._channel.close()
        self._process.wait()

    def run(
        self, request: dict[str, object], command: list[str], given: str
    ) -> subprocess.CompletedProcess[str]:
        with _file(json.dumps(request)) as asked, _file(given) as entered:
            reading, writing = zip(*(os.pipe() for _ in range(3)), strict=True)
            socket.send_fds(self._channel, [b"."], [asked, entered, *writing])
        for descriptor in writing:
            os.close(descriptor)
        try:
            printed, reported, answer = _read(reading, command)
        finally:
            for descriptor in reading:
                os.close(descriptor)
        status = os.waitstatus_to_exitcode(int(answer.split()[1]))
        return subprocess.CompletedProcess(command, status, printed, reported)


@contextlib.contextmanager
def _file(text: str) -> Iterator[int]:
    """Give a descriptor from which a text can be read."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        yield file.fileno()


def _read(descriptors: Sequence[int], command: list[str]) -> list[str]:
    """Read what a program prints, reports, and how it ends: its process and its status."""
    read = dict.fromkeys(descriptors, b"")
    end = time.monotonic() + _LONGEST
    with selectors.DefaultSelector() as ready:
        for descriptor in descriptors:
            ready.register(descriptor, selectors.EVENT_READ)
        while ready.get_map():
            found = ready.select(end - time.monotonic())
            if not found:
                os.kill(int(read[descriptors[-1]].split()[0]), signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, _LONGEST)
            for key, _ in found:
                part = os.read(key.fd, 1 << 16)
                read[key.fd] += part
                if not part:
                    ready.unregister(key.fd)
    return [re.sub("\r\n?", "\n", data.decode()) for data in read.values()]
