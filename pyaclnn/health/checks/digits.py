# SPDX-License-Identifier: Apache-2.0
"""Integers in files and variables of a machine, where a text may have any number of digits."""

from __future__ import annotations

from typing import Final

__all__ = ["whole_number"]

_MOST_DIGITS: Final = 18
"""Digits of the largest number; Python itself refuses some thousands."""


def whole_number(digits: str) -> int:
    """Return the number that some digits are, or the largest one if it is smaller.

    Args:
        digits: Decimal digits, at least one.
    """
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= _MOST_DIGITS else 10**_MOST_DIGITS - 1
