# SPDX-License-Identifier: Apache-2.0
"""Table of the limits of a process that CANN needs, in limits.toml."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyaclnn.base.toml import read_toml

__all__ = ["Limit", "limits"]


@dataclass(frozen=True)
class Limit:
    """A limit of a process.

    Attributes:
        name: The limited resource.
        resource: Its name in Python's module ``resource``.
        flag: The flag of ``ulimit``.
        option: The name in ``docker run --ulimit``.
        needs: The lowest value with which operators run, in bytes or in pieces.
        wants: The lowest value that is enough for everything.
        advice: A value to set, as ``ulimit`` takes it.
    """

    name: str
    resource: str
    flag: str
    option: str
    needs: int
    wants: int
    advice: str


_TABLE: Final = Path(__file__).with_name("limits.toml")


@functools.cache
def limits() -> tuple[Limit, ...]:
    """Return the limits in the table's order."""
    return tuple(Limit(name, **row) for name, row in read_toml(_TABLE).items())
