# SPDX-License-Identifier: Apache-2.0
"""Table of the drivers that documents name for each CANN, in drivers.toml."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyaclnn.base.toml import read_rows

__all__ = ["Drivers", "drivers"]


@dataclass(frozen=True)
class Drivers:
    """Drivers of a CANN.

    Attributes:
        name: The CANN from which on they count, up to the next one in the table.
        oldest: The oldest driver with which it works.
        documented: Those that documents name.
    """

    name: str
    oldest: str
    documented: str


_TABLE: Final = Path(__file__).with_name("drivers.toml")


@functools.cache
def drivers() -> tuple[Drivers, ...]:
    """Return the rows, the newest CANN first."""
    return read_rows(_TABLE, Drivers)
