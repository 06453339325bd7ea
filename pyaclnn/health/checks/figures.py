# SPDX-License-Identifier: Apache-2.0
"""Groups and ids of the checks that measure figures."""

from __future__ import annotations

from typing import Final

__all__ = ["BESIDE_OTHERS", "COMPARED", "EXPECTED", "IN_TURN", "TOGETHER"]

IN_TURN: Final = "figures"
"""The group of checks that run on one device after the other."""
TOGETHER: Final = "together"
"""The group of checks that all devices begin at the same moment."""
COMPARED: Final = "compared"
"""The group of checks that compare the figures that the others measured."""
BESIDE_OTHERS: Final = "FIG-201"
"""The check that compares the figures of the devices."""
EXPECTED: Final = "FIG-202"
"""The check that compares figures with the expected ones."""
