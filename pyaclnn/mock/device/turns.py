# SPDX-License-Identifier: Apache-2.0
"""Turns of the threads that wait for the requests on one socket.

A request wakes one of the threads that sleep. To sleep and be woken takes longer than most kernels
run: while no thread is at work, one of them looks for the next request repeatedly for a short time.
After each vain look, twice as many waits sleep at once: on one processor or a busy machine, and for
a host that has other work, most looks are vain.
"""

from __future__ import annotations

import select
import threading
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Turns"]

_T = TypeVar("_T")

_WHILE = 150_000
"""Nanoseconds in which a thread looks for a request before it sleeps."""

_MOST_SKIPPED = 255
"""Largest number of waits that sleep at once after a vain look."""


class Turns:
    """Threads that wait for the requests on a socket; one of them reads at a time.

    Args:
        descriptor: The socket's file descriptor.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._sleep = select.epoll()
        self._sleep.register(descriptor, select.EPOLLIN | select.EPOLLONESHOT)
        self._look = select.epoll()
        self._look.register(descriptor, select.EPOLLIN)
        self._reading = threading.Lock()
        self._at_work: set[int] = set()
        self._answered = 0
        self._skipped = self._to_skip = 0
        self._is_looking = self._has_ended = False

    def next(self, read: Callable[[], _T]) -> _T | None:
        """Wait for a request, and read it.

        Args:
            read: Reads one request from the socket.

        Returns:
            What `read` returns; None after `end`.
        """
        self._answered = time.monotonic_ns()
        self._at_work.discard(threading.get_ident())
        while not self._has_ended:
            self._wait()
            with self._reading:
                if not self._look.poll(0):
                    continue  # another thread has read it
                self._at_work.add(threading.get_ident())
                request = read()
                self._wake_by(select.EPOLLIN | select.EPOLLONESHOT)
                return request
        return None

    def end(self) -> None:
        """Have all threads return from `next`."""
        self._has_ended = True
        self._wake_by(select.EPOLLOUT)

    def _wait(self) -> None:
        if not self._at_work and not self._is_looking and self._may_look():
            self._is_looking = True
            self._wake_by(0)
            until = self._answered + _WHILE
            while not (found := self._look.poll(0)) and time.monotonic_ns() < until:
                pass
            self._is_looking = False
            self._to_skip = 0 if found else min(2 * self._to_skip + 1, _MOST_SKIPPED)
            if found:
                return
            self._wake_by(select.EPOLLIN | select.EPOLLONESHOT)
        self._sleep.poll()

    def _may_look(self) -> bool:
        self._skipped = self._skipped + 1 if self._skipped < self._to_skip else 0
        return self._skipped == 0

    def _wake_by(self, events: int) -> None:
        """Choose what wakes a thread that sleeps: once, if it is a request."""
        self._sleep.modify(self._descriptor, events)
        if self._has_ended:  # before, or in another thread meanwhile
            self._sleep.modify(self._descriptor, select.EPOLLOUT)
