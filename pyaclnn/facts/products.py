# SPDX-License-Identifier: Apache-2.0
"""Table of the products beside CANN, in products.toml."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyaclnn.base.toml import read_rows

__all__ = ["Product", "products"]


@dataclass(frozen=True)
class Product:
    """A product that uses CANN.

    Attributes:
        name: Its name.
        variable: The variable that names its folder.
        folders: Its usual folders below that of Ascend's software.
        libraries: The pattern of its libraries below its folder.
        package: Its installation package.
    """

    name: str
    variable: str
    folders: tuple[str, ...]
    libraries: str
    package: str


_TABLE: Final = Path(__file__).with_name("products.toml")


@functools.cache
def products() -> tuple[Product, ...]:
    """Return the products in the table's order."""
    return read_rows(_TABLE, Product)
