# SPDX-License-Identifier: Apache-2.0
"""Turns of the device process's threads at the socket."""

from __future__ import annotations

import socket
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from pyaclnn.mock.device.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUESTS = 2000
LONG = 255
"""The request that takes until `Threads.done`."""


class Threads:
    """Two threads that take numbers from a socket, each of one byte."""

    def __init__(self) -> None:
        self.host, self._device = socket.socketpair()
        self.turns = Turns(self._device.fileno())
        self.taken: list[int] = []
        self.begun, self.done = threading.Event(), threading.Event()
        self._threads = [threading.Thread(target=self._take) for _ in range(2)]
        for thread in self._threads:
            thread.start()

    def _take(self) -> None:
        while (request := self.turns.next(lambda: self._device.recv(1)[0])) is not None:
            self.taken.append(request)
            if request == LONG:
                self.begun.set()
                self.done.wait(300)
            self._device.send(bytes([request]))

    def ask(self, request: int) -> int:
        self.host.send(bytes([request]))
        return self.host.recv(1)[0]

    def end(self) -> None:
        self.turns.end()
        for thread in self._threads:
            thread.join(300)
        assert not any(thread.is_alive() for thread in self._threads)
        self.host.close()
        del self.turns  # with its descriptors
        self._device.close()


@pytest.fixture(name="two")
def _two() -> Iterator[Threads]:
    made = Threads()
    made.host.settimeout(10)
    yield made
    made.end()


def test_each_request_is_taken_once_in_its_order(two: Threads) -> None:
    for number in range(REQUESTS):
        if number % 100 == 0:
            time.sleep(0.001)  # longer than threads look for a request
        assert two.ask(number % LONG) == number % LONG
    assert two.taken == [n % LONG for n in range(REQUESTS)]


def test_requests_that_wait_together_are_taken_once(two: Threads) -> None:
    two.host.sendall(bytes(range(LONG)))
    answers = b""
    while len(answers) < LONG:
        answers += two.host.recv(LONG)
    assert sorted(two.taken) == sorted(answers) == list(range(LONG))


def test_a_thread_at_work_leaves_requests_to_the_other(two: Threads) -> None:
    for _ in range(50):
        assert two.ask(0) == 0  # so that a thread looks for requests and does not sleep
        two.host.send(bytes([LONG]))
        assert two.begun.wait(300)
        assert [two.ask(request) for request in (2, 3, 4)] == [2, 3, 4]
        two.begun.clear()
        two.done.set()
        assert two.host.recv(1) == bytes([LONG])
        two.done.clear()


def test_threads_sleep_soon_after_the_last_request(two: Threads) -> None:
    for number in range(100):
        two.ask(number)
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.1  # one that looked all the time would use it up


def test_vain_looks_become_rare(two: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []

    def clock() -> int:
        reads.append(0)
        return 1_000_000 * len(reads)  # a look is vain after its first glance

    monkeypatch.setattr("pyaclnn.mock.device.turns.time", SimpleNamespace(monotonic_ns=clock))
    for _ in range(100):
        two.ask(0)
        time.sleep(0.002)
    # One for each request, and one for each look.
    assert 100 < len(reads) < 150
