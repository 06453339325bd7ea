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

import pytest

from pyaclnn.mock.collectives.operations import OPERATIONS
from pyaclnn.mock.collectives.packets import RESULTS, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_JOIN, _SUBMIT, _LEAVE = 1, 3, 4
_WELCOME, _DONE, _AWAITED = 1, 2, 3
_TIMEOUT = 60


class _Rank:
    """A rank that has asked for its place in a group."""

    def __init__(self, address: str, rank: int, ranks: int = 2, group: bytes = b"g") -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(_TIMEOUT)
        self.socket.connect(address)
        self.socket.send(
            struct.pack("<IIIIiI", _JOIN, VERSION, rank, ranks, rank, len(group)) + group
        )

    def submit(
        self, number: int, operation: str = "Barrier", peer: int = 0, reason: bytes = b""
    ) -> None:
        part = struct.pack("<24sIIIIQQQQ", operation.encode(), 0, 0, peer, 0, 1, 0, 0, number)
        self.socket.send(struct.pack("<IIII128s", _SUBMIT, number, 0, 1, reason) + part)

    def leave(self) -> None:
        """Destroy the communicator."""
        self.socket.send(struct.pack("<I", _LEAVE))
        self.socket.close()

    def hear(self, about: int) -> tuple[int, str]:
        """The result and the text of the next packet about something, over those before it."""
        while True:
            kind, _, result, _, text = struct.unpack("<IIII1024s", self.socket.recv(4096))
            if kind == about:
                return result, text.rstrip(b"\0").decode()


@contextmanager
def _meeting(address: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen()
        number = listening.fileno()
        code = f"from pyaclnn.mock.collectives.process import main; main(['{number}'])"
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd="/",
            pass_fds=[number],
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        _, errors = process.communicate()
    assert errors == b""


def test_a_rank_that_leaves_with_packets_unread_has_left_and_not_died(tmp_path: Path) -> None:
    """The kernel tells of a socket closed over unread packets before it hands out the last ones."""
    address = str(tmp_path / "meeting")
    with _meeting(address) as process:
        stays, leaves = _Rank(address, 0), _Rank(address, 1)
        for rank in (stays, leaves):
            assert rank.hear(_WELCOME) == (0, "")
        stays.submit(7)
        assert leaves.socket.recv(4096, socket.MSG_PEEK)[:4] == struct.pack("<I", _AWAITED)
        os.kill(process.pid, signal.SIGSTOP)
        leaves.leave()
        os.kill(process.pid, signal.SIGCONT)
        with stays.socket:
            result, text = stays.hear(_DONE)
        assert result != 0
        assert "rank 1 has destroyed its communicator, or ended" in text


_WAYS_TO_GIVE_UP: dict[str, tuple[Callable[[_Rank], None], str]] = {
    "destroys its communicator": (_Rank.leave, "E_REMOTE"),
    "is killed": (lambda rank: rank.socket.close(), "E_REMOTE"),
    "sends no packet": (lambda rank: _send_and_close(rank, b"\xff" * 40), "E_REMOTE"),
    "sends memory without a descriptor": (
        lambda rank: _send_and_close(rank, struct.pack("<IIQQ", 2, 0, 1 << 40, 4096)),
        "E_REMOTE",
    ),
    "lets time pass": (lambda _: None, "E_TIMEOUT"),
}


def _send_and_close(rank: _Rank, packet: bytes) -> None:
    rank.socket.send(packet)
    rank.socket.close()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("way", _WAYS_TO_GIVE_UP)
def test_a_rank_that_gives_up_fails_the_others_alike_and_not_the_process(
    way: str, tmp_path: Path
) -> None:
    """Rank 0 submits and gives up, rank 1 never arrives, rank 2 arrives before or after that."""
    expected = _WAYS_TO_GIVE_UP[way][1]
    address = str(tmp_path / "meeting")
    with _meeting(address, HCCL_EXEC_TIMEOUT="1"):
        cases = [(operation, late) for operation in OPERATIONS for late in (False, True)]
        groups = [_give_up(address, way, *case) for case in cases]
        for case, (*_, last) in zip(cases, groups, strict=True):
            result, text = last.hear(_DONE)
            assert (result, "rank" in text) == (RESULTS[expected], True), (case, text)
            if expected == "E_REMOTE":  # and so does whatever follows in that group
                last.submit(6, _MATCHING.get(case[0], case[0]))
                assert last.hear(_DONE)[0] == RESULTS["E_REMOTE"], case
        _another_group_still_works(address)
        for group in groups:
            for rank in group:
                rank.socket.close()


_MATCHING = {"Send": "Recv", "Recv": "Send"}


def _give_up(address: str, way: str, operation: str, late: bool) -> list[_Rank]:
    """Let rank 0 of a new group of three give up an operation that rank 2 waits for."""
    name = f"{operation} {late}".encode()
    ranks = [_Rank(address, number, 3, name) for number in range(3)]
    for rank in ranks:
        assert rank.hear(_WELCOME) == (0, "")
    if operation not in _MATCHING:  # a message would be complete with it
        ranks[0].submit(5, operation)
    if not late:
        ranks[2].submit(5, _MATCHING.get(operation, operation))
    _WAYS_TO_GIVE_UP[way][0](ranks[0])
    if late:
        ranks[2].submit(5, _MATCHING.get(operation, operation))
    return ranks


def test_two_ranks_that_send_first_give_up_and_leave_nothing_behind(tmp_path: Path) -> None:
    address = str(tmp_path / "meeting")
    with _meeting(address):
        pair = [_Rank(address, 0), _Rank(address, 1)]
        for rank, peer in zip(pair, (1, 0), strict=True):
            assert rank.hear(_WELCOME) == (0, "")
            rank.submit(5, "Send", peer)
        pair[0].leave()
        pair[1].submit(6, "Recv", 0)
        done = [pair[1].hear(_DONE) for _ in range(2)]
        assert [result for result, _ in done] == [RESULTS["E_REMOTE"]] * 2
        # The process ends with its last rank, so one stays until others have come.
        _another_group_still_works(address)
        pair[1].leave()


def test_an_operation_that_is_given_up_fails_alone(tmp_path: Path) -> None:
    """An aborted stream drops its operation; the group goes on."""
    address = str(tmp_path / "meeting")
    with _meeting(address):
        one, other = _Rank(address, 0), _Rank(address, 1)
        for rank in (one, other):
            assert rank.hear(_WELCOME) == (0, "")
        one.submit(5, reason=b"its stream was aborted")
        other.submit(5)
        result, text = other.hear(_DONE)
        assert result == RESULTS["E_REMOTE"]
        assert text.endswith("rank 0 gave up Barrier: its stream was aborted")
        assert one.hear(_DONE)[0] == RESULTS["E_REMOTE"]
        one.socket.close()
        other.socket.close()


def _another_group_still_works(address: str) -> None:
    pair = [_Rank(address, rank, group=b"another") for rank in range(2)]
    for rank in pair:
        assert rank.hear(_WELCOME) == (0, "")
    for rank in pair:
        rank.submit(7, "Barrier")
    for rank in pair:
        assert rank.hear(_DONE)[0] == RESULTS["E_INTERNAL"]  # it has no memory
        rank.leave()
