# SPDX-License-Identifier: Apache-2.0
"""Table of the limits of a process and of its control group, in limits.toml."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyaclnn.base.toml import read_rows

__all__ = ["Limit", "limits"]


@dataclass(frozen=True)
class Limit:
    """A limit.

    Attributes:
        name: The limited resource.
        needs: The lowest value with which operators run, in bytes or in pieces.
        wants: The lowest value that is enough for everything.
        advice: The way to raise it.
        resource: Its name in Python's module ``resource``, of a limit of the process.
        files: Its files below the folder of the control group, of either version.
    """

    name: str
    needs: int
    wants: int
    advice: str
    resource: str = ""
    files: tuple[str, ...] = ()


_TABLE: Final = Path(__file__).with_name("limits.toml")


@functools.cache
def limits() -> tuple[Limit, ...]:
    """Return the limits in the table's order."""
    return read_rows(_TABLE, Limit)
