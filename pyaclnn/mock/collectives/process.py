# SPDX-License-Identifier: Apache-2.0
"""Rendezvous process: one thread that serves all ranks until the last has left."""

from __future__ import annotations

import array
import contextlib
import os
import selectors
import signal
import socket
import struct
import sys
import time
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from pyaclnn.base.errors import text_of
from pyaclnn.mock.collectives.group import Group, Rank, Timeouts
from pyaclnn.mock.collectives.packets import (
    RESULTS,
    VERSION,
    AnswerKind,
    AnswerPacket,
    JoinPacket,
    LeavePacket,
    MemoryPacket,
    PacketError,
    decode,
    encode,
)
from pyaclnn.mock.protocol.memory import DeviceMemory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.mock.collectives.packets import RankPacket

__all__ = ["main", "read_timeouts", "serve"]

_MOST_BYTES = 1 << 20
_PAUSE = 1.0
"""Seconds between checks that the process which started this one still exists."""
_RETRY = 0.05
_CONNECT = 120
_EXECUTE = 1836
_MOST = 1 << 31


def read_timeouts(environment: Mapping[str, str]) -> Timeouts:
    """Read the timeouts of ranks that wait for each other.

    Args:
        environment: ``HCCL_CONNECT_TIMEOUT`` and ``HCCL_EXEC_TIMEOUT``, seconds, whose defaults are
            CANN's: 120 and 1836.

    Raises:
        ValueError: One of them is no number of seconds.
    """

    def seconds(name: str, default: int, least: int) -> int:
        text = environment.get(name, "").strip() or str(default)
        if not text.isdecimal() or not least <= int(text) < _MOST:
            raise ValueError(
                f"EI0001: {name} is '{text}'; it must be a number of seconds from {least} on"
            )
        return int(text)

    return Timeouts(
        seconds("HCCL_CONNECT_TIMEOUT", _CONNECT, 1), seconds("HCCL_EXEC_TIMEOUT", _EXECUTE, 0)
    )


def _peer(own: socket.socket) -> tuple[int, int]:
    """Return the process that connected a socket, or listens at it, and its user."""
    process, user, _ = struct.unpack(
        "iii", own.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    )
    return process, user


class _Connection:
    """The socket of a rank."""

    def __init__(self, own: socket.socket) -> None:
        self.socket = own
        self.rank: Rank | None = None
        self.group: Group | None = None
        self.process, self.user = _peer(own)

    def send(self, answer: AnswerPacket) -> None:
        """Send a packet; a lost rank is detected when its socket is read."""
        try:
            self.socket.send(encode(answer), socket.MSG_DONTWAIT)
        except OSError:
            with contextlib.suppress(OSError):  # it is closed already
                self.socket.shutdown(socket.SHUT_RDWR)

    def receive(self) -> tuple[RankPacket, list[int]] | None:
        """Receive a packet and its descriptors; None: there are no more."""
        space = socket.CMSG_SPACE(array.array("i").itemsize)
        try:
            packet, controls, _, _ = self.socket.recvmsg(_MOST_BYTES, space)
        except ConnectionResetError:
            # Closed with unread packets: Linux reports that once, before the last packets.
            packet, controls, _, _ = self.socket.recvmsg(_MOST_BYTES, space)
        descriptors = array.array("i")
        for level, kind, data in controls:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
        return (decode(packet), list(descriptors)) if packet else None


class _Rendezvous:
    """All groups at one address."""

    def __init__(self, listening: socket.socket, environment: Mapping[str, str]) -> None:
        self._listening = listening
        self._groups: dict[bytes, Group] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(listening, selectors.EVENT_READ)
        self._connections = 0
        # Not the parent of now: the host may have ended while this process was starting.
        self._host, _ = _peer(listening)
        self._timeouts: Timeouts | None = None
        self._refusal = ""
        try:
            self._timeouts = read_timeouts(environment)
        except ValueError as error:
            self._refusal = text_of(error)

    def run(self) -> None:
        """Serve until no rank is left, or none can connect any more."""
        came = False
        while self._connections or not (came or os.getppid() != self._host):
            deadline = min((group.deadline() for group in self._groups.values()), default=0.0)
            pause = min(max(deadline - time.monotonic(), 0.0), _PAUSE) if deadline else _PAUSE
            for key, _ in self._selector.select(pause):
                if key.fileobj is self._listening:
                    self._accept()
                    came = True
                else:
                    self._receive(key.data)
            for group in self._groups.values():
                group.expire(time.monotonic())
            over = [name for name, group in self._groups.items() if group.is_over()]
            for name in over:
                del self._groups[name]

    def _accept(self) -> None:
        try:
            own, _ = self._listening.accept()
        except OSError:  # the rank has given up, or this process has no descriptor left
            time.sleep(_RETRY)
            return
        connection = _Connection(own)
        if connection.user not in (os.getuid(), 0):
            own.close()
            return
        self._connections += 1
        self._selector.register(own, selectors.EVENT_READ, connection)

    def _receive(self, connection: _Connection) -> None:
        try:
            received = connection.receive()
        except (OSError, PacketError):
            received = None
        if received is None:
            self._close(connection, "has died")
            return
        request, descriptors = received
        try:
            self._answer(connection, request, descriptors)
        except Exception as error:  # noqa: BLE001  # the other ranks must not lose the process
            self._close(connection, f"sent an invalid request ({type(error).__name__})")
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _answer(
        self, connection: _Connection, request: RankPacket, descriptors: Sequence[int]
    ) -> None:
        rank, group = connection.rank, connection.group
        if isinstance(request, JoinPacket):
            self._join(connection, request)
        elif rank is None or group is None:
            self._close(connection, "spoke before it joined")
        elif isinstance(request, MemoryPacket):
            if rank.memory is not None:
                rank.memory.close()
            rank.memory = DeviceMemory(descriptors[0], request.base, request.size)
        elif isinstance(request, LeavePacket):
            self._close(connection, "")
        else:
            group.submit(rank, request)

    def _join(self, connection: _Connection, request: JoinPacket) -> None:
        rank = Rank(request.rank, connection.process, request.device, connection.send)
        refusal = (RESULTS["E_PARA"], self._refusal)
        if request.version != VERSION:
            refusal = (RESULTS["E_INTERNAL"], "EI0008: the ranks come from different installations")
        elif self._timeouts is not None:
            group = self._groups.get(request.group)
            if group is None or group.is_over():
                group = self._groups[request.group] = Group(request.ranks, self._timeouts)
            refusal = group.join(rank, request.ranks)
            if refusal[0] == 0:
                connection.rank, connection.group = rank, group
                return
        result, text = refusal
        connection.send(AnswerPacket(AnswerKind.WELCOME, result=result, text=text))

    def _close(self, connection: _Connection, died: str) -> None:
        self._selector.unregister(connection.socket)
        connection.socket.close()
        self._connections -= 1
        rank, group = connection.rank, connection.group
        if rank is not None and group is not None:
            why = died or "has destroyed its communicator, or ended"
            group.remove(rank, why, unexpected=bool(died))


def serve(listening: socket.socket, environment: Mapping[str, str]) -> None:
    """Serve ranks until the last has left.

    Args:
        listening: The listening socket; connections of other users are refused.
        environment: Where `read_timeouts` reads.
    """
    np.seterr(all="ignore")
    _Rendezvous(listening, environment).run()


def main(argv: Sequence[str]) -> NoReturn:
    """Run the rendezvous process; never returns.

    Args:
        argv: The file descriptor of the listening socket.

    Raises:
        SystemExit: Always.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(argv[0])) as listening:
        serve(listening, os.environ)
    sys.exit(0)
