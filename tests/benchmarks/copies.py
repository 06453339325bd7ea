# SPDX-License-Identifier: Apache-2.0
"""Copies between host and simulated device against plain ``memcpy`` of the C library."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

import pyaclnn

from .measure import Comparison, take_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["compare"]

SIZES = [4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20]
_LARGE = 16 << 20
_TARGET = 1 / 0.9
"""From 16 MiB on, nine tenths of memcpy's bandwidth."""


def compare(turns: int) -> Iterator[Comparison]:
    """Time both directions; 1.11 times memcpy's time is 0.9 of its bandwidth."""
    pyaclnn.select_backend("mock")
    memcpy = ctypes.CDLL(None).memcpy
    memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    with pyaclnn.Device(0) as device:
        for size in SIZES:
            source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
            array = pyaclnn.to_device(source, device)
            addresses = target.ctypes.data, source.ctypes.data
            timings = take_turns(
                {
                    "memcpy": lambda: memcpy(*addresses, size),  # noqa: B023  # run at once
                    "to device": lambda: array.copy_from(source),  # noqa: B023
                    "to host": lambda: array.copy_to(target),  # noqa: B023
                },
                turns,
            )
            goal = _TARGET if size >= _LARGE else None
            for way in ("to device", "to host"):
                case = f"{size >> 10} KiB"
                yield Comparison(case, way, timings[way], "memcpy", timings["memcpy"], goal)
            array.close()
