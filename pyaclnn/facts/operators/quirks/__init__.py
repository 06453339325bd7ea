# SPDX-License-Identifier: Apache-2.0
"""Overrides of the generic checks, an operator a module, in CANN's own code: see `quirks_of`."""

from __future__ import annotations

import functools
from importlib import import_module
from importlib.util import find_spec

from pyaclnn.facts.operators.request import Quirks

__all__ = ["quirks_of"]


@functools.cache
def quirks_of(name: str) -> Quirks:
    """Return the quirks of an operator, by default none.

    Args:
        name: The operator's name in `pyaclnn.reference`.
    """
    place = f"{__name__}.{name}"
    if find_spec(place) is None:
        return Quirks()
    module = import_module(place)
    return Quirks(**{name: getattr(module, name) for name in module.__all__})
