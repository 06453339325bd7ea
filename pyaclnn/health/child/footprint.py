# SPDX-License-Identifier: Apache-2.0
"""Footprint of a process: memory and open files, and their growth with launches."""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Footprint", "footprint", "growth", "settled"]

_MILLION: Final = 1e6
_SETTLES: Final = 0.25
"""The share of the samples that is ignored, because pools and caches fill."""


@dataclass(frozen=True)
class Footprint:
    """Resources that the process holds at a moment.

    Attributes:
        launches: The number of launches until then.
        resident: Bytes of memory (RSS).
        private: Bytes of it that belong to no other process or file. The memory of a simulated
            device is shared.
        descriptors: The number of open files.
    """

    launches: int
    resident: int
    private: int
    descriptors: int


def footprint(launches: int) -> Footprint:
    """Return the footprint of this process.

    Args:
        launches: The number of launches until now.
    """
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
    resident, shared = (int(count) * os.sysconf("SC_PAGE_SIZE") for count in pages[1:3])
    # The listing itself is open while it is made.
    files = len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208  # a name is all that is needed
    return Footprint(launches, resident, resident - shared, files)


def settled(samples: Sequence[Footprint]) -> Sequence[Footprint]:
    """Return the samples without the first ones, while which pools and caches fill."""
    return samples[int(len(samples) * _SETTLES) :]


def growth(samples: Sequence[Footprint]) -> tuple[float, float]:
    """Return the growth of private memory and of open files for each million launches.

    Args:
        samples: Footprints in the order of time.

    Returns:
        The slopes of the straight lines through the samples, by least squares; 0 if there was only
        one number of launches.
    """
    launches = [sample.launches for sample in samples]
    if len(set(launches)) < 2:  # noqa: PLR2004  # no line
        return 0.0, 0.0
    private = statistics.linear_regression(launches, [s.private for s in samples])
    files = statistics.linear_regression(launches, [s.descriptors for s in samples])
    return private.slope * _MILLION, files.slope * _MILLION
