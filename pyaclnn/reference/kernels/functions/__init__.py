# SPDX-License-Identifier: Apache-2.0
"""Functions that the rows of `numpy.txt` call beside NumPy's own, one area per file."""

from __future__ import annotations

import functools
import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["functions"]


@functools.cache
def functions() -> Mapping[str, Callable[..., Any]]:
    """Return the functions of all areas, by their names."""
    found: dict[str, Callable[..., Any]] = {}
    for module in pkgutil.iter_modules(__path__):
        area = import_module(f"{__name__}.{module.name}")
        found |= {name: getattr(area, name) for name in area.__all__}
    return found
