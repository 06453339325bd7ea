# SPDX-License-Identifier: Apache-2.0
"""Table of the files of an installation, in installation.toml."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyaclnn.base.toml import fill, read_toml

__all__ = ["Files", "files"]


@dataclass(frozen=True)
class Files:
    """Files of one form.

    Attributes:
        path: The pattern of their paths.
        below: The folder that the pattern begins in: ``root`` or ``operators``.
        package: The package that has them.
        form: The form, as the table describes it.
    """

    path: str
    below: str
    package: str
    form: str


_TABLE: Final = Path(__file__).with_name("installation.toml")


@functools.cache
def files() -> tuple[Files, ...]:
    """Return the rows of the table."""
    texts = {"arch": platform.machine()}
    return tuple(Files(**fill(row, texts)) for row in read_toml(_TABLE)["file"])
