# SPDX-License-Identifier: Apache-2.0
"""Waiting in asyncio: the event loop goes on while a thread of its own waits for CANN."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from pyaclnn.runtime.handle import Resource

__all__ = ["awaited"]


async def awaited(resource: Resource, wait: Callable[[Callable[[], bool]], None]) -> None:
    """Wait in a thread, and let the event loop go on.

    The thread is there for this wait alone: a pool of them would be exhausted by streams that wait
    for each other. A wait that is cancelled ends its thread with the next slice of it.

    Args:
        resource: Resource that the thread waits for; kept until the thread has ended.
        wait: Waits, and looks now and then whether it was given up, by calling what it is given.

    Raises:
        AclError: What ``wait`` raises.
    """
    # Who awaits has it; all others would wait for it when they import this.
    from asyncio import get_running_loop  # noqa: PLC0415

    loop = get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def work() -> None:
        found: BaseException | None = None
        try:
            wait(done.done)
        except BaseException as error:  # noqa: BLE001  # it is raised by await
            found = error
        resource.unpin(done)
        # A loop that was closed meanwhile receives no result.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, found)

    resource.pin(done)
    threading.Thread(target=work, name="pyaclnn await").start()
    await done
