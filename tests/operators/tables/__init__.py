# SPDX-License-Identifier: Apache-2.0
"""Tables of operators, one module each. Every `Table` that a module here holds is tested."""

from __future__ import annotations

import importlib
import pkgutil

from tests.operators.table import Table

__all__ = ["TABLES"]

_HELD = {
    id(table): table  # a table that another module imports counts once
    for module in pkgutil.iter_modules(__path__)
    for table in vars(importlib.import_module(f"{__name__}.{module.name}")).values()
    if isinstance(table, Table)
}
TABLES: tuple[Table, ...] = tuple(_HELD.values())
