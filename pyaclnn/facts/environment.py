# SPDX-License-Identifier: Apache-2.0
"""Table of the variables of CANN and its neighbours, in environment.toml."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyaclnn.base.toml import read_rows

__all__ = ["Row", "rows"]


@dataclass(frozen=True)
class Row:
    """A variable.

    Attributes:
        name: Its name.
        kind: The kind of its value, as the table describes it.
        needed_by: The part that needs it, in a short sentence.
        vital: Whether operators fail if a path is a wrong one.
        holds: Paths of which a folder must have one.
        pattern: The pattern of an accepted number.
        words: The accepted values in words.
    """

    name: str
    kind: str
    needed_by: str
    vital: bool = False
    holds: tuple[str, ...] = ()
    pattern: str = ""
    words: str = ""


_TABLE: Final = Path(__file__).with_name("environment.toml")


@functools.cache
def rows() -> tuple[Row, ...]:
    """Return the variables in the table's order."""
    return read_rows(_TABLE, Row, arch=platform.machine())
