# SPDX-License-Identifier: Apache-2.0
"""Python that has imported what a device process needs, and forks one for each launcher that asks.

It stands alone: ``python forked_devices.py DESCRIPTOR PREFIX...`` with a socket that listens, and
the beginnings of the variables that must be those of this process. The launcher is
``device_launcher.c``.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import os
import resource
import selectors
import signal
import socket
import sys
from typing import NamedTuple

_LOADED = (
    "pyaclnn.mock.device.process",
    "pyaclnn.mock.device.device",
    "pyaclnn.mock.protocol.memory",
)
_ABOVE = 20
_LIMITS = 16
_SENT = 9
"""The most descriptors of a request: the file with its texts, and those of the launcher."""


class _Request(NamedTuple):
    """A process that a launcher asks for, as its fork gets it."""

    launcher: socket.socket
    texts: int
    descriptors: list[int]


class _Server:
    """Forks for each launcher, ends the fork with it, and tells it how the fork has ended."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._ready = selectors.DefaultSelector()

    def serve(self) -> _Request | None:
        """Serve until standard input ends; the server returns None then, and a fork its request."""
        self._ready.register(self._listener, selectors.EVENT_READ)
        self._ready.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in self._ready.select():
                if key.fd == 0:
                    return None
                if key.fileobj is not self._listener:
                    self._end(*key.data)
                    continue
                request = self._fork()
                if request is not None:
                    return request

    def _fork(self) -> _Request | None:
        launcher = self._listener.accept()[0]
        texts, *descriptors = socket.recv_fds(launcher, 1, _SENT)[1]
        process = os.fork()
        if process == 0:
            self._close_all()
            return _Request(launcher, texts, descriptors)
        for descriptor in (texts, *descriptors):
            os.close(descriptor)
        ended = os.pidfd_open(process)
        for watched in (launcher, ended):
            self._ready.register(watched, selectors.EVENT_READ, (process, launcher, ended))
        return None

    def _end(self, process: int, launcher: socket.socket, ended: int) -> None:
        if ended not in self._ready.get_map():
            return  # fork and launcher at once
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with contextlib.suppress(OSError):
            launcher.send(str(status).encode())
        self._ready.unregister(launcher)
        self._ready.unregister(ended)
        launcher.close()
        os.close(ended)

    def _close_all(self) -> None:
        """Close what a fork has of the server."""
        for key in tuple(self._ready.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
            elif key.fd:
                os.close(key.fd)
        self._ready.close()


def _become(request: _Request, prefixes: tuple[bytes, ...]) -> bytes:
    """Make this fork the process that was asked for, unless that would differ from it.

    Returns:
        The code that it is to run.
    """
    with open(request.texts, "rb") as file:  # noqa: PTH123  # it has no path
        head, _, rest = file.read().partition(b"\0\0")
    limits, folder, _, code, *words = head.split(b"\0")
    variables = dict(entry.split(b"=", 1) for entry in rest.split(b"\0") if b"=" in entry)
    at_start, own = (
        {name: text for name, text in table.items() if name.startswith(prefixes)}
        for table in (variables, os.environb)
    )
    if at_start != own or list(map(int, limits.split())) != _limits():
        os._exit(0)
    os.setpgid(0, 0)
    moved = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for one in request.descriptors]
    answer = fcntl.fcntl(request.launcher, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    request.launcher.close()
    for one in request.descriptors:
        os.close(one)
    for place, one in enumerate(moved):
        os.dup2(one, place)
        os.close(one)
    os.environb.clear()
    os.environb.update(variables)
    os.chdir(folder)
    sys.argv[:], sys.path[0] = ["-c", *map(os.fsdecode, words)], ""
    os.write(answer, b"+")
    os.close(answer)
    return code


def _limits() -> list[int]:
    found = (resource.getrlimit(which)[0] for which in range(_LIMITS))
    return [limit % (1 << 64) for limit in found]  # the largest is -1 here


def main() -> None:
    """Serve, and be in each fork what its launcher asks for."""
    for name in _LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # pages that no collection touches stay common
    request = _Server(socket.socket(fileno=int(sys.argv[1]))).serve()
    if request is not None:
        code = _become(request, tuple(map(os.fsencode, sys.argv[2:])))
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102  # as `-c`


if __name__ == "__main__":
    main()
