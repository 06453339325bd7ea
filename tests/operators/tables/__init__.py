# SPDX-License-Identifier: Apache-2.0
"""One module an operator, each with `TABLES`; whatever stands in this folder is tested."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.operators.table import Table

__all__ = ["TABLES"]

TABLES: tuple[Table, ...] = tuple(
    table
    for module in pkgutil.iter_modules(__path__)
    for table in importlib.import_module(f"{__name__}.{module.name}").TABLES
)
