# SPDX-License-Identifier: Apache-2.0
"""Ids of the checks of the operators."""

from __future__ import annotations

from typing import Final

from pyaclnn.facts.operators import all_operators

__all__ = ["OPERATOR_CHECKS", "SOAK"]

SOAK: Final = "NUM-302"
"""The check that only runs if a time for it is given."""

OPERATOR_CHECKS: Final = {f"NUM-{operator}": operator for operator in all_operators()}
"""The public function that each of these checks examines."""
