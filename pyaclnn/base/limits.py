# SPDX-License-Identifier: Apache-2.0
"""The limits on a process's memory, for errors that say why something could not be had."""

from __future__ import annotations

import os
import resource
from typing import Final

__all__ = ["limits_on_memory", "shortage"]

_LIMITS: Final = (
    # Column of /proc/self/statm; the limit; what it counts, and the shell's word for it.
    (0, resource.RLIMIT_AS, "address space (ulimit -v)"),
    (5, resource.RLIMIT_DATA, "data (ulimit -d)"),
)
_RESERVE: Final = [bytes(2 << 20)]
"""Given back before an error is worded: without it the words would need what has run out. It is
address space only, never written, and more than Python's allocator takes at a time."""
_ENTANGLED: Final = (ImportError, SystemError)
"""What the loader and extension modules make of memory that is not there."""
_NO_THREAD: Final = ("can't start new thread", "unable to start watchdog thread")


def limits_on_memory(least_use: float = 0.0) -> str:
    """Tell how much memory this process may have at most, and has.

    Args:
        least_use: The part of a limit that must be used for it to be told, from 0 to 1.

    Returns:
        As "no more than 60000 KiB of data (ulimit -d), of which 41000 are used"; empty if nothing
        limits it.
    """
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  # see chips
            pages = file.read().split()
    except OSError:  # without /proc
        pages = [b"0"] * 7
    page = os.sysconf("SC_PAGE_SIZE")
    told = []
    for column, which, what in _LIMITS:
        limit, used = resource.getrlimit(which)[0], int(pages[column]) * page
        if limit != resource.RLIM_INFINITY and used >= least_use * limit:
            told.append(f"no more than {limit >> 10} KiB of {what}, of which {used >> 10} are used")
    return " and ".join(told)


def shortage(error: BaseException) -> str | None:
    """Word an error that comes of too little memory.

    Args:
        error: What was raised.

    Returns:
        One line that names the limits; None if memory was not what was missing.
    """
    _RESERVE.clear()
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        following = following.__cause__ or following.__context__
    if any(isinstance(link, MemoryError) for link in chain):
        limits = limits_on_memory()
    elif isinstance(error, _ENTANGLED) or str(error) in _NO_THREAD:
        # These have other reasons as well: memory is one where it is short.
        limits = limits_on_memory(least_use=0.5)
        if not limits:
            return None
    else:
        return None
    lines = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__
    allowed = f": this process may have {limits}; raise the limit" if limits else ""
    return f"memory ran out ({what}){allowed}"
