# SPDX-License-Identifier: Apache-2.0
"""Device-side operators of a release of CANN, by C name."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.on_demand import OnDemand
from pyaclnn.mock.operators.described import operator_of

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from pyaclnn.mock.operators.operator import Operator

__all__ = ["operators_of"]


@functools.cache
def operators_of(release: str) -> MutableMapping[str, Operator[Any]]:
    """Return the described operators that a release has, by their C names; made on first use.

    Args:
        release: The release in short, e.g. ``8.1``.
    """
    known = catalogue()

    def is_there(name: str) -> bool:
        return name not in known or known[name].is_in(release)

    def find(name: str) -> Operator[Any] | None:
        described = by_c_name().get(name) if is_there(name) else None
        return None if described is None else operator_of(described.in_release(release))

    return OnDemand(find, lambda: filter(is_there, by_c_name()))
