# SPDX-License-Identifier: Apache-2.0
"""Fork server: device processes that begin as forks, with Python, NumPy and this package loaded.

To load these takes several times as long as the rest of what a short program does. The C side is
``mock_libs/model/runtime/fork_server.c``.
Paths are texts: every fork would have loaded `pathlib`.

A fork is a process like one that its host starts by itself. It has the host's environment, folder,
error output and descriptors, and nothing of the server's. What it cannot get, it must have already:
a host with other limits, permissions or namespaces than the server is refused, and starts Python.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import os
import selectors
import signal
import socket
import struct
import sys
import warnings
from typing import TYPE_CHECKING, NamedTuple, NoReturn, cast

import pyaclnn.mock.device.process  # noqa: F401  # every fork needs it

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ForkServer", "Start", "conditions", "main"]

VARIABLE = "PYACLNN_MOCK_FORK_SERVER"
"""The process in whose lifetime there are fork servers."""

_MODULES = (
    "pyaclnn.mock.device.device",
    "pyaclnn.mock.operators.described",
    "pyaclnn.mock.operators.undescribed",
    "pyaclnn.reference.fast.strips",
    "pyaclnn.reference.kernels.table",
)
"""What a process imports when it runs operators."""

_PROGRAMS = {
    b"pyaclnn.mock.collectives.process": "pyaclnn.mock.collectives.process",
    b"pyaclnn.mock.device.process": "pyaclnn.mock.device.process",
}
"""The modules of which a fork can be the `main`."""

_FIRST = 3
"""The number of the first descriptor that a process of Python gets from its host."""

_SECONDS_WITHOUT = 10.0
"""How long a server lives without a child."""

_MOST_DESCRIPTORS = 8
_CREDENTIALS = struct.Struct("iII")  # struct ucred: pid, uid, gid
_INHERITED = (
    *(b"Umask", b"Uid", b"Gid", b"Groups", b"Cap", b"NoNewPrivs", b"Seccomp"),
    b"Cpus_allowed:",
)
"""Lines of /proc/PID/status on what a new process has of its parent."""


class Start(NamedTuple):
    """What a host wants to be started.

    Args:
        program: The name of the module whose `main` is the process.
        environment: All variables.
        folder: Descriptor of the host's folder.
        error_output: Descriptor of the host's standard error.
        descriptors: What `main` gets.
    """

    program: bytes
    environment: list[bytes]
    folder: int
    error_output: int
    descriptors: list[int]

    def run(self) -> NoReturn:
        """Be that process, in a fork."""
        os.environ.clear()
        for entry in self.environment:
            name, is_variable, text = entry.partition(b"=")
            if is_variable:
                os.environb[name] = text
        os.fchdir(self.folder)
        wanted = [self.error_output, *self.descriptors]
        above = max(*wanted, _FIRST + len(wanted)) + 1
        for place, number in enumerate(wanted):
            os.dup2(number, above + place)
        os.closerange(_FIRST, above)
        for place in range(len(wanted)):
            os.dup2(above + place, _FIRST - 1 + place)
        os.closerange(above, above + len(wanted))
        numbers = [str(_FIRST + place) for place in range(len(self.descriptors))]
        sys.argv[1:] = numbers
        sys.exit(importlib.import_module(_PROGRAMS[self.program]).main(numbers))


@dataclasses.dataclass(slots=True)
class _Child:
    """A fork, in the server; its host is there as long as it has a connection."""

    process: int
    connection: socket.socket | None
    is_reported: bool = False


def conditions(process: int | str) -> tuple[object, ...]:
    """Return what a process has of its parent, and passes on to its children.

    Args:
        process: Its pid, or "self".

    Raises:
        OSError: It has ended, or belongs to somebody else.
    """
    folder = f"/proc/{process}"
    status, *others = (
        _content(f"{folder}/{name}") for name in ("status", "limits", "cgroup", "oom_score_adj")
    )
    root = os.stat(f"{folder}/root")  # noqa: PTH116
    return (
        *others,
        [line for line in status.splitlines() if line.startswith(_INHERITED)],
        sorted(os.readlink(f"{folder}/ns/{name}") for name in os.listdir(f"{folder}/ns")),  # noqa: PTH115, PTH208
        (root.st_dev, root.st_ino),
        os.getpriority(os.PRIO_PROCESS, 0 if process == "self" else int(process)),
    )


class ForkServer:
    """Server of one kind of forks.

    Args:
        listening: The socket that hosts connect to.
        session: The process in whose lifetime it listens.
    """

    def __init__(self, listening: socket.socket, session: int) -> None:
        self._listening = listening
        self._session = session
        self._children: list[_Child] = []
        self._conditions = conditions("self")
        self._starts = 0
        self._selector = selectors.DefaultSelector()

    def serve(self) -> Start | None:
        """Serve hosts until there are none.

        Returns:
            In a fork, what it is to be; None in the server, at its end.
        """
        ended, notify = socket.socketpair()
        for end in (ended, notify):
            end.setblocking(False)
            self._selector.register(end, selectors.EVENT_READ)
        self._selector.register(self._listening, selectors.EVENT_READ)
        signal.set_wakeup_fd(notify.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        without = 0.0
        while self._children or (
            without < _SECONDS_WITHOUT and os.access(f"/proc/{self._session}", os.F_OK)
        ):
            ready = self._selector.select(1.0)
            without = 0.0 if ready or self._children else without + 1.0
            for key, _ in ready:
                if key.fileobj is self._listening:
                    start = self._accept()
                    if start is not None:
                        return start
                elif key.fileobj is ended:
                    ended.recv(4096)
                else:
                    self._disconnect(key.data)
            self._look_at_children()
        return None

    def _has_session(self) -> bool:
        return os.access(f"/proc/{self._session}", os.F_OK)

    def _accept(self) -> Start | None:
        """Fork for a host, or refuse it. Returns what to be, in the fork."""
        connection, _ = self._listening.accept()
        descriptors: list[int] = []
        process = 0
        with contextlib.suppress(OSError):  # the host has ended, or a resource is used up
            start = self._receive(connection, descriptors)
            self._prepare()
            process = 0 if start is None else _fork()
            if start is not None and process == 0:
                connection.close()
                self._close()
                return start
            connection.send(struct.pack("=i", process))
        for descriptor in descriptors:
            os.close(descriptor)
        if process:
            child = _Child(process, connection)
            self._children.append(child)
            self._selector.register(connection, selectors.EVENT_READ, child)
        else:
            connection.close()
        return None

    def _prepare(self) -> None:
        """Import what forks need, before the second: a server may never have one."""
        self._starts += 1
        if self._starts == 2:  # noqa: PLR2004  # the second
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            for module in _MODULES:
                importlib.import_module(module)
            gc.collect()
            gc.freeze()

    def _receive(self, connection: socket.socket, descriptors: list[int]) -> Start | None:
        """Receive what to start, and its descriptors. None: the host has to start it."""
        credentials = connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size
        )
        host, user, _ = _CREDENTIALS.unpack(credentials)
        if user != os.geteuid():
            return None
        connection.settimeout(1.0)
        _, received, _, _ = socket.recv_fds(connection, 1, _MOST_DESCRIPTORS)
        descriptors += received
        if len(received) < 2 or conditions(host) != self._conditions:  # noqa: PLR2004  # the first two, below
            return None
        request, error_output, *others = received
        folder = os.open(f"/proc/{host}/cwd", os.O_PATH)
        descriptors.append(folder)
        program, *environment, _ = os.pread(request, os.fstat(request).st_size, 0).split(b"\0")
        if program not in _PROGRAMS:  # of another version
            return None
        return Start(program, environment, folder, error_output, others)

    def _close(self) -> None:
        """Close all sockets; later, they would close what others have under their numbers."""
        for key in [*self._selector.get_map().values()]:
            cast("socket.socket", key.fileobj).close()
        self._selector.close()

    def _disconnect(self, child: _Child) -> None:
        """Forget a host that does not look at its child any more, or has ended."""
        if child.connection is not None:
            self._selector.unregister(child.connection)
            child.connection.close()
            child.connection = None

    def _look_at_children(self) -> None:
        """Report to hosts how their processes have ended, and reap those without a host."""
        for child in [*self._children]:
            looking = os.WEXITED | os.WNOHANG | (os.WNOWAIT if child.connection else 0)
            end = os.waitid(os.P_PID, child.process, looking)
            if end is not None and child.connection is None:
                self._children.remove(child)
            elif end is not None and child.connection is not None and not child.is_reported:
                child.is_reported = True
                with contextlib.suppress(OSError):  # the host may have ended
                    child.connection.send(struct.pack("=ii", end.si_code, end.si_status))


def _fork() -> int:
    """Fork; the fork leads a group, and has nothing of the server's signals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of OpenBLAS, which it ends before a fork
        process = os.fork()
    if process == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setpgid(0, 0)  # Ctrl-C is the host program's business
    else:
        with contextlib.suppress(OSError):  # the fork has done it
            os.setpgid(process, process)
    return process


def _content(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()


def main(argv: Sequence[str]) -> NoReturn:
    """Be the fork server; returns only in forks, and never from those.

    Args:
        argv: The descriptor of the listening socket.
    """
    if os.fork():
        os._exit(0)  # the server is nobody's child
    os.setsid()
    listening = socket.socket(fileno=int(argv[0]))
    number = listening.fileno()
    os.dup2(1, 2)
    os.closerange(_FIRST, number)
    os.closerange(number + 1, os.sysconf("SC_OPEN_MAX"))
    start = ForkServer(listening, int(os.environ[VARIABLE])).serve()
    if start is None:
        os._exit(0)
    start.run()
