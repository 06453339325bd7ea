# SPDX-License-Identifier: Apache-2.0
"""Access of the tools to the simulated libraries of this process."""

from __future__ import annotations

import ctypes
import functools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["lines_of", "loaded", "read_text"]

_MARKER = "pyaclnn_mock_marker"
_process = ctypes.CDLL(None)
_known: dict[str, ctypes.CDLL] = {}


class _SharedObject(ctypes.Structure):
    """The ``dl_phdr_info`` of the C library."""

    _fields_ = (
        ("dlpi_addr", ctypes.c_void_p),
        ("dlpi_name", ctypes.c_char_p),
        ("dlpi_phdr", ctypes.c_void_p),
        ("dlpi_phnum", ctypes.c_uint16),
        ("dlpi_adds", ctypes.c_ulonglong),
        ("dlpi_subs", ctypes.c_ulonglong),
    )


_Visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_SharedObject), ctypes.c_size_t)


def loaded() -> list[ctypes.CDLL]:
    """Find the simulated ``libascendcl`` of this process, whatever loaded it.

    Returns:
        One library, for several copies are all of one simulated NPU; none before its first use.
    """
    return _loaded_after(*_loads_and_unloads())


def _loads_and_unloads() -> tuple[int, int]:
    """Return how many libraries this process has ever loaded, and unloaded; cheap."""
    counts = []

    def visit(shared_object: Any, _size: int) -> int:
        counts.append((shared_object[0].dlpi_adds, shared_object[0].dlpi_subs))
        return 1  # the first one has the numbers of all

    _process.dl_iterate_phdr(_Visit(visit), None)
    return counts[0]


@functools.lru_cache(maxsize=1)
def _loaded_after(_loads: int, _unloads: int) -> list[ctypes.CDLL]:
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    paths = sorted(set(re.findall(r" (/\S.*/libascendcl\.so\S*)$", maps, re.MULTILINE)))
    return [library for library in map(_library, paths) if library is not None][:1]


def _library(path: str) -> ctypes.CDLL | None:
    library = _known.get(path)
    if library is None:
        try:
            # Not loaded again: RTLD_NOLOAD gives what is there, or fails.
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            return None
        if not hasattr(library, _MARKER):
            return None
        _known[path] = library
    return library


def read_text(function: Callable[[object, int], int]) -> str:
    """Read a text from a function that fills a buffer and gives the length of the whole text."""
    capacity = 1 << 14
    while True:
        buffer = ctypes.create_string_buffer(capacity)
        length = function(buffer, capacity)
        if length < capacity:
            return buffer.value.decode("utf-8", errors="replace")
        capacity = length + 4096


def lines_of(function: str) -> list[str]:
    """Read the lines that a function of the loaded library writes, as `read_text` does."""
    lines: list[str] = []
    for library in loaded():
        call = getattr(library, function)
        call.restype = ctypes.c_size_t
        call.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        lines += read_text(call).splitlines()
    return lines
