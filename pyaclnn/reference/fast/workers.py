# SPDX-License-Identifier: Apache-2.0
"""Threads that share the work of one call; NumPy releases the interpreter lock in its loops.

How work is cut into pieces never depends on how many threads there are, and results come back in
the order of the pieces: the same input gives the same bits on every machine of a kind.
"""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import ThreadPoolExecutor

__all__ = ["plain_arithmetic", "spread", "threads"]

# Scratch memory grows with every thread, and the interpreter lock has only so much to give.
MOST_THREADS = 8

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def threads() -> int:
    """Return how many threads share a call's work."""
    return min(len(os.sched_getaffinity(0)), MOST_THREADS)


@functools.lru_cache(maxsize=2)
def pool(process: int, threads: int) -> ThreadPoolExecutor:
    """The threads of one process; a forked child has none of its parent's and so gets its own."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # few calls have pieces

    return ThreadPoolExecutor(threads, thread_name_prefix=f"pyaclnn-reference-{process}")


@contextmanager
def plain_arithmetic(buffer: int) -> Iterator[None]:
    """Let infinities and NaNs pass silently, and have NumPy iterate with buffers of a given size.

    Both settings belong to a thread, so every thread enters this for itself.

    Args:
        buffer: The number of elements of a buffer.
    """
    with np.errstate(all="ignore"):
        before = np.setbufsize(buffer)
        try:
            yield
        finally:
            np.setbufsize(before)


def spread(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
    """Do the same work on every piece, on all processors that this process may use.

    Args:
        work: The function for a piece; called from several threads at once, in `plain_arithmetic`
            with the buffers of the calling thread.
        pieces: The pieces. A single one is done by the calling thread, as it is.

    Returns:
        The results, in the order of the pieces.
    """
    count = threads() if len(pieces) > 1 else 1
    if count == 1:
        return [work(piece) for piece in pieces]
    buffer = np.getbufsize()
    results: list[Any] = [None] * len(pieces)
    left = iter(enumerate(pieces))  # one step of it holds the interpreter lock

    def share() -> None:
        with plain_arithmetic(buffer):
            for place, piece in left:
                results[place] = work(piece)

    # The calling thread works too, for waking another takes as long as a small piece.
    others = [pool(os.getpid(), count).submit(share) for _ in range(count - 1)]
    try:
        share()
    finally:
        begun = [other for other in others if not other.cancel()]
        for other in begun:
            other.exception()  # waits for it
    for other in begun:
        other.result()
    return results
