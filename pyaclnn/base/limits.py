# SPDX-License-Identifier: Apache-2.0
"""Memory limits of the process (rlimits), for error messages."""

from __future__ import annotations

import os
import resource
from typing import Final

from pyaclnn.base.errors import text_of, type_name

__all__ = ["limits_on_memory", "memory_error_message"]

_LIMITS: Final = (
    # Column of /proc/self/statm; the limit; what it counts, and the shell's word for it.
    (0, resource.RLIMIT_AS, "address space (ulimit -v)"),
    (5, resource.RLIMIT_DATA, "data (ulimit -d)"),
)
_RESERVE: Final = [bytes(4 << 20)]
"""Memory that is released before a message is formatted, which needs some. It is address space
only, never written, and larger than what the allocators of Python and C request at once: a MiB
each, the one of C where its heap cannot grow."""
_ENTANGLED: Final = (ImportError, SystemError)
"""Exceptions of the loader and of extension modules when memory is exhausted."""
_NO_THREAD: Final = ("can't start new thread", "unable to start watchdog thread")


def limits_on_memory(least_use: float = 0.0) -> str:
    """Describe the memory limits of this process, and its use of them.

    Args:
        least_use: The fraction of a limit that must be in use for it to be listed, from 0 to 1.

    Returns:
        For example "no more than 60000 KiB of data (ulimit -d), of which 41000 are used"; empty
        without a limit.
    """
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123  # see chips
            pages = file.read().split()
    except OSError:  # without /proc
        pages = [b"0"] * 7
    page = os.sysconf("SC_PAGE_SIZE")
    found = []
    for column, which, what in _LIMITS:
        limit, used = resource.getrlimit(which)[0], int(pages[column]) * page
        if limit != resource.RLIM_INFINITY and used >= least_use * limit:
            found.append(
                f"no more than {limit >> 10} KiB of {what}, of which {used >> 10} are used"
            )
    return " and ".join(found)


def memory_error_message(error: BaseException) -> str | None:
    """Describe an error that exhausted memory has caused.

    Args:
        error: The exception.

    Returns:
        One line that names the limits; None if memory was not the cause.
    """
    _RESERVE.clear()
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        following = following.__cause__ or following.__context__
    if any(isinstance(link, MemoryError) for link in chain):
        limits = limits_on_memory()
    elif isinstance(error, _ENTANGLED) or text_of(error) in _NO_THREAD:
        # These have other causes as well; memory is assumed where it is short.
        limits = limits_on_memory(least_use=0.5)
        if not limits:
            return None
    else:
        return None
    lines = text_of(error).strip().splitlines()
    what = f"{type_name(error)}: {lines[-1]}" if lines else type_name(error)
    allowed = f": this process may have {limits}; raise the limit" if limits else ""
    return f"memory ran out ({what}){allowed}"
