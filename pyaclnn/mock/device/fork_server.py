# SPDX-License-Identifier: Apache-2.0
"""Fork server: device processes that begin as forks, with Python, NumPy and this package loaded.

To load these takes several times as long as the rest of what a short program does. The side of the
hosts is ``mock_libs/model/process/fork_server.c``.

A fork is a process like one that its host starts by itself, but for its parent and its session. It
has the host's environment, folder, error output, descriptors and signals. A fork inherits all else
from the server; a host that has it otherwise is refused, and starts Python itself. The priority of
input and output is not compared, and forks of one server share the seed of hashes.

Paths are texts here: every fork would have loaded `pathlib`.
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
import time
import warnings
from typing import TYPE_CHECKING, NamedTuple, NoReturn, cast

from pyaclnn.mock.device.process import main as run_device_process

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
"""Modules that a device process imports to run operators."""

_FIRST = 3
"""The number of the first descriptor that a process of Python gets from its host."""

_SECONDS_WITHOUT = 10.0
"""Lifetime of a server without children."""

_MOST_BYTES = 1 << 20
"""Maximum size of a request; a socket takes less."""

_MOST_DESCRIPTORS = 8
_CREDENTIALS = struct.Struct("iII")  # struct ucred: pid, uid, gid
_INHERITED = (
    *(b"Umask", b"Uid", b"Gid", b"Groups", b"Cap", b"NoNewPrivs", b"Seccomp", b"THP_enabled"),
    b"Cpus_allowed",
)
"""Lines of /proc/PID/task/TID/status on what a new process has of the thread that starts it."""

_OF_PYTHON = {signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ}
"""Signals that a device process of Python ignores, whoever starts it."""


class Start(NamedTuple):
    """Request of a host: the process to start.

    Args:
        ignored: Signals that the host ignores.
        blocked: Signals that its thread blocks.
        environment: All variables.
        folder: Path of the host's folder.
        error_output: Descriptor of the host's standard error.
        descriptors: Descriptors for the device process.
    """

    ignored: set[signal.Signals]
    blocked: set[signal.Signals]
    environment: list[bytes]
    folder: str
    error_output: int
    descriptors: list[int]

    def run(self) -> NoReturn:
        """Be that process, in a fork."""
        wanted = [self.error_output, *self.descriptors]
        above = max(*wanted, _FIRST + len(wanted)) + 1
        for place, number in enumerate(wanted):
            os.dup2(number, above + place)
        for place in range(len(wanted)):
            os.dup2(above + place, _FIRST - 1 + place)
        _close_from(_FIRST + len(self.descriptors))
        coerced = os.environb.get(b"LC_CTYPE")  # which Python sets in the locale C
        os.environ.clear()
        for entry in reversed(self.environment):  # the first of a name counts
            name, is_variable, text = entry.partition(b"=")
            if is_variable:
                os.environb[name] = text
        if coerced is not None:
            os.environb.setdefault(b"LC_CTYPE", coerced)
        os.chdir(self.folder)
        for number in self.ignored:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.blocked)
        sys.argv[1:] = [str(_FIRST + place) for place in range(len(self.descriptors))]
        random = sys.modules.get("numpy.random")  # NumPy 1.26 has loaded it
        if random is not None:
            random.seed()  # all forks would draw the same numbers
        run_device_process(sys.argv[1:])


@dataclasses.dataclass(slots=True)
class _Child:
    """A fork, in the server; its host is there as long as it has a connection."""

    process: int
    connection: socket.socket | None
    is_reported: bool = False


def conditions(process: int, thread: int) -> tuple[object, ...]:
    """Return what a thread passes on to a process that it starts, and a fork has of the server.

    Args:
        process: The pid of its process.
        thread: Its number.

    Raises:
        OSError: It has ended, or belongs to somebody else.
    """
    folder = f"/proc/{process}/task/{thread}"
    root = os.stat(f"{folder}/root")  # noqa: PTH116
    return (
        *(_content(f"{folder}/{name}") for name in ("limits", "cgroup", "oom_score_adj")),
        {name: text for name, text in _status(folder).items() if name.startswith(_INHERITED)},
        sorted(os.readlink(f"{folder}/ns/{name}") for name in os.listdir(f"{folder}/ns")),  # noqa: PTH115, PTH208
        (root.st_dev, root.st_ino),
        os.getpriority(os.PRIO_PROCESS, thread),
        os.sched_getscheduler(thread),
        os.sched_getparam(thread).sched_priority,
    )


class ForkServer:
    """Server whose forks start with the same variables.

    Args:
        listening: The socket that hosts connect to.
        session: The process in whose lifetime it listens.
    """

    def __init__(self, listening: socket.socket, session: int) -> None:
        self._listening = listening
        self._session = session
        self._children: list[_Child] = []
        self._conditions = conditions(os.getpid(), os.getpid())
        self._starts = 0
        self._last_use = time.monotonic()
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
        while self._is_wanted():
            for key, _ in self._selector.select(1.0):
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

    def _is_wanted(self) -> bool:
        """Return whether it has children, or had one lately and its session lives."""
        if self._children:
            self._last_use = time.monotonic()
            return True
        is_used = time.monotonic() - self._last_use < _SECONDS_WITHOUT
        return is_used and _lives(self._session)

    def _accept(self) -> Start | None:
        """Fork for a host, or refuse it. Returns what to be, in the fork."""
        try:
            connection, _ = self._listening.accept()
        except OSError:  # the host has given up, or this process has no descriptor left
            return None
        descriptors: list[int] = []
        process = start = None
        # The host has ended, or a resource is used up, or it is of another version.
        with contextlib.suppress(OSError, ValueError, LookupError):
            start = self._receive(connection, descriptors)
            go, answered = os.pipe()
            descriptors += go, answered
            process = None if start is None else _fork()
            if process != 0:
                connection.send(struct.pack("=i", process or 0))
                os.write(answered, b".")
        if process == 0:
            os.close(answered)
            if not os.read(go, 1):  # without an answer, the host starts a process of its own
                os._exit(0)
            connection.close()
            self._close()
            return start
        for descriptor in descriptors:
            os.close(descriptor)
        if process:
            child = _Child(process, connection)
            self._children.append(child)
            self._selector.register(connection, selectors.EVENT_READ, child)
            self._prepare()
        else:
            connection.close()
        return None

    def _prepare(self) -> None:
        """Import what forks need, after the second start: a server may never have a third."""
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
        request, received, flags, _ = socket.recv_fds(connection, _MOST_BYTES, _MOST_DESCRIPTORS)
        descriptors += received
        if flags & socket.MSG_CTRUNC:  # no descriptor is left
            return None
        thread, personality, *environment, _ = request.split(b"\0")
        # Of another process, only a debugger may read the personality.
        if int(personality, 16) != int(_content("/proc/self/personality"), 16):
            return None
        if conditions(host, int(thread)) != self._conditions:
            return None
        folder = f"/proc/{host}/cwd"
        error_output, *others = received
        if not os.access(folder, os.X_OK):
            return None
        status = _status(f"/proc/{host}/task/{int(thread)}")
        ignored, blocked = (_signals(status[name]) for name in (b"SigIgn", b"SigBlk"))
        return Start(ignored, blocked, environment, folder, error_output, others)

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


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        pass
    return True


def _close_from(first: int, kept: int = -1) -> None:
    """Close descriptors from a number on, except one."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if int(name) >= first and int(name) != kept:
            with contextlib.suppress(OSError):  # the one that lists them
                os.close(int(name))


def _status(folder: str) -> dict[bytes, bytes]:
    """Return the lines of a status by their names."""
    lines = _content(f"{folder}/status").splitlines()
    return {name: text for name, _, text in (line.partition(b":") for line in lines)}


def _signals(mask: bytes) -> set[signal.Signals]:
    """Return the signals in a mask, but for those of the C library."""
    bits = int(mask, 16)
    named = [*signal.Signals]
    return {number for number in named if bits >> (number - 1) & 1}


def _content(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()


def _leave_host(listening: int) -> None:
    """Have nothing of the host that has started this process but a socket."""
    if os.fork():
        os._exit(0)  # the server is nobody's child
    os.setsid()
    os.chdir("/")
    os.dup2(1, 2)
    if sys.stderr is None:  # the host has none
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    _close_from(_FIRST, listening)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals():
        if number not in _OF_PYTHON and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def main(argv: Sequence[str]) -> NoReturn:
    """Run the fork server; never returns. A fork becomes a device process.

    Args:
        argv: The descriptor of the listening socket.
    """
    listening = socket.socket(fileno=int(argv[0]))
    _leave_host(listening.fileno())
    start = ForkServer(listening, int(os.environ[VARIABLE])).serve()
    if start is None:
        os._exit(0)
    start.run()
