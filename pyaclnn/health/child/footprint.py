# SPDX-License-Identifier: Apache-2.0
"""What a process holds of the machine, and how that grows with what it does."""

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
"""The share of the samples in which pools and caches fill, which is no growth."""


@dataclass(frozen=True)
class Footprint:
    """What the process holds at a moment.

    Attributes:
        launches: How many launches there were until then.
        resident: Bytes of memory (RSS).
        private: Those of them that are no other process's, nor a file's. The memory of a simulated
            device is shared.
        descriptors: Open files.
    """

    launches: int
    resident: int
    private: int
    descriptors: int


def footprint(launches: int) -> Footprint:
    """Look what this process holds now.

    Args:
        launches: How many launches there were until now.
    """
    told = Path("/proc/self/statm").read_text(encoding="ascii").split()
    resident, shared = (int(pages) * os.sysconf("SC_PAGE_SIZE") for pages in told[1:3])
    # The listing itself is open while it is made.
    files = len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208  # a name is all that is needed
    return Footprint(launches, resident, resident - shared, files)


def settled(samples: Sequence[Footprint]) -> Sequence[Footprint]:
    """Return the samples without those at the beginning, when pools and caches fill."""
    return samples[int(len(samples) * _SETTLES) :]


def growth(samples: Sequence[Footprint]) -> tuple[float, float]:
    """Return how much private memory and how many open files come with a million launches.

    Args:
        samples: What was held, in the order of time.

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
