# SPDX-License-Identifier: Apache-2.0
"""The operators of the simulated NPU by name, those of a release of CANN."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pyaclnn.mock.operators.described import operator_of
from pyaclnn.operators import all_operators
from pyaclnn.operators.catalogue import catalogue

if TYPE_CHECKING:
    from pyaclnn.mock.operators.operator import Operator

__all__ = ["operators_of"]


@functools.cache
def operators_of(release: str) -> dict[str, Operator[Any]]:
    """Return the operators that a release has and that have descriptions, by their C names.

    Args:
        release: The release in short, e.g. ``8.1``.
    """
    return {
        description.c_name: operator_of(description.in_release(release))
        for description in all_operators().values()
        if description.c_name not in catalogue() or catalogue()[description.c_name].is_in(release)
    }
