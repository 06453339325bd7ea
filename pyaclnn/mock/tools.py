# SPDX-License-Identifier: Apache-2.0
"""The simulated libraries of this process, asked and told by the tools."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["loaded", "read_text"]

_MARKER = "pyaclnn_mock_marker"
_known: dict[str, ctypes.CDLL] = {}


def loaded() -> list[ctypes.CDLL]:
    """Every simulated ``libascendcl`` of this process, whoever loaded it.

    Returns:
        Usually one library; none before the first use of the simulated NPU.
    """
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    paths = sorted(set(re.findall(r" (/\S.*/libascendcl\.so\S*)$", maps, re.MULTILINE)))
    return [library for library in map(_library, paths) if library is not None]


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
