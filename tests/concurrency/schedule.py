# SPDX-License-Identifier: Apache-2.0
"""Threads and signals where they hurt: at every step of a piece of work, one step a time.

Nothing here depends on luck. A piece of work is run again and again; each time it is stopped at the
next line of the library, something else happens there, and it goes on.
"""

from __future__ import annotations

import itertools
import sys
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyaclnn

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = ["Interrupted", "Scenario", "every_interleaving", "every_interruption"]

LIBRARY = (str(Path(pyaclnn.__file__).parent), weakref.__file__)
"""The library, and what of Python's own has its objects finalized."""
BLOCKED = 0.05
"""Seconds after which what was to happen meanwhile is taken to wait for the work itself."""
DEADLOCK = 30.0


class Interrupted(Exception):  # noqa: N818  # it is no error of anybody's
    """Exception of the signal handler."""


class Scenario(Protocol):
    """Operation that is checked once for every point at which it can be interrupted."""

    def work(self) -> None:
        """Do what is stopped."""

    def meanwhile(self) -> None:
        """Do what happens at the stop, on another thread."""

    def check(self) -> None:
        """Look whether all is well."""


def _is_ours(frame: FrameType, only: tuple[str, ...]) -> bool:
    file = frame.f_code.co_filename
    return file.startswith(LIBRARY) and (not only or file.endswith(only))


class _Steps:
    """Counts the steps of the work on one thread, and stops at one of them."""

    def __init__(
        self, stop: int, at_stop: Callable[[], None], events: frozenset[str], only: tuple[str, ...]
    ) -> None:
        self._stop, self._at_stop, self._events, self._only = stop, at_stop, events, only
        self._count = 0
        self.reached = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if not _is_ours(frame, self._only):
            return None
        if event in self._events and not self.reached:
            self._count += 1
            if self._count > self._stop:
                self.reached = True
                self._at_stop()
        return self


def every_interleaving(
    make: Callable[[], Scenario], only: tuple[str, ...] = (), most: int = 2000
) -> int:
    """Run a scenario with the other thread at every line of the work, in turn.

    Args:
        make: Makes a new scenario.
        only: Ends of the files at whose lines the work is stopped; all of the library's if empty.
        most: The most lines to try.

    Returns:
        At how many lines the work was stopped.
    """
    for stop in itertools.islice(itertools.count(), most):
        scenario = make()
        paused, go_on = threading.Event(), threading.Event()
        failures: list[BaseException] = []

        def pause(paused: threading.Event = paused, go_on: threading.Event = go_on) -> None:
            paused.set()
            go_on.wait(DEADLOCK)

        steps = _Steps(stop, pause, frozenset({"line"}), only)

        def work(
            scenario: Scenario = scenario,
            steps: _Steps = steps,
            paused: threading.Event = paused,
            failures: list[BaseException] = failures,
        ) -> None:
            sys.settrace(steps)
            try:
                scenario.work()
            except BaseException as failure:  # noqa: BLE001  # handed to the main thread
                failures.append(failure)
            finally:
                sys.settrace(None)
                paused.set()

        def meanwhile(
            scenario: Scenario = scenario, failures: list[BaseException] = failures
        ) -> None:
            try:
                scenario.meanwhile()
            except BaseException as failure:  # noqa: BLE001  # as above
                failures.append(failure)

        worker = threading.Thread(target=work, daemon=True)
        other = threading.Thread(target=meanwhile, daemon=True)
        worker.start()
        assert paused.wait(DEADLOCK)
        other.start()
        other.join(BLOCKED)
        go_on.set()
        for thread in (worker, other):
            thread.join(DEADLOCK)
            assert not thread.is_alive(), f"a deadlock at step {stop}"
        assert not failures, f"at step {stop}: {failures!r}"
        scenario.check()
        if not steps.reached:
            return stop
    return most


def every_interruption(
    make: Callable[[], tuple[Callable[[], Any], Callable[[], None]]],
    only: tuple[str, ...] = (),
    stride: int = 1,
) -> int:
    """Interrupt a piece of work as a signal handler does, at every place in turn.

    Python runs signal handlers where a function begins and where a call has come back.

    Args:
        make: Makes the work and what looks afterwards whether all is well.
        only: Ends of the files in which the work is interrupted; all of the library's if empty.
        stride: At every how many places it is interrupted.

    Returns:
        The number of the last place; the work has at most that many.
    """
    for stop in itertools.count(0, stride):
        work, check = make()

        def interrupt() -> None:
            raise Interrupted

        steps = _Steps(stop, interrupt, frozenset({"call", "c_return"}), only)

        def profile(frame: FrameType, event: str, argument: Any, steps: _Steps = steps) -> None:
            steps(frame, event, argument)

        # The exception of a finalizer arrives here; keeping it would keep its objects alive.
        told, sys.unraisablehook = sys.unraisablehook, lambda _: None
        try:
            sys.setprofile(profile)
            try:
                work()
            finally:
                sys.setprofile(None)
        except Interrupted:
            pass
        finally:
            sys.unraisablehook = told
        check()
        if not steps.reached:
            return stop
    raise AssertionError("the work never ended")
