# SPDX-License-Identifier: Apache-2.0
"""Functions that the rows of `numpy.txt` call beside NumPy's own, one area per file.

Each name without an underscore that an area defines is one of them.
"""

from __future__ import annotations

import functools
import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyaclnn.reference.arithmetic.definition import chosen
from pyaclnn.reference.kernels.promotion import indices_within, promoted, some, wide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["functions"]


@functools.cache
def functions() -> Mapping[str, Callable[..., Any]]:
    """Return the functions of all areas, by their names."""
    found: dict[str, Callable[..., Any]] = {
        function.__name__: function for function in (chosen, indices_within, promoted, some, wide)
    }
    for module in pkgutil.iter_modules(__path__):
        area = import_module(f"{__name__}.{module.name}")
        for name, value in vars(area).items():
            own = getattr(value, "__module__", "") == area.__name__
            if own and callable(value) and not name.startswith("_"):
                found[name] = value
    return found
