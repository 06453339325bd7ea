# SPDX-License-Identifier: Apache-2.0
"""The operators of the simulated NPU by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.mock.operators.described import operator_of
from pyaclnn.operators import all_operators

if TYPE_CHECKING:
    from pyaclnn.mock.operators.operator import Operator

__all__ = ["OPERATORS"]

OPERATORS: dict[str, Operator[Any]] = {
    description.c_name: operator_of(description) for description in all_operators().values()
}
