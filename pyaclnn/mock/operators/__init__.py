# SPDX-License-Identifier: Apache-2.0
"""The operators of the simulated NPU by name, those of a release of CANN."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.on_demand import MadeOnDemand
from pyaclnn.mock.operators.described import operator_of

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from pyaclnn.mock.operators.operator import Operator

__all__ = ["operators_of"]


@functools.cache
def operators_of(release: str) -> MutableMapping[str, Operator[Any]]:
    """Return the operators that a release has and that have descriptions, by their C names.

    Each is made when it is first asked for.

    Args:
        release: The release in short, e.g. ``8.1``.
    """
    known = catalogue()
    names = (name for name in by_c_name() if name not in known or known[name].is_in(release))
    return MadeOnDemand(names, lambda name: operator_of(by_c_name()[name].in_release(release)))
