# SPDX-License-Identifier: Apache-2.0
"""A finalizer waits for no lock: what it has to do is done where nothing else is under way."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from pyaclnn.cann import raw
from pyaclnn.runtime.finalizer_queue import FINALIZER_QUEUE
from pyaclnn.runtime.handle import Handle, Resource
from pyaclnn.runtime.memory import Memory
from pyaclnn.runtime.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable

CONTEXT, STREAM = raw.pointer_to(16), raw.pointer_to(32)


class Thing(Handle):
    _kind = "thing"
    _expects_close = False


def while_another_thread_keeps_the_books(work: Callable[[], None]) -> None:
    has, may_end = threading.Event(), threading.Event()

    def keep() -> None:
        with FINALIZER_QUEUE.lock:
            has.set()
            may_end.wait(300)

    keeper, worker = threading.Thread(target=keep), threading.Thread(target=work, daemon=True)
    keeper.start()
    has.wait(300)
    worker.start()
    worker.join(0.2)
    may_end.set()
    keeper.join()
    worker.join(300)
    assert not worker.is_alive()


def test_a_handle_lost_amid_book_keeping_is_released_after_it() -> None:
    released: list[object] = []
    thing = Thing(Resource("thing", "a", released.append))
    with FINALIZER_QUEUE.lock:
        del thing  # as a garbage collection does
        assert released == []
    FINALIZER_QUEUE.settle()
    assert released == ["a"]


def test_a_release_may_lose_further_handles() -> None:
    released: list[object] = []
    inner = [Thing(Resource("thing", "inner", released.append))]

    def release(pointer: object) -> None:
        inner.clear()
        released.append(pointer)

    Thing(Resource("thing", "outer", release)).close()
    assert released == ["outer", "inner"]


def test_two_threads_that_release_and_note_progress_do_not_wait_for_each_other() -> None:
    released: list[object] = []

    def release_much() -> None:
        timeline = Timeline(CONTEXT, STREAM)
        memory = Memory("memory", raw.pointer_to(64), 8, released.append)
        memory.let_go()
        timeline.passed(timeline.sync_point)
        timeline.retire()

    while_another_thread_keeps_the_books(release_much)
    assert len(released) == 1


def test_an_interrupted_release_is_taken_up_again() -> None:
    tries: list[object] = []

    def release(pointer: object) -> None:
        tries.append(pointer)
        if len(tries) == 1:
            raise KeyboardInterrupt

    thing = Thing(Resource("thing", "a", release))
    with contextlib.suppress(KeyboardInterrupt):
        thing.close()
    assert len(tries) == 1
    FINALIZER_QUEUE.settle()
    assert len(tries) == 2
    FINALIZER_QUEUE.settle()
    assert len(tries) == 2
