# SPDX-License-Identifier: Apache-2.0
"""Table of the folders that CANN writes to, in places.toml."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyaclnn.base.toml import read_rows

__all__ = ["Place", "places"]


@dataclass(frozen=True)
class Place:
    """A folder that is written to.

    Attributes:
        name: Its purpose.
        variables: The variables that name it; the first that is set counts.
        default: The folder if none is set; ``~`` is the user's home.
        needed_by: The loss if nothing can be written there, in a short sentence.
    """

    name: str
    variables: tuple[str, ...]
    default: str
    needed_by: str


_TABLE: Final = Path(__file__).with_name("places.toml")


@functools.cache
def places() -> tuple[Place, ...]:
    """Return the folders in the table's order."""
    return read_rows(_TABLE, Place)
