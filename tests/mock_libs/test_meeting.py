# SPDX-License-Identifier: Apache-2.0
"""The process where ranks meet, spoken to in packets as the C library speaks."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyaclnn.mock.collectives.packets import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_JOIN, _SUBMIT, _LEAVE = 1, 3, 4
_WELCOME, _DONE, _AWAITED = 1, 2, 3
_TIMEOUT = 60


class _Rank:
    """A rank that has asked for its place among two."""

    def __init__(self, address: str, rank: int) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(_TIMEOUT)
        self.socket.connect(address)
        self.socket.send(struct.pack("<IIIIiI", _JOIN, VERSION, rank, 2, rank, 1) + b"g")

    def submit_barrier(self, number: int) -> None:
        part = struct.pack("<24sIIIIQQQQ", b"Barrier", 0, 0, 0, 0, 0, 0, 0, 0)
        self.socket.send(struct.pack("<IIII128s", _SUBMIT, number, 0, 1, b"") + part)

    def hear(self, about: int) -> tuple[int, str]:
        """The result and the text of the next packet about something, over those before it."""
        while True:
            kind, _, result, _, text = struct.unpack("<IIII1024s", self.socket.recv(4096))
            if kind == about:
                return result, text.rstrip(b"\0").decode()


@contextmanager
def _meeting(address: str) -> Iterator[subprocess.Popen[bytes]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen()
        number = listening.fileno()
        code = f"from pyaclnn.mock.collectives.process import main; main(['{number}'])"
        process = subprocess.Popen([sys.executable, "-c", code], cwd="/", pass_fds=[number])
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


def test_a_rank_that_leaves_with_packets_unread_has_left_and_not_died(tmp_path: Path) -> None:
    """The kernel tells of a socket closed over unread packets before it hands out the last ones."""
    address = str(tmp_path / "meeting")
    with _meeting(address) as process:
        stays, leaves = _Rank(address, 0), _Rank(address, 1)
        for rank in (stays, leaves):
            assert rank.hear(_WELCOME) == (0, "")
        stays.submit_barrier(7)
        assert leaves.socket.recv(4096, socket.MSG_PEEK)[:4] == struct.pack("<I", _AWAITED)
        os.kill(process.pid, signal.SIGSTOP)
        leaves.socket.send(struct.pack("<I", _LEAVE))
        leaves.socket.close()
        os.kill(process.pid, signal.SIGCONT)
        with stays.socket:
            result, text = stays.hear(_DONE)
        assert result != 0
        assert "rank 1 has destroyed its communicator, or ended" in text
