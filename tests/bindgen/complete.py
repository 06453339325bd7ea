# SPDX-License-Identifier: Apache-2.0
"""The headers as the build completes them from the table of the C interface."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.bindgen.catalogued import write_declared
from pyaclnn.bindgen.reader import read
from pyaclnn.facts.interface import interface

if TYPE_CHECKING:
    from pyaclnn.bindgen.declarations import Declarations

__all__ = ["STUBS", "declarations"]

STUBS = Path(__file__).parents[2] / "include_stubs"
"""The headers that are written by hand."""


@functools.cache
def declarations() -> Declarations:
    """Read the complete headers, once."""
    with tempfile.TemporaryDirectory() as folder:
        complete = Path(folder) / "complete"
        write_declared(STUBS, interface(), complete)
        return read(complete, {row.name: row.header for row in interface()})
