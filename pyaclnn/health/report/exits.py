# SPDX-License-Identifier: Apache-2.0
"""Exit statuses of the doctor."""

from __future__ import annotations

from typing import Final

__all__ = ["BROKEN", "INCONCLUSIVE", "INTERRUPTED", "NOTHING_HERE", "PASSED", "SIGNALLED"]

PASSED: Final = 0
"""Everything that could be checked passed."""
BROKEN: Final = 1
"""Something failed, hung or crashed."""
INCONCLUSIVE: Final = 3
"""The doctor came to no conclusion, or the report could not be written."""
NOTHING_HERE: Final = 4
"""There is no CANN, or no device."""
INTERRUPTED: Final = 130
"""Somebody pressed Ctrl-C."""
SIGNALLED: Final = 128
"""A signal ended it, whose number is added to this."""
