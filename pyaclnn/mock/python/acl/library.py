# SPDX-License-Identifier: Apache-2.0
"""Library behind the functions, and the two ways of calling it."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from pyaclnn.cann.simulator import libdir

__all__ = ["ask", "call", "library"]


@functools.cache
def library() -> ctypes.CDLL:
    """Return the simulated ``libascendcl.so``, opened once."""
    return ctypes.CDLL(str(libdir() / "libascendcl.so"))


def call(name: str, *arguments: Any) -> int:
    """Call a function that answers a status.

    Args:
        name: The C function.
        arguments: Its arguments; a Python integer is given as one of 64 bits.
    """
    wide = (ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments)
    return int(library()[name](*wide))


def ask(name: str, kind: Any, *arguments: Any, first: bool = False) -> tuple[int, int]:
    """Call a function that gives one value; the value, and the status.

    Args:
        name: The C function.
        kind: The ctypes type of the value.
        arguments: Its other arguments.
        first: Whether the place of the value is the first parameter, and not the last.
    """
    value = kind()
    place = ctypes.byref(value)
    status = call(name, *([place, *arguments] if first else [*arguments, place]))
    return value.value or 0, status
